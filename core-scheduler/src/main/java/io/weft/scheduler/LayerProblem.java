// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import java.util.Objects;

/**
 * A problem of a layer and how often it occurs.
 *
 * @param name part of the layer, such as {@code qkv}, {@code attention-output}, {@code gate-up}, {@code down}, {@code expert-dispatch}
 * @param problem what is to be overlapped
 * @param perLayer times in one layer that has it
 * @param layers layers that have it
 * @param note how its sizes came about, one sentence; empty when they are plain
 */
public record LayerProblem(String name, OverlapProblem problem, int perLayer, int layers, String note) {
    public LayerProblem {
        Objects.requireNonNull(name);
        Objects.requireNonNull(problem);
        Objects.requireNonNull(note);
    }

    /** Times in one pass through the model. */
    public int total() {
        return Math.multiplyExact(perLayer, layers);
    }
}
