// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.spi.DeviceDriver;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;

/** What mutants need again and again. */
final class Refusal {
    private Refusal() {}

    static AcceleratorException of(ErrorCode code, String why) {
        return new AcceleratorException(code, "mutant", why);
    }

    static int ordinal(DeviceDriver device) {
        return device.properties().ordinal();
    }

    static int ordinal(StreamDriver stream) {
        return ordinal(stream.device());
    }

    static int ordinal(EventDriver event) {
        return ordinal(event.device());
    }

    /** Whether a command is a fill with this byte. */
    static boolean isFill(Command command, int bits) {
        return command instanceof Command.Fill fill && fill.bits() == bits;
    }

    /** Does something whatever it throws, or says that it does not know. */
    static void quietly(Runnable work) {
        try {
            work.run();
        } catch (AcceleratorException swallowed) {
            // That is what this mutant does wrong.
        }
    }
}
