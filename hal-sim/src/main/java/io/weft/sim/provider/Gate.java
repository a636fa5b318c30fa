// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The sends and receives that one group puts on one stream. They run at once, as one kernel: each as soon as its other side is there as well; the stream goes on
 * when all are over.
 */
final class Gate extends Work {
    private final List<CollectiveCall> calls = new ArrayList<>(2);
    private int open;
    private boolean opened;

    Gate(SimStream stream, Work... after) {
        super(stream, after);
    }

    /** Holds one more side of a transfer. */
    void hold(CollectiveCall call) {
        calls.add(call);
        open++;
    }

    /** For people: the transfers that are not over. */
    String names() {
        return calls.stream()
                .filter(call -> !call.isOver())
                .map(CollectiveCall::name)
                .collect(Collectors.joining(" and "));
    }

    @Override
    void onStart() {
        for (CollectiveCall call : List.copyOf(calls)) {
            call.communicator().arrived(call, this);
        }
        openWhenFree();
    }

    /** A side of a transfer is over. */
    void release() {
        open--;
        openWhenFree();
    }

    private void openWhenFree() {
        if (open == 0 && isStarted() && !opened) {
            opened = true;
            stream().device().platform().time().finish(this);
        }
    }
}
