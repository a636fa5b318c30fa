// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.ElementType;

/** Element types by their names in rccl-tests. */
final class BenchTypes {
    private BenchTypes() {}

    /** The name that rccl-tests prints. */
    static String label(ElementType type) {
        return switch (type) {
            case FP32 -> "float";
            case FP16 -> "half";
            case BF16 -> "bfloat16";
            case FP8_E4M3, FP8_E4M3_FNUZ -> "fp8_e4m3";
            case FP8_E5M2, FP8_E5M2_FNUZ -> "fp8_e5m2";
            case INT8, INT32 -> type.label();
        };
    }

    /**
     * Steps of the last place by which a reduction over n ranks may be off: {@code 1 + floor(coefficient * n^power)} as in rccl-tests, 0 for whole numbers and
     * where nothing is rounded.
     */
    static long tolerance(ElementType type, BenchReduction reduction, int ranks) {
        if (!type.isFloating() || reduction == BenchReduction.MIN || reduction == BenchReduction.MAX) {
            return 0;
        }
        double coefficient = type == ElementType.FP32 ? 1.25 : type == ElementType.FP16 ? 0.75 : 0.66;
        double power = type == ElementType.FP32 ? 0.51 : 0.91;
        return 1 + (long) Math.floor(coefficient * Math.pow(ranks, power));
    }
}
