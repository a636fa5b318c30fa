// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.overlap;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.api.Figures;
import io.weft.api.Platform;
import io.weft.runtime.plan.GemmTypes;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.tuning.Selectors;
import io.weft.scheduler.AloneGraphs;
import io.weft.scheduler.GemmTuner;
import io.weft.scheduler.GraphTimer;
import io.weft.scheduler.LoweredSchedule;
import io.weft.scheduler.Lowering;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.OverlapTimer;
import io.weft.scheduler.Repetitions;
import io.weft.scheduler.SampledReference;
import io.weft.scheduler.Schedule;
import io.weft.scheduler.Selection;
import io.weft.scheduler.Selector;
import io.weft.scheduler.TransferEngine;
import io.weft.scheduler.TypicalSchedules;
import io.weft.spi.PerformanceModel;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Times schedules of overlap problems side by side: the serial one, every kind of overlap, the selector's choice, the GEMM alone and the communication alone, each once in every round, so that whatever drifts touches all of them alike. Every
 * schedule's results are checked before it is timed, where the platform holds data. Safe for any thread as long as each call has a platform of its own.
 */
public final class OverlapBench {
    /** Rounds in which the choice is issued command by command, for its cost to the host. */
    private static final int EAGER_ROUNDS = 9;

    private static final long WARM_SIZE = 256;
    private static final long WARM_NANOS = 1_500_000_000L;

    private final Selectors selectors;

    /** A service that takes its selectors from here. */
    public OverlapBench(Selectors selectors) {
        this.selectors = selectors;
    }

    /** A report without results. */
    public static OverlapBenchReport begin(Platform platform, OverlapBenchRequest request) {
        return new OverlapBenchReport(
                platform.figures().label(),
                platform.uri().toString(),
                platform.properties().machine(),
                platform.properties().versions(),
                platform.devices().stream()
                        .map(device -> device.properties().name())
                        .toList(),
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                request.seed(),
                request.warmUp(),
                request.rounds(),
                List.of());
    }

    /**
     * Times every problem. One that does not fit into memory becomes a result that says so.
     *
     * @param written gets the report so far after each problem
     * @throws AcceleratorException INVALID_ARGUMENT when a problem does not fit the platform
     */
    public OverlapBenchReport run(
            Platform platform, OverlapBenchRequest request, Progress progress, Consumer<OverlapBenchReport> written) {
        return run(platform, request, progress, written, Optional.empty());
    }

    /**
     * Times every problem beside another program, which runs its variants once in each round.
     *
     * @param written gets the report so far after each problem
     * @param peer the other program, if any; the caller closes it
     * @throws AcceleratorException as the other one, and what goes wrong with the program
     */
    public OverlapBenchReport run(
            Platform platform,
            OverlapBenchRequest request,
            Progress progress,
            Consumer<OverlapBenchReport> written,
            Optional<PeerProgram> peer) {
        Selectors.require(request.select());
        OverlapBenchReport report = begin(platform, request);
        for (OverlapBenchRequest.Case each : request.cases()) {
            int devices = platform.devices().size();
            if (each.problem().ranks() > devices) {
                throw AcceleratorException.invalid(
                        "bench overlap",
                        each.problem().ranks() + " ranks need as many devices, and " + platform.uri() + " has "
                                + devices);
            }
            GemmTypes.require(platform, "bench overlap", each.problem().elementType());
        }
        // Its start keeps devices busy; nothing is timed before it answers.
        peer.ifPresent(PeerProgram::end);
        if (platform.figures() == Figures.MEASURED && !request.cases().isEmpty()) {
            warmHost(platform, request.cases().getFirst().problem());
        }
        for (OverlapBenchRequest.Case each : request.cases()) {
            report = report.with(result(platform, request, each, progress, peer));
            written.accept(report);
        }
        return report;
    }

