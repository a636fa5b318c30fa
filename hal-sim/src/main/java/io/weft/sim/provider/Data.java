// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.graph.Command;
import io.weft.sim.execute.Effect;
import io.weft.sim.execute.Effects;
import java.util.List;

/**
 * What commands do to memory, in both modes: without storage there is nothing to compute, but a command on memory that is not there fails all the same. Confined
 * to the platform's lock.
 */
final class Data {
    private final boolean storage;
    private final Effects effects;

    Data(boolean storage, Effects effects) {
        this.storage = storage;
        this.effects = effects;
    }

    /**
     * A command starts and reads its operands.
     *
     * @return what to complete; null without storage
     * @throws io.weft.api.AcceleratorException when an operand is not there
     */
    Effect begin(Command command) {
        require(command);
        return storage ? effects.begin(command) : null;
    }

    /** A collective starts on all its ranks; the parts by rank, or sender and receiver. */
    Effect begin(List<Command.Collective> parts) {
        parts.forEach(Data::require);
        return storage ? effects.begin(parts) : null;
    }

    /**
     * A command is complete, and its result visible.
     *
     * @throws io.weft.api.AcceleratorException when an operand is gone; nothing is written then
     */
    void complete(Command command, Effect effect) {
        try {
            require(command);
        } catch (RuntimeException refused) {
            cancel(effect);
            throw refused;
        }
        if (effect != null) {
            effects.complete(effect);
        }
    }

    /** A collective is complete on all its ranks. */
    void complete(List<Command.Collective> parts, Effect effect) {
        try {
            parts.forEach(Data::require);
        } catch (RuntimeException refused) {
            cancel(effect);
            throw refused;
        }
        if (effect != null) {
            effects.complete(effect);
        }
    }

    /** A command has failed; nothing of its result is to be seen. */
    void cancel(Effect effect) {
        if (effect != null) {
            effects.cancel(effect);
        }
    }

    private static void require(Command command) {
        switch (command) {
            case Command.Copy copy -> {
                require(copy.source());
                require(copy.destination());
            }
            case Command.Collective part -> {
                require(part.send());
                require(part.receive());
            }
            default -> {
                command.reads().forEach(Data::require);
                command.writes().forEach(Data::require);
            }
        }
    }

    private static void require(BufferView view) {
        if (view != null && !view.isEmpty()) {
            Buffer buffer = (Buffer) view.memory();
            ((SimMemory) buffer.memory()).requireUsable(buffer.base() + view.offset(), view.end() - view.offset());
        }
    }
}
