// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

/** A rank's part of a collective in its stream. */
final class CollectiveWork extends Work {
    private final CollectiveCall call;

    CollectiveWork(SimStream stream, CollectiveCall call, Work... after) {
        super(stream, after);
        this.call = call;
    }

    CollectiveCall call() {
        return call;
    }

    @Override
    void onStart() {
        call.communicator().arrived(call, this);
    }

    @Override
    void onComplete() {
        // All parts are over at one instant; the first to say so makes the result visible to all.
        call.communicator().completed(call);
    }
}