    /** Issues small work until the calls are compiled: a host that interprets them pays ten times as much for each. */
    private static void warmHost(Platform platform, OverlapProblem like) {
        OverlapProblem small =
                OverlapProblem.of(like.pattern(), WARM_SIZE, WARM_SIZE, WARM_SIZE, like.elementType(), like.ranks());
        List<Device> devices = platform.devices().subList(0, like.ranks());
        try (Communicator communicator = Communicator.over(platform, devices);
                OverlapTimer timer = OverlapTimer.open(communicator, small, 1)) {
            for (PerformanceModel.Issue issue : PerformanceModel.Issue.values()) {
                List<OverlapTimer.TimedSchedule> ready = List.of(
                        timer.prepare(Schedule.serial(), issue),
                        timer.prepare(Schedule.of(Schedule.Kind.COVER_MERGE), issue),
                        timer.prepare(Schedule.of(Schedule.Kind.HETERO_UNFUSED_1D), issue));
                long end = platform.nanoTime() + WARM_NANOS;
                while (platform.nanoTime() < end) {
                    ready.forEach(OverlapTimer.TimedSchedule::run);
                }
            }
        } catch (AcceleratorException refusal) {
            if (refusal.code() != ErrorCode.UNSUPPORTED) {
                throw refusal;
            }
            // Some backend cannot run one of these; then the host is warmed by the rounds before anything counts.
        }
    }

