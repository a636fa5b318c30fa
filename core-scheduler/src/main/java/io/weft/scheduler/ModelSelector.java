// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.graph.Timeline;
import io.weft.spi.PerformanceModel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * Estimates every candidate on the platform's performance model and takes the fastest: kinds x chunks x streams x engine x cover. Serial is a candidate, so the choice is never predicted slower than serial, and
 * serial it is when the gain is below {@link #NOISE}. Equal estimates go to the simpler schedule. Answers are kept by problem.
 */
public final class ModelSelector implements Selector {
    /** Gains below this are not worth a more complicated schedule: the same large GEMM varies by about a percent from run to run on real devices. */
    static final double NOISE = 0.01;

    private final PerformanceModel model;
    private final PerformanceModel.Issue issue;
    private final boolean copyEngines;
    private final int units;
    private final ConcurrentHashMap<OverlapProblem, Selection> known = new ConcurrentHashMap<>();

    /**
     * Uses the model of a platform, with device graphs where it has them.
     *
     * @throws AcceleratorException UNSUPPORTED when the platform has no performance model
     */
    public ModelSelector(Platform platform) {
        this(
                platform.extension(PerformanceModel.class)
                        .orElseThrow(() -> AcceleratorException.unsupported(
                                "select", Capability.PERFORMANCE_MODEL, platform.toString())),
                issue(platform),
                copyEngines(platform),
                platform.device(0).properties().computeUnits());
    }

    /**
     * Uses any model.
     *
     * @param issue how commands reach the devices
     * @param copyEngines whether devices have engines that copy beside compute
     */
    public ModelSelector(PerformanceModel model, PerformanceModel.Issue issue, boolean copyEngines) {
        this(model, issue, copyEngines, 0);
    }

    private ModelSelector(PerformanceModel model, PerformanceModel.Issue issue, boolean copyEngines, int units) {
        this.units = units;
        this.model = model;
        this.issue = issue;
        this.copyEngines = copyEngines;
    }

    /** How graphs reach the devices of a platform. */
    static PerformanceModel.Issue issue(Platform platform) {
        return platform.has(Capability.DEVICE_GRAPHS)
                ? PerformanceModel.Issue.DEVICE_GRAPH
                : PerformanceModel.Issue.STREAMS;
    }

    static boolean copyEngines(Platform platform) {
        for (Device device : platform.devices()) {
            if (device.properties().copyEngines() == 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String name() {
        return "model";
    }

    @Override
    public Selection select(OverlapProblem problem) {
        Selection selection = known.get(problem);
        if (selection == null) {
            // Not computeIfAbsent: a choice takes milliseconds, during which the map must serve others.
            selection = choose(problem);
            known.putIfAbsent(problem, selection);
        }
        return selection;
    }

    private Selection choose(OverlapProblem problem) {
        Baseline baseline = Baseline.of(problem, model, issue);
        double ownShare = baseline.gemmNanos() / problem.ranks();
        List<Schedule> schedules =
                new CandidateSpace(problem, copyEngines, units, baseline.commNanos() / ownShare).schedules();
        double[] nanos = new double[schedules.size()];
        // Estimates do not depend on one another, so running them side by side changes no figure.
        IntStream.range(0, nanos.length)
                .parallel()
                .forEach(i -> nanos[i] =
                        i == 0 ? baseline.serialNanos() : nanosIfItFits(Lowering.lower(problem, schedules.get(i))));
        List<Selection.Candidate> candidates = new ArrayList<>(nanos.length);
        for (int i = 0; i < nanos.length; i++) {
            if (nanos[i] == Double.POSITIVE_INFINITY) {
                continue;
            }
            candidates.add(
                    new Selection.Candidate(schedules.get(i), nanos[i] / 1e3, baseline.serialNanos() / nanos[i]));
        }
        // Stable: of equal ones the simpler, which comes first, stays first.
        candidates.sort(Comparator.comparingDouble(Selection.Candidate::us));
        Selection.Candidate best = candidates.getFirst();
        if (best.speedup() < 1 + NOISE) {
            Schedule serial = Schedule.serial();
            best = candidates.stream()
                    .filter(c -> c.schedule().equals(serial))
                    .findFirst()
                    .orElseThrow();
        }
        Schedule.Kind kind = best.schedule().kind();
        Optional<Selection.Candidate> next =
                candidates.stream().filter(c -> c.schedule().kind() != kind).findFirst();
        OverlapMetrics metrics = metrics(problem, best.schedule(), baseline);
        return new Selection(
                problem,
                best.schedule(),
                next.map(Selection.Candidate::schedule),
                reason(problem, best, candidates.getFirst(), next, metrics, baseline),
                candidates,
                Optional.of(metrics));
    }

    /** The full figures of one schedule of a problem. */
    public OverlapMetrics metrics(OverlapProblem problem, Schedule schedule) {
        return metrics(problem, schedule, Baseline.of(problem, model, issue));
    }

    private OverlapMetrics metrics(OverlapProblem problem, Schedule schedule, Baseline baseline) {
        LoweredSchedule lowered = Lowering.lower(problem, schedule);
        return OverlapMetrics.of(lowered, estimate(lowered), model, baseline);
    }

    /** Infinite for a schedule whose staging blocks do not fit beside the operands, which serial may do all the same. */
    private double nanosIfItFits(LoweredSchedule lowered) {
        try {
            return estimate(lowered).makespanNanos();
        } catch (AcceleratorException refusal) {
            if (refusal.code() == ErrorCode.OUT_OF_MEMORY) {
                return Double.POSITIVE_INFINITY;
            }
            throw refusal;
        }
    }

    private Timeline estimate(LoweredSchedule lowered) {
        return model.estimate(lowered.graph(), issue, PerformanceModel.Detail.SUMMARY);
    }

    private String reason(
            OverlapProblem problem,
            Selection.Candidate best,
            Selection.Candidate fastest,
            Optional<Selection.Candidate> next,
            OverlapMetrics metrics,
            Baseline baseline) {
        if (problem.ranks() == 1) {
            return "one rank has nothing to communicate";
        }
        if (best.schedule().equals(Schedule.serial())) {
            Optional<Selection.Candidate> other = fastest.equals(best) ? next : Optional.of(fastest);
            return String.format(
                    Locale.ROOT,
                    "the best of the others, %s, gains %.1f %% over serial, below the noise of %.0f %%: communication"
                            + " takes %.1f us beside %.1f us of GEMM",
                    describe(other),
                    100 * (other.map(Selection.Candidate::speedup).orElse(1.0) - 1),
                    100 * NOISE,
                    metrics.commUs(),
                    metrics.gemmUs());
        }
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "%.2fx of serial, %.0f %% of the ideal %.2fx: leaves %.1f %% of its time without compute and pays %.1f %% for pieces and %.1f %% for contention in the GEMM",
                best.speedup(),
                100 * metrics.shareOfIdeal(),
                metrics.idealSpeedup(),
                100 * metrics.exposedCommShare(),
                100 * metrics.dilGemm(),
                100 * metrics.cilGemm()));
        next.ifPresent(other -> {
            OverlapMetrics theirs = metrics(problem, other.schedule(), baseline);
            text.append(String.format(
                    Locale.ROOT,
                    "; next is %s with %.2fx (%.1f %%, %.1f %% and %.1f %%)",
                    other.schedule(),
                    other.speedup(),
                    100 * theirs.exposedCommShare(),
                    100 * theirs.dilGemm(),
                    100 * theirs.cilGemm()));
        });
        return text.toString();
    }

    private static String describe(Optional<Selection.Candidate> candidate) {
        return candidate.map(c -> c.schedule().toString()).orElse("none");
    }
}
