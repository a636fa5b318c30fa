// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;

/** Factors that a command's result cannot honour, refused in one place for every backend. */
public final class CommandFactors {
    private CommandFactors() {}

    /**
     * Factors of integer results must be whole numbers.
     *
     * @throws AcceleratorException INVALID_ARGUMENT naming the factor
     */
    public static void check(Command command) {
        switch (command) {
            case Command.Gemm gemm -> {
                if (gemm.c().type() == ElementType.INT32) {
                    requireWhole("gemm", "alpha", gemm.alpha(), gemm.c().type());
                    requireWhole("gemm", "beta", gemm.beta(), gemm.c().type());
                }
            }
            case Command.Reduce reduce ->
                requireWhole("reduce", reduce.op(), reduce.inputs().getFirst().type());
            case Command.Collective part -> {
                if (part.kind().reduces()) {
                    requireWhole("collective", part.op(), part.type());
                }
            }
            default -> {
                // No factors.
            }
        }
    }

    private static void requireWhole(String operation, ReduceOp op, ElementType type) {
        if (op.kind() == ReduceOp.Kind.SCALED_SUM && !type.isFloating()) {
            requireWhole(operation, "the factor", op.scale(), type);
        }
    }

    private static void requireWhole(String operation, String name, float factor, ElementType type) {
        if (factor != (int) factor) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_ARGUMENT,
                    operation,
                    name + " is " + factor + "; it must be a whole number when the result is " + type);
        }
    }
}
