// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.plan;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.Platform;
import io.weft.api.graph.Timeline;
import io.weft.runtime.plan.PlanReport.Candidate;
import io.weft.runtime.plan.PlanReport.ProblemReport;
import io.weft.runtime.plan.PlanReport.Times;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.scheduler.Deployment;
import io.weft.scheduler.HeuristicSelector;
import io.weft.scheduler.LayerProblem;
import io.weft.scheduler.LayerProblems;
import io.weft.scheduler.Lowering;
import io.weft.scheduler.ModelSelector;
import io.weft.scheduler.OverlapMetrics;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Schedule;
import io.weft.scheduler.Selection;
import io.weft.spi.PerformanceModel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;

/**
 * Plans a model on a platform: every problem of a layer, the schedule that wins, and what it gains. Problems are estimated side by side; the
 * report does not depend on how many threads do so. Safe for any thread.
 */
public final class PlanService {
    /** Gains below this are no reason to leave serial, as in {@link ModelSelector}. */
    private static final double NOISE = 0.01;

    private final int threads;
    private final ScheduleLimits limits;

    /** Takes {@code plan.threads}, {@code schedule.chunks} and {@code schedule.streams} from the settings. */
    public PlanService(EffectiveSettings settings) {
        this(settings, threads(settings));
    }

    /**
     * As above, with a number of threads of its own.
     *
     * @param threads 1 or more
     */
    public PlanService(EffectiveSettings settings, int threads) {
        this.threads = threads;
        this.limits = new ScheduleLimits(
                settings.value(Catalogue.SCHEDULE_CHUNKS), settings.value(Catalogue.SCHEDULE_STREAMS));
    }

    private static int threads(EffectiveSettings settings) {
        long wanted = settings.value(Catalogue.PLAN_THREADS);
        return wanted == 0 ? Runtime.getRuntime().availableProcessors() : Math.toIntExact(wanted);
    }

    private record Chosen(ProblemReport report, Optional<Timeline> timeline) {}

    /**
     * Plans.
     *
     * @throws AcceleratorException INVALID_ARGUMENT when a degree does not fit the model or the platform, or nothing communicates; UNSUPPORTED
     *     when the platform cannot predict times
     */
    public Plan plan(Platform platform, PlanRequest request, Progress progress) {
        platform.require(Capability.PERFORMANCE_MODEL, "plan");
        Deployment deployment = request.deployment();
        List<LayerProblem> problems =
                LayerProblems.of(request.model().model(), deployment).problems();
        int devices = platform.devices().size();
        fits("tensor", deployment.tensorParallel(), devices, platform);
        fits("expert", deployment.expertParallel(), devices, platform);
        GemmTypes.require(platform, "plan", deployment.elementType());
        if (problems.isEmpty()) {
            throw AcceleratorException.invalid(
                    "plan",
                    "nothing communicates at tensor parallel " + deployment.tensorParallel() + " and expert parallel "
                            + deployment.expertParallel() + "; accepted are degrees of which one is above 1");
        }
        Chooser chooser = new Chooser(platform, request);
        List<Chosen> chosen = inParallel(problems, chooser, progress);
        double serial = 0;
        double overlapped = 0;
        for (Chosen each : chosen) {
            serial += each.report().total() * each.report().metrics().serialUs();
            overlapped += each.report().total() * each.report().metrics().us();
        }
        int layers = request.model().model().layers();
        List<ProblemReport> reports = chosen.stream().map(Chosen::report).toList();
        List<Timeline> timelines =
                chosen.stream().flatMap(each -> each.timeline().stream()).toList();
        PlanReport report = new PlanReport(
                platform.figures().label(),
                new PlanReport.PlatformInfo(
                        platform.uri().toString(),
                        devices,
                        platform.properties().machine()),
                new PlanReport.ModelInfo(
                        request.model().model().name(),
                        layers,
                        deployment.tokens(),
                        deployment.tensorParallel(),
                        deployment.expertParallel(),
                        deployment.elementType().label()),
                reports,
                Times.of(serial / layers, overlapped / layers),
                Times.of(serial, overlapped),
                request.memory() ? Optional.of(PlanMemory.use(reports, timelines, layers)) : Optional.empty(),
                request.model().notes());
        return new Plan(report, request.timelines() ? timelines : List.of());
    }

    private static void fits(String kind, int degree, int devices, Platform platform) {
        if (degree > devices) {
            throw AcceleratorException.invalid(
                    "plan",
                    kind + " parallel " + degree + " needs " + degree + " devices, and " + platform.uri() + " has "
                            + devices);
        }
    }

    private List<Chosen> inParallel(List<LayerProblem> problems, Chooser chooser, Progress progress) {
        progress.begin("estimating", problems.size());
        // Parallel streams started inside a pool stay in it, so the selectors' own parallel work keeps to these threads
        // too.
        try (ForkJoinPool pool = new ForkJoinPool(threads)) {
            return pool.submit(() -> IntStream.range(0, problems.size())
                            .parallel()
                            .mapToObj(i -> {
                                Chosen chosen = chooser.choose(problems.get(i));
                                progress.step(problems.get(i).name());
                                return chosen;
                            })
                            .toList())
                    .get();
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(failure.getCause());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new AcceleratorException(io.weft.api.ErrorCode.ABORTED, "plan", "interrupted while estimating", stop);
        } finally {
            progress.end();
        }
    }

