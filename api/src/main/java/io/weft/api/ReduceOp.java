// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import java.util.Objects;

/**
 * An elementwise reduction.
 *
 * <p>Floating types accumulate in fp32 in the order of the inputs and round once. {@link Kind#AVG} on floating types multiplies each input
 * by {@code 1/n} rounded to that type and then sums, as the collective libraries do; on integers it is the sum divided by n, toward zero. {@link
 * Kind#SCALED_SUM} multiplies each input by {@link #scale()} rounded to the type before the sum (a pre-multiplied sum).
 *
 * @param kind which
 * @param scale factor of {@link Kind#SCALED_SUM}, 1 otherwise
 */
public record ReduceOp(Kind kind, float scale) {
    /** The kinds of reduction. */
    public enum Kind {
        SUM,
        PROD,
        MIN,
        MAX,
        AVG,
        SCALED_SUM
    }

    public static final ReduceOp SUM = new ReduceOp(Kind.SUM, 1);
    public static final ReduceOp PROD = new ReduceOp(Kind.PROD, 1);
    public static final ReduceOp MIN = new ReduceOp(Kind.MIN, 1);
    public static final ReduceOp MAX = new ReduceOp(Kind.MAX, 1);
    public static final ReduceOp AVG = new ReduceOp(Kind.AVG, 1);

    public ReduceOp {
        Objects.requireNonNull(kind);
    }

    /** A sum in which every input of this rank is first multiplied by a factor. */
    public static ReduceOp scaledSum(float scale) {
        return new ReduceOp(Kind.SCALED_SUM, scale);
    }
}
