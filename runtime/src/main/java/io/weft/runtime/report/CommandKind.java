// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.graph.Command;
import java.util.Locale;

/** The word for a command in traces and plots. */
enum CommandKind {
    COPY,
    FILL,
    GEMM,
    REDUCE,
    COLLECTIVE;

    static CommandKind of(Command command) {
        return switch (command) {
            case Command.Copy copy -> COPY;
            case Command.CopyStrided copy -> COPY;
            case Command.Fill fill -> FILL;
            case Command.Gemm gemm -> GEMM;
            case Command.Reduce reduce -> REDUCE;
            case Command.Collective collective -> COLLECTIVE;
        };
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
