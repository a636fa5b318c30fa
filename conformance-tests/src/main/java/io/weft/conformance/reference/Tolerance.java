// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.reference;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;

/**
 * How far a reduction over ranks may lie from the exact one, in units in the last place of its type: {@code 1 + floor(coefficient * ranks^power)}, the rule of the
 * collective libraries' own tests (rccl-tests, {@code verifiable.cu}: 1.25 and 0.51 for fp32, 0.75 and 0.91 for fp16, 0.66 and 0.91 for bf16 and the 8-bit floats).
 * Integers, minimum and maximum are exact.
 */
public final class Tolerance {
    private Tolerance() {}

    /** Units in the last place allowed for one reduction. */
    public static int ulps(ReduceOp.Kind op, ElementType type, int ranks) {
        if (!type.isFloating() || op == ReduceOp.Kind.MIN || op == ReduceOp.Kind.MAX) {
            return 0;
        }
        return switch (type) {
            case FP32 -> of(1.25, 0.51, ranks);
            case FP16 -> of(0.75, 0.91, ranks);
            default -> of(0.66, 0.91, ranks);
        };
    }

    private static int of(double coefficient, double power, int ranks) {
        return 1 + (int) Math.floor(coefficient * Math.pow(ranks, power));
    }
}
