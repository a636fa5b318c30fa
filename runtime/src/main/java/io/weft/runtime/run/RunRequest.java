// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.run;

import io.weft.scheduler.OverlapProblem;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * What is to be run.
 *
 * @param problem the problem; rank i runs on device i
 * @param schedules a schedule's name, with parameters if wished ({@code hetero-fused-1d/chunks=8}), {@code all} for one of every kind, or
 *     {@code auto} for the one that the selector chooses
 * @param chunks chunks of a shard for every schedule that has them, in place of its own
 * @param verify whether every number is checked
 * @param seed of the random operands
 * @param select what chooses when the schedule is {@code auto}: {@code auto}, {@code heuristic}, {@code model} or {@code measured}
 */
public record RunRequest(
        OverlapProblem problem, String schedules, OptionalInt chunks, boolean verify, long seed, String select) {
    public RunRequest {
        Objects.requireNonNull(problem);
        Objects.requireNonNull(schedules);
        Objects.requireNonNull(chunks);
        Objects.requireNonNull(select);
    }

    /** The same with the platform's usual selector. */
    public RunRequest(OverlapProblem problem, String schedules, OptionalInt chunks, boolean verify, long seed) {
        this(problem, schedules, chunks, verify, seed, "auto");
    }
}
