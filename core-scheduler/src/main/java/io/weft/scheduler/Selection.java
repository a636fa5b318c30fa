// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The outcome of a choice. Immutable.
 *
 * @param problem what was to be overlapped
 * @param choice the schedule
 * @param runnerUp the next best of another kind, where there is one
 * @param reason one sentence that says what decided, with numbers
 * @param candidates everything that was weighed, fastest first; serial is always among them
 * @param metrics the choice's predicted figures; empty where the platform has no performance model
 */
public record Selection(
        OverlapProblem problem,
        Schedule choice,
        Optional<Schedule> runnerUp,
        String reason,
        List<Candidate> candidates,
        Optional<OverlapMetrics> metrics) {
    /**
     * A schedule that was weighed.
     *
     * @param schedule which
     * @param us predicted time, microseconds
     * @param speedup predicted time of the serial schedule over it
     */
    public record Candidate(Schedule schedule, double us, double speedup) {}

    public Selection {
        Objects.requireNonNull(problem);
        Objects.requireNonNull(choice);
        Objects.requireNonNull(runnerUp);
        Objects.requireNonNull(reason);
        Objects.requireNonNull(metrics);
        candidates = List.copyOf(candidates);
    }
}
