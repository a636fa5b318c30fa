// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.AcceleratorException;
import io.weft.api.ReduceOp;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Reductions by their names in rccl-tests. */
public enum BenchReduction {
    SUM,
    PROD,
    MAX,
    MIN,
    AVG,
    /** A sum in which each rank's numbers are multiplied by a factor of its own first. */
    MULSUM;

    /** Its name. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What a rank passes. */
    ReduceOp of(int rank) {
        return switch (this) {
            case SUM -> ReduceOp.SUM;
            case PROD -> ReduceOp.PROD;
            case MAX -> ReduceOp.MAX;
            case MIN -> ReduceOp.MIN;
            case AVG -> ReduceOp.AVG;
            case MULSUM -> ReduceOp.scaledSum(factor(rank));
        };
    }

    /** A small whole number, which every type holds, and not the same on all ranks. */
    static int factor(int rank) {
        return 1 + rank % 3;
    }

    /**
     * The reduction with a name.
     *
     * @throws AcceleratorException INVALID_ARGUMENT with the names
     */
    public static BenchReduction parse(String text) {
        for (BenchReduction each : values()) {
            if (each.label().equals(text.strip().toLowerCase(Locale.ROOT))) {
                return each;
            }
        }
        throw AcceleratorException.invalid(
                "reduction",
                "'" + text + "' is not a reduction; accepted are "
                        + Arrays.stream(values()).map(BenchReduction::label).collect(Collectors.joining(", ")));
    }
}
