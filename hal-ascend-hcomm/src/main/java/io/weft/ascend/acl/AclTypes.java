// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.util.OptionalInt;

/**
 * The vendor's numbers of element types and reductions. There are three numberings of types that look alike, and two of reductions: what a runtime call takes is wrong for a collective and the other way round, without an
 * error. Empty where the vendor has no number.
 */
public final class AclTypes {
    private AclTypes() {}

    /** {@code aclDataType}: tensors and the runtime's reductions. */
    public static OptionalInt tensor(ElementType type) {
        return switch (type) {
            case FP32 -> OptionalInt.of(0);
            case FP16 -> OptionalInt.of(1);
            case INT8 -> OptionalInt.of(2);
            case INT32 -> OptionalInt.of(3);
            case BF16 -> OptionalInt.of(27);
            case FP8_E5M2 -> OptionalInt.of(35);
            case FP8_E4M3 -> OptionalInt.of(36);
            case FP8_E4M3_FNUZ, FP8_E5M2_FNUZ -> OptionalInt.empty();
        };
    }

    /** {@code HcclDataType}: collectives. */
    public static OptionalInt collective(ElementType type) {
        return switch (type) {
            case INT8 -> OptionalInt.of(0);
            case INT32 -> OptionalInt.of(2);
            case FP16 -> OptionalInt.of(3);
            case FP32 -> OptionalInt.of(4);
            case BF16 -> OptionalInt.of(11);
            case FP8_E4M3 -> OptionalInt.of(15);
            case FP8_E5M2 -> OptionalInt.of(16);
            case FP8_E4M3_FNUZ, FP8_E5M2_FNUZ -> OptionalInt.empty();
        };
    }

    /** {@code HcclDataType} of a type that is only moved: by width, so every type has one and every bit stays. */
    public static int moved(ElementType type) {
        return switch (type.bytes()) {
            case 1 -> 7; // UINT8
            case 2 -> 8; // UINT16
            default -> 9; // UINT32
        };
    }

    /** {@code HcclReduceOp}: collectives. */
    public static OptionalInt collectiveReduction(ReduceOp.Kind kind) {
        return switch (kind) {
            case SUM -> OptionalInt.of(0);
            case PROD -> OptionalInt.of(1);
            case MAX -> OptionalInt.of(2);
            case MIN -> OptionalInt.of(3);
            case AVG, SCALED_SUM -> OptionalInt.empty();
        };
    }

    /** {@code aclrtReduceKind}: the runtime's reductions of two operands. */
    public static OptionalInt runtimeReduction(ReduceOp.Kind kind) {
        return switch (kind) {
            case SUM -> OptionalInt.of(10);
            case MAX -> OptionalInt.of(11);
            case MIN -> OptionalInt.of(12);
            case PROD, AVG, SCALED_SUM -> OptionalInt.empty();
        };
    }
}
