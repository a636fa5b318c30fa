// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import java.util.Objects;

/**
 * How a model is spread over devices and what runs through it.
 *
 * @param tokens tokens of one pass over all devices of a group: M
 * @param tensorParallel devices over which each weight is split, 1 for none
 * @param expertParallel devices over which the experts are dealt out, 1 for none
 * @param sequenceParallel whether tokens are split over the tensor-parallel devices between GEMMs, so that collectives are all-gather and reduce-scatter instead of all-reduce
 * @param elementType type of activations and weights
 * @param expertSkew load of the most loaded expert device over the mean, minus 1; see {@link OverlapProblem#skew()}
 */
public record Deployment(
        long tokens,
        int tensorParallel,
        int expertParallel,
        boolean sequenceParallel,
        ElementType elementType,
        double expertSkew) {
    public Deployment {
        Objects.requireNonNull(elementType, "elementType");
        if (tokens < 1) {
            throw AcceleratorException.invalid("deployment", "tokens must be at least 1, not " + tokens);
        }
        if (tensorParallel < 1 || expertParallel < 1) {
            throw AcceleratorException.invalid(
                    "deployment",
                    "tensor parallel " + tensorParallel + " and expert parallel " + expertParallel
                            + " must be at least 1");
        }
        if (!(expertSkew >= 0) || Double.isInfinite(expertSkew)) {
            throw AcceleratorException.invalid("deployment", "skew " + expertSkew + " must be a number of at least 0");
        }
    }

    /** Tensor and sequence parallel, no expert parallel, even load. */
    public static Deployment tensorParallel(long tokens, int degree, ElementType elementType) {
        return new Deployment(tokens, degree, 1, true, elementType, 0);
    }
}