    private OverlapBenchReport.Result result(
            Platform platform,
            OverlapBenchRequest request,
            OverlapBenchRequest.Case each,
            Progress progress,
            Optional<PeerProgram> peer) {
        OverlapProblem problem = each.problem();
        List<Device> devices = platform.devices().subList(0, problem.ranks());
        try (Communicator communicator = Communicator.over(platform, devices)) {
            // Measured selection takes memory of its own, and gives it back.
            Selector selector = selectors.selector(how(platform, request.select()), communicator);
            Selection selection = selector.select(problem);
            GemmTuner gemms = selectors.gemmTuner(communicator);
            Chosen chosen = new Chosen(selector.name(), selection, gemms);
            try (OverlapTimer timer = OverlapTimer.open(communicator, problem, request.seed())) {
                return timed(platform, request, each, timer, chosen, progress, peer);
            }
        } catch (AcceleratorException refusal) {
            if (refusal.code() != ErrorCode.OUT_OF_MEMORY) {
                throw refusal;
            }
            return new OverlapBenchReport.Result(
                    problem,
                    each.name(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    List.of(),
                    "",
                    Schedule.serial(),
                    "",
                    Map.of(),
                    Optional.empty(),
                    Map.of(),
                    Optional.of(refusal.getMessage()));
        } finally {
            progress.end();
        }
    }

    /** On hardware that no model describes, what is timed anyway may as well be what chooses. */
    private static String how(Platform platform, String wanted) {
        boolean blind = platform.figures() == Figures.MEASURED && !platform.has(Capability.PERFORMANCE_MODEL);
        return wanted.equals("auto") && blind ? "measured" : wanted;
    }

    private record Chosen(String selector, Selection selection, GemmTuner gemms) {}

    private static OverlapBenchReport.Result timed(
            Platform platform,
            OverlapBenchRequest request,
            OverlapBenchRequest.Case each,
            OverlapTimer timer,
            Chosen chosen,
            Progress progress,
            Optional<PeerProgram> peer) {
        Selection selection = chosen.selection();
        OverlapProblem problem = each.problem();
        boolean copyEngines = platform.devices().stream()
                .allMatch(device -> device.properties().copyEngines() > 0);
        PerformanceModel.Issue issue = platform.has(Capability.DEVICE_GRAPHS)
                ? PerformanceModel.Issue.DEVICE_GRAPH
                : PerformanceModel.Issue.STREAMS;
        Set<Schedule> schedules = new LinkedHashSet<>();
        schedules.add(Schedule.serial());
        schedules.addAll(
                request.schedules().isEmpty() ? TypicalSchedules.of(problem, copyEngines) : request.schedules());
        schedules.add(selection.choice());

        chosen.gemms()
                .tune(schedules.stream()
                        .map(schedule -> Lowering.lower(problem, schedule))
                        .toList());
        boolean check = request.check() && timer.holdsData();
        Optional<SampledReference> reference =
                check ? Optional.of(SampledReference.of(problem, request.seed())) : Optional.empty();
        List<OverlapBenchReport.Timed> told = new ArrayList<>();
        List<Supplier<GraphTimer.Sample>> runs = new ArrayList<>();
        for (Schedule schedule : schedules) {
            OverlapTimer.TimedSchedule ready;
            Optional<SampledReference.Outcome> outcome = Optional.empty();
            try {
                ready = timer.prepare(schedule, issue);
                if (reference.isPresent()) {
                    outcome = Optional.of(timer.check(ready, reference.get()));
                }
            } catch (AcceleratorException refusal) {
                if (refusal.code() != ErrorCode.UNSUPPORTED) {
                    throw refusal;
                }
                told.add(new OverlapBenchReport.Timed(
                        schedule, 0, Optional.empty(), Optional.empty(), Optional.of(refusal.getMessage())));
                continue;
            }
            runs.add(ready::run);
            told.add(new OverlapBenchReport.Timed(
                    schedule, ready.lowered().graph().size(), Optional.empty(), outcome, Optional.empty()));
        }
        // The GEMM alone comes right after the serial schedule, whose data it finds in the workspace.
        boolean several = problem.ranks() > 1;
        int alone = 1;
        runs.add(alone, timer.prepare(AloneGraphs.gemm(problem), issue)::run);
        if (several) {
            runs.add(prepareComm(timer, problem, TransferEngine.COLLECTIVE, issue)::run);
            runs.add(prepareComm(
                    timer, problem, copyEngines ? TransferEngine.COPY_ENGINE : TransferEngine.KERNEL, issue)::run);
        }
        int rounds = request.warmUp() + request.rounds();
        progress.begin(problem.toString(), rounds * runs.size());
        Map<String, List<Double>> others = new LinkedHashMap<>();
        peer.ifPresent(program -> program.begin(problem));
        List<Repetitions> times = Repetitions.inTurn(
                runs,
                request.warmUp(),
                request.rounds(),
                () -> progress.step(""),
                round -> peer.ifPresent(program -> {
                    Map<String, Double> us = program.round();
                    if (round >= 0) {
                        us.forEach((variant, one) -> others.computeIfAbsent(variant, key -> new ArrayList<>())
                                .add(one));
                    }
                    // The devices change from one process to the other with the next work: not at the cost of the first
                    // variant.
                    var _ = runs.getFirst().get();
                }));
        peer.ifPresent(PeerProgram::end);
        int next = 0;
        for (int i = 0; i < told.size(); i++) {
            OverlapBenchReport.Timed one = told.get(i);
            if (one.refusal().isPresent()) {
                continue;
            }
            next += next == alone ? 1 : 0;
            told.set(
                    i,
                    new OverlapBenchReport.Timed(
                            one.schedule(),
                            one.commands(),
                            Optional.of(times.get(next++)),
                            one.check(),
                            Optional.empty()));
        }
        int last = times.size();
        return new OverlapBenchReport.Result(
                problem,
                each.name(),
                Optional.of(times.get(alone)),
                several ? Optional.of(times.get(last - 2)) : Optional.empty(),
                several ? Optional.of(times.get(last - 1)) : Optional.empty(),
                told,
                chosen.selector(),
                selection.choice(),
                selection.reason(),
                chosen.gemms().chosen(),
                Optional.of(eager(timer, selection.choice())),
                repetitions(others),
                Optional.empty());
    }

    private static Map<String, Repetitions> repetitions(Map<String, List<Double>> us) {
        Map<String, Repetitions> all = new LinkedHashMap<>();
        us.forEach((variant, times) ->
                all.put(variant, new Repetitions(times, Collections.nCopies(times.size(), 0.0))));
        return all;
    }

    private static OverlapTimer.TimedSchedule prepareComm(
            OverlapTimer timer, OverlapProblem problem, TransferEngine engine, PerformanceModel.Issue issue) {
        LoweredSchedule alone = AloneGraphs.communication(problem, engine);
        return timer.prepare(alone, issue);
    }

    private static OverlapBenchReport.Eager eager(OverlapTimer timer, Schedule choice) {
        OverlapTimer.TimedSchedule ready = timer.prepare(choice, PerformanceModel.Issue.STREAMS);
        List<Repetitions> times = Repetitions.inTurn(
                List.<Supplier<GraphTimer.Sample>>of(ready::run), Repetitions.WARM_UP, EAGER_ROUNDS, () -> {});
        return new OverlapBenchReport.Eager(
                times.getFirst(), ready.lowered().graph().size());
    }
}
