// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.BufferView;
import io.weft.api.graph.Command;
import io.weft.api.graph.Slot;

/** Tells copies between devices from copies within one. */
final class Traffic {
    private Traffic() {}

    /** Whether the command moves data from one device to another. */
    static boolean isTransfer(Command command) {
        return switch (command) {
            case Command.Copy copy -> device(copy.source()) != device(copy.destination());
            case Command.CopyStrided copy -> device(copy.source()) != device(copy.destination());
            case Command.Collective ignored -> true;
            default -> false;
        };
    }

    /** Device index of the memory behind a view of a graph. */
    static int device(BufferView view) {
        return ((Slot) view.memory()).device();
    }
}
