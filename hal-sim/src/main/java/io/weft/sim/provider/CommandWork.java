// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.graph.Command;
import io.weft.sim.execute.Effect;

/** A command on a stream. */
final class CommandWork extends Work {
    private final Command command;
    private Effect effect;

    CommandWork(SimStream stream, Command command, Work... after) {
        super(stream, after);
        this.command = command;
    }

    @Override
    void onStart() {
        AcceleratorException fault = stream().device().faults().onStart();
        if (fault != null) {
            fail(fault);
        }
        if (failure() == null) {
            try {
                effect = stream().device().platform().data().begin(command);
            } catch (AcceleratorException refused) {
                fail(refused);
            }
        }
    }

    @Override
    void onComplete() {
        Data data = stream().device().platform().data();
        if (failure() != null || stream().device().faults().lost() != null) {
            data.cancel(effect);
            return;
        }
        try {
            data.complete(command, effect);
        } catch (AcceleratorException refused) {
            fail(refused);
        }
    }
}
