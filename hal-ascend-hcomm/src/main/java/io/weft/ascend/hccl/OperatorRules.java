// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;

/**
 * Which of the neutral collectives the library has, and which a backend must put together from those that it has. Moving needs only the width of an element, so every type can be moved.
 */
final class OperatorRules {
    private final HcclFamily family;

    OperatorRules(HcclFamily family) {
        this.family = family;
    }

    /** Why an operator must be composed; empty when the library has it. */
    String whyComposed(CollectiveKind kind, ReduceOp op, ElementType type) {
        if (kind == CollectiveKind.GATHER) {
            return "HCCL has no gather; it is made of sends and receives";
        }
        if (!kind.reduces()) {
            return "";
        }
        if (op.kind() == ReduceOp.Kind.AVG || op.kind() == ReduceOp.Kind.SCALED_SUM) {
            return "HCCL has no " + op.kind() + "; elements are multiplied first, then summed";
        }
        if (type.isFp8()) {
            return "HCCL does not reduce " + type + "; blocks are gathered, then reduced on the device";
        }
        if (type == ElementType.BF16 && !family.bf16()) {
            return family.label() + " has no bf16 in collectives; blocks are gathered, then reduced on the device";
        }
        if (type == ElementType.BF16 && op.kind() == ReduceOp.Kind.PROD) {
            return "HCCL has no PROD of bf16; blocks are gathered, then reduced on the device";
        }
        return "";
    }

    /** Whether a part must be composed. */
    boolean isComposed(Command.Collective part) {
        if (part.kind().pointToPoint() && part.root() == part.rank()) {
            return true; // A local copy.
        }
        return part.type() != null
                && !whyComposed(part.kind(), part.op(), part.type()).isEmpty();
    }

    /** Refuses a part that would have to be composed. */
    void requireNative(Command.Collective part) {
        String why = part.type() == null ? "" : whyComposed(part.kind(), part.op(), part.type());
        if (!why.isEmpty()) {
            throw HcclFailure.NOT_SUPPORTED.of(new AcceleratorException(
                    ErrorCode.UNSUPPORTED, "collective", why, "open the platform with operators=composed", null, null));
        }
    }
}
