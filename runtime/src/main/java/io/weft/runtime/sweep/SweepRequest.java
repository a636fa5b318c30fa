// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.sweep;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import java.util.ArrayList;
import java.util.List;

/**
 * A design space: every combination of what the lists hold, in the order of the lists, the last one running fastest. Repeats count once.
 *
 * @param platforms URIs
 * @param models names or files
 * @param tokens of one pass
 * @param tensorParallel degrees
 * @param expertParallel degrees
 * @param elementTypes of activations and weights
 * @param sequenceParallel as in a plan
 * @param select how each point chooses, as in a plan
 */
public record SweepRequest(
        List<String> platforms,
        List<String> models,
        List<Long> tokens,
        List<Integer> tensorParallel,
        List<Integer> expertParallel,
        List<ElementType> elementTypes,
        boolean sequenceParallel,
        String select) {
    /** More than any file of results that somebody reads. */
    private static final long MOST_POINTS = 1_000_000;

    /**
     * One combination.
     *
     * @param index its place in the order
     */
    public record Point(
            int index,
            String platform,
            String model,
            long tokens,
            int tensorParallel,
            int expertParallel,
            ElementType elementType) {
        @Override
        public String toString() {
            return model + " on " + platform + ", " + tokens + " tokens, tensor parallel " + tensorParallel
                    + (expertParallel > 1 ? ", expert parallel " + expertParallel : "") + ", " + elementType;
        }
    }

    public SweepRequest {
        platforms = platforms.stream().distinct().toList();
        models = models.stream().distinct().toList();
        tokens = tokens.stream().distinct().toList();
        tensorParallel = tensorParallel.stream().distinct().toList();
        expertParallel = expertParallel.stream().distinct().toList();
        elementTypes = elementTypes.stream().distinct().toList();
        long points = 1;
        for (int size : new int[] {
            platforms.size(),
            models.size(),
            tokens.size(),
            tensorParallel.size(),
            expertParallel.size(),
            elementTypes.size()
        }) {
            points *= size;
            if (points == 0 || points > MOST_POINTS) {
                throw AcceleratorException.invalid(
                        "sweep",
                        points == 0
                                ? "the space is empty; at least one platform, model, token count and degree is needed"
                                : "the space has more than " + MOST_POINTS + " points; accepted are that many");
            }
        }
    }

    /** Every combination, in order. */
    public List<Point> points() {
        List<Point> points = new ArrayList<>();
        for (String platform : platforms) {
            for (String model : models) {
                for (long count : tokens) {
                    for (int tp : tensorParallel) {
                        for (int ep : expertParallel) {
                            for (ElementType type : elementTypes) {
                                points.add(new Point(points.size(), platform, model, count, tp, ep, type));
                            }
                        }
                    }
                }
            }
        }
        return points;
    }
}
