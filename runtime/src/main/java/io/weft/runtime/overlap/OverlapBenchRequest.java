// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.overlap;

import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Schedule;
import java.util.List;
import java.util.Objects;

/**
 * What is to be timed.
 *
 * @param cases the problems with a name for people, which may be empty; rank i runs on device i
 * @param schedules the schedules; empty for typical ones of every kind. The serial one and the selector's choice are always among them
 * @param select how the choice is made: {@code auto}, {@code heuristic}, {@code model} or {@code measured}
 * @param warmUp rounds before anything counts
 * @param rounds counted rounds, 1 or more
 * @param check whether results are checked
 * @param seed of the random operands
 */
public record OverlapBenchRequest(
        List<Case> cases, List<Schedule> schedules, String select, int warmUp, int rounds, boolean check, long seed) {
    /**
     * One problem.
     *
     * @param problem what is computed
     * @param name for people; may be empty
     */
    public record Case(OverlapProblem problem, String name) {
        public Case {
            Objects.requireNonNull(problem);
            Objects.requireNonNull(name);
        }
    }

    public OverlapBenchRequest {
        cases = List.copyOf(cases);
        schedules = List.copyOf(schedules);
        Objects.requireNonNull(select);
    }
}
