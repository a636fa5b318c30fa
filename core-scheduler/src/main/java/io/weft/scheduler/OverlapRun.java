// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.graph.Timeline;
import java.util.List;
import java.util.Optional;

/**
 * One overlapped operation that was issued. Later work on the streams that it was issued on comes after it; work elsewhere waits for {@link #done(int)}, and the host for {@link #synchronize()}.
 *
 * <p>Its events belong to the plan: a later run of the same problem moves them forward.
 */
public final class OverlapRun {
    private final LoweredSchedule lowered;
    private final Selection selection;
    private final GraphRunner runner;
    private final List<Event> done;
    private final long number;
    private final OverlapPlan plan;

    OverlapRun(OverlapPlan plan, Selection selection, GraphRunner runner, List<Event> done, long number) {
        this.plan = plan;
        this.lowered = plan.lowered();
        this.selection = selection;
        this.runner = runner;
        this.done = done;
        this.number = number;
    }

    /** What was computed. */
    public OverlapProblem problem() {
        return lowered.problem();
    }

    /** How. */
    public Schedule schedule() {
        return lowered.schedule();
    }

    /** The commands. */
    public LoweredSchedule lowered() {
        return lowered;
    }

    /** Why this schedule; empty when the caller chose it. */
    public Optional<Selection> selection() {
        return Optional.ofNullable(selection);
    }

    /** Complete when nothing touches that rank's buffers any more. */
    public Event done(int rank) {
        return done.get(rank);
    }

    /** Waits until all ranks are done. Throws the first failure. */
    public void synchronize() {
        done.forEach(Event::synchronize);
    }

    /**
     * When each command ran; waits for the end.
     *
     * @throws AcceleratorException INVALID_STATE when the plan has run again since; UNSUPPORTED when the backend cannot tell
     */
    public Timeline timeline() {
        synchronize();
        if (plan.runs() != number) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE, "timeline", "the same problem has run again since; ask after each run");
        }
        return runner.timeline()
                .orElseThrow(
                        () -> new AcceleratorException(
                                ErrorCode.UNSUPPORTED,
                                "timeline",
                                "this platform has neither device graphs that tell nor time stamps, or timing was not asked for"));
    }
}