    /** Chooses for one problem after the other; safe for any thread. */
    private final class Chooser {
        private final PerformanceModel model;
        private final PerformanceModel.Issue issue;
        private final ModelSelector modelSelector;
        private final Optional<HeuristicSelector> heuristic;
        private final boolean everything;
        private final Optional<PerformanceModel.Detail> detail;
        private final int modelLayers;

        Chooser(Platform platform, PlanRequest request) {
            model = platform.extension(PerformanceModel.class)
                    .orElseThrow(() -> AcceleratorException.unsupported(
                            "plan", Capability.PERFORMANCE_MODEL, platform.toString()));
            issue = platform.has(Capability.DEVICE_GRAPHS)
                    ? PerformanceModel.Issue.DEVICE_GRAPH
                    : PerformanceModel.Issue.STREAMS;
            modelSelector = new ModelSelector(platform);
            String select = request.select();
            if (!List.of("heuristic", "model", "all").contains(select)) {
                throw AcceleratorException.invalid(
                        "select", "'" + select + "' is not a way to choose; accepted are heuristic, model, all");
            }
            heuristic = select.equals("heuristic") ? Optional.of(new HeuristicSelector(platform)) : Optional.empty();
            everything = select.equals("all");
            detail = request.timelines()
                    ? Optional.of(PerformanceModel.Detail.INTERVALS)
                    : request.memory() ? Optional.of(PerformanceModel.Detail.SUMMARY) : Optional.empty();
            modelLayers = request.model().model().layers();
        }

        Chosen choose(LayerProblem part) {
            OverlapProblem problem = part.problem();
            Selection selection =
                    heuristic.isPresent() ? heuristic.get().select(problem) : modelSelector.select(problem);
            if (!limits.isOpen() && problem.ranks() > 1) {
                selection = withinLimits(selection);
            }
            Schedule choice = selection.choice();
            OverlapMetrics metrics = selection.metrics().orElseGet(() -> modelSelector.metrics(problem, choice));
            Optional<Timeline> timeline = detail.map(
                    how -> model.estimate(Lowering.lower(problem, choice).graph(), issue, how));
            return new Chosen(
                    new ProblemReport(
                            part.name(),
                            problem,
                            part.perLayer(),
                            part.layers(),
                            modelLayers,
                            choice,
                            metrics,
                            selection.reason(),
                            reported(selection),
                            part.note()),
                    timeline);
        }

        /** Every candidate, or the best of each kind and the baseline. */
        private List<Candidate> reported(Selection selection) {
            Set<Schedule.Kind> seen = EnumSet.noneOf(Schedule.Kind.class);
            List<Candidate> candidates = new ArrayList<>();
            for (Selection.Candidate candidate : selection.candidates()) {
                boolean baseline = candidate.schedule().equals(Schedule.serial()); // what all speedups refer to
                if (seen.add(candidate.schedule().kind()) || everything || baseline) {
                    candidates.add(new Candidate(candidate.schedule(), candidate.us(), candidate.speedup()));
                }
            }
            return candidates;
        }

        /** The choice among what the settings allow; serial always is. */
        private Selection withinLimits(Selection open) {
            OverlapProblem problem = open.problem();
            Set<Schedule> allowed = new LinkedHashSet<>();
            allowed.add(Schedule.serial());
            if (heuristic.isPresent()) {
                allowed.addAll(limits.allowed(open.choice()));
            } else {
                open.candidates().forEach(candidate -> allowed.addAll(limits.allowed(candidate.schedule())));
            }
            List<Selection.Candidate> candidates = new ArrayList<>();
            for (Schedule schedule : allowed) {
                OverlapMetrics metrics = modelSelector.metrics(problem, schedule);
                candidates.add(new Selection.Candidate(schedule, metrics.us(), metrics.speedup()));
            }
            candidates.sort(Comparator.comparingDouble(Selection.Candidate::us));
            Selection.Candidate best = candidates.getFirst();
            if (best.speedup() < 1 + NOISE) {
                best = candidates.stream()
                        .filter(candidate -> candidate.schedule().equals(Schedule.serial()))
                        .findFirst()
                        .orElseThrow();
            }
            Schedule.Kind kind = best.schedule().kind();
            String reason = open.choice().equals(best.schedule())
                    ? open.reason()
                    : String.format(
                            Locale.ROOT,
                            "%.2fx of serial, the best that %s allows; without it %s",
                            best.speedup(),
                            limits.text(),
                            open.choice());
            return new Selection(
                    problem,
                    best.schedule(),
                    candidates.stream()
                            .map(Selection.Candidate::schedule)
                            .filter(schedule -> schedule.kind() != kind)
                            .findFirst(),
                    reason,
                    candidates,
                    Optional.of(modelSelector.metrics(problem, best.schedule())));
        }
    }
}
