// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.kernels;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;

/** Element types and reductions as the kernels' source numbers them. */
final class KernelNumbers {
    private KernelNumbers() {}

    static int of(ElementType type) {
        return switch (type) {
            case FP32 -> 0;
            case FP16 -> 1;
            case BF16 -> 2;
            case FP8_E4M3 -> 3;
            case FP8_E5M2 -> 4;
            case FP8_E4M3_FNUZ -> 5;
            case FP8_E5M2_FNUZ -> 6;
            case INT8 -> 7;
            case INT32 -> 8;
        };
    }

    static int of(ReduceOp op) {
        return switch (op.kind()) {
            case SUM -> 0;
            case PROD -> 1;
            case MIN -> 2;
            case MAX -> 3;
            case AVG -> 4;
            case SCALED_SUM -> 5;
        };
    }
}
