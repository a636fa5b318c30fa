// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;

/** Element types and reductions as the vendor's libraries and our kernels number them. */
final class Types {
    private Types() {}

    /** {@code cudaDataType_t}, library_types.h; -1 for what it lacks. */
    static int cuda(ElementType type) {
        return switch (type) {
            case FP32 -> 0;
            case FP16 -> 2;
            case INT8 -> 3;
            case INT32 -> 10;
            case BF16 -> 14;
            case FP8_E4M3 -> 28;
            case FP8_E5M2 -> 29;
            case FP8_E4M3_FNUZ, FP8_E5M2_FNUZ -> -1;
        };
    }

    /** {@code ncclDataType_t}, nccl.h; -1 for what it lacks. */
    static int nccl(ElementType type) {
        return switch (type) {
            case INT8 -> 0;
            case INT32 -> 2;
            case FP16 -> 6;
            case FP32 -> 7;
            case BF16 -> 9;
            case FP8_E4M3 -> 10;
            case FP8_E5M2 -> 11;
            case FP8_E4M3_FNUZ, FP8_E5M2_FNUZ -> -1;
        };
    }

    /** {@code ncclUint8}: bytes that are only moved. */
    static final int NCCL_BYTES = 1;

    /** {@code ncclRedOp_t}, nccl.h; a scaled sum has a number of its own for each communicator. */
    static int nccl(ReduceOp op) {
        return switch (op.kind()) {
            case SUM, SCALED_SUM -> 0;
            case PROD -> 1;
            case MAX -> 2;
            case MIN -> 3;
            case AVG -> 4;
        };
    }

    /** The code in weft_kernels.cu. */
    static int kernel(ElementType type) {
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

    /** The code in weft_kernels.cu. */
    static int kernel(ReduceOp op) {
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
