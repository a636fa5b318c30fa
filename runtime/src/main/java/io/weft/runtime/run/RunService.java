// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.run;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.api.numeric.RandomData;
import io.weft.memory.PoolRecording;
import io.weft.memory.PoolUse;
import io.weft.runtime.memory.DeviceUse;
import io.weft.runtime.plan.GemmTypes;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.tuning.Selectors;
import io.weft.scheduler.LoweredSchedule;
import io.weft.scheduler.Lowering;
import io.weft.scheduler.OverlapEngine;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.OverlapRun;
import io.weft.scheduler.Schedule;
import io.weft.scheduler.Selection;
import io.weft.scheduler.Selector;
import io.weft.scheduler.TransferEngine;
import io.weft.scheduler.verify.Verification;
import io.weft.scheduler.verify.VerificationResult;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Runs one problem with one schedule or several on random data, and checks every number when asked to. Safe for any thread as long as each
 * call has a platform of its own.
 */
public final class RunService {
    private final Selectors selectors;
    private final Consumer<Timeline> watcher;

    /** A service that takes its selectors from here. */
    public RunService(Selectors selectors) {
        this(selectors, timeline -> {});
    }

    private RunService(Selectors selectors, Consumer<Timeline> watcher) {
        this.selectors = selectors;
        this.watcher = watcher;
    }

    /** The same service, which tells of every run's timeline as soon as there is one. */
    public RunService watchedBy(Consumer<Timeline> hears) {
        return new RunService(selectors, hears);
    }

    private record Outcome(double us, Optional<Timeline> timeline, Optional<RunReport.Check> check) {}

    /**
     * Runs.
     *
     * @throws AcceleratorException INVALID_ARGUMENT when the problem does not fit the platform; UNSUPPORTED when checking is asked of a platform
     *     that holds no data; OUT_OF_MEMORY
     */
    public Run run(Platform platform, RunRequest request, Progress progress) {
        return run(platform, request, progress, Optional.empty());
    }

    /**
     * Runs, and records what is allocated on the first rank's device: operands and results, and the engine's workspace pools.
     *
     * @param recording stays open
     */
    public Run run(Platform platform, RunRequest request, Progress progress, Optional<PoolRecording> recording) {
        OverlapProblem problem = request.problem();
        int devices = platform.devices().size();
        if (problem.ranks() > devices) {
            throw AcceleratorException.invalid(
                    "run",
                    problem.ranks() + " ranks need " + problem.ranks() + " devices, and " + platform.uri() + " has "
                            + devices);
        }
        GemmTypes.require(platform, "run", problem.elementType());
        if (request.verify() && !platform.has(Capability.STORAGE)) {
            throw new AcceleratorException(
                    ErrorCode.UNSUPPORTED,
                    "run",
                    platform.uri()
                            + " keeps time but holds no data, so there is nothing to check; accepted is a platform that does");
        }
        Selectors.require(request.select());
        try (Communicator communicator =
                Communicator.over(platform, platform.devices().subList(0, problem.ranks()))) {
            Selector selector = selectors.selector(request.select(), communicator);
            Choice choice = choose(platform, request, selector);
            progress.begin("running", choice.schedules().size() + 1);
            try (OverlapEngine engine = OverlapEngine.open(communicator, selector, OverlapEngine.Issue.TIMED);
                    OperandMemory memory = new OperandMemory(communicator, recording)) {
                recording.ifPresent(to -> engine.record(0, to));
                return request.verify()
                        ? checked(platform, request, engine, memory, choice, progress)
                        : plain(platform, request, engine, memory, choice, progress);
            }
        } finally {
            progress.end();
        }
    }

    private record Choice(List<Schedule> schedules, String reason) {}

    private static Choice choose(Platform platform, RunRequest request, Selector selector) {
        List<Schedule> schedules = new ArrayList<>();
        String reason = "";
        String wanted = request.schedules().strip();
        switch (wanted) {
            case "all" -> {
                for (Schedule.Kind kind : Schedule.Kind.values()) {
                    schedules.add(onThisPlatform(platform, Schedule.of(kind)));
                }
            }
            case "auto" -> {
                Selection selection = selector.select(request.problem());
                reason = selection.reason();
                schedules.add(selection.choice());
            }
            default -> {
                Schedule named = Schedule.parse(wanted);
                schedules.add(wanted.contains("engine=") ? named : onThisPlatform(platform, named));
            }
        }
        if (request.chunks().isPresent()) {
            schedules.replaceAll(
                    schedule -> schedule.withChunks(request.chunks().getAsInt()));
        }
        return new Choice(schedules, reason);
    }

    private static Schedule onThisPlatform(Platform platform, Schedule schedule) {
        boolean copyEngines = platform.devices().stream()
                .allMatch(device -> device.properties().copyEngines() > 0);
        return copyEngines || schedule.engine() != TransferEngine.COPY_ENGINE
                ? schedule
                : schedule.withEngine(TransferEngine.KERNEL);
    }

    private Run checked(
            Platform platform,
            RunRequest request,
            OverlapEngine engine,
            OperandMemory memory,
            Choice choice,
            Progress progress) {
        try (Verification verification =
                Verification.prepare(engine, request.problem(), request.seed(), memory::allocate)) {
            return report(platform, request, choice, progress, engine, memory, schedule -> {
                long start = platform.nanoTime();
                VerificationResult result = verification.check(schedule);
                double elapsed = platform.nanoTime() - start;
                return outcome(result.run(), elapsed, Optional.of(RunReport.Check.of(result)));
            });
        }
    }

    private Run plain(
            Platform platform,
            RunRequest request,
            OverlapEngine engine,
            OperandMemory memory,
            Choice choice,
            Progress progress) {
        OverlapProblem problem = request.problem();
        LoweredSchedule shape = Lowering.lower(problem, Schedule.serial());
        List<BufferView> operands = new ArrayList<>();
        List<BufferView> weights = new ArrayList<>();
        List<BufferView> results = new ArrayList<>();
        for (int rank = 0; rank < problem.ranks(); rank++) {
            Slot a = shape.operands().get(rank);
            Slot b = shape.weights().get(rank);
            Slot c = shape.results().get(rank);
            operands.add(allocate(memory, rank, a.bytes(), problem.k(), problem.elementType()));
            weights.add(allocate(memory, rank, b.bytes(), problem.n(), problem.elementType()));
            results.add(allocate(memory, rank, c.bytes(), problem.n(), problem.outputType()));
            if (platform.has(Capability.STORAGE)) {
                fill(operands.get(rank), request.seed(), 2L * rank);
                fill(weights.get(rank), request.seed(), 2L * rank + 1);
            }
        }
        return report(platform, request, choice, progress, engine, memory, schedule -> {
            long start = platform.nanoTime();
            OverlapRun run = engine.run(problem, schedule, operands, weights, results, null);
            run.synchronize();
            double elapsed = platform.nanoTime() - start;
            return outcome(run, elapsed, Optional.empty());
        });
    }

    private static BufferView allocate(OperandMemory memory, int rank, long bytes, long columns, ElementType type) {
        // A rank may have no rows; a buffer has at least one byte all the same.
        Buffer buffer = memory.allocate(rank, Math.max(1, bytes));
        return buffer.matrix(bytes / type.bytes() / columns, columns, type);
    }

    private static void fill(BufferView view, long seed, long stream) {
        if (view.isEmpty()) {
            return;
        }
        if (view.bytes() > Integer.MAX_VALUE - 8) {
            throw AcceleratorException.invalid(
                    "run",
                    "a matrix of [" + view.rows() + ", " + view.columns() + "] " + view.type()
                            + " is larger than 2 GiB, which the host does not fill; estimate it with plan, or open the platform without storage");
        }
        MemorySegment host = MemorySegment.ofArray(new byte[Math.toIntExact(view.bytes())]);
        RandomData.fill(host, view.type(), seed, stream);
        ((Buffer) view.memory()).write(0, host);
    }

    private Run report(
            Platform platform,
            RunRequest request,
            Choice choice,
            Progress progress,
            OverlapEngine engine,
            OperandMemory memory,
            Function<Schedule, Outcome> runner) {
        Schedule baseline = Schedule.serial();
        Outcome serial = runner.apply(baseline);
        serial.timeline().ifPresent(watcher);
        progress.step(baseline.toString());
        List<RunReport.Run> runs = new ArrayList<>();
        List<Timeline> timelines = new ArrayList<>();
        for (Schedule schedule : choice.schedules()) {
            Outcome outcome = schedule.equals(baseline) ? serial : runner.apply(schedule);
            outcome.timeline().ifPresent(timelines::add);
            outcome.timeline().ifPresent(watcher);
            runs.add(new RunReport.Run(
                    schedule, outcome.us(), outcome.us() > 0 ? serial.us() / outcome.us() : 1, outcome.check()));
            progress.step(schedule.toString());
        }
        RunReport report = new RunReport(
                platform.figures().label(),
                platform.uri().toString(),
                request.problem(),
                request.seed(),
                runs,
                choice.reason(),
                use(request.problem().ranks(), engine, memory));
        return new Run(report, timelines.size() == runs.size() ? timelines : List.of());
    }

    private static List<DeviceUse> use(int ranks, OverlapEngine engine, OperandMemory memory) {
        List<DeviceUse> all = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            List<PoolUse> pools = new ArrayList<>();
            pools.add(memory.use(rank));
            pools.addAll(engine.workspaceUse(rank));
            all.add(new DeviceUse(rank, pools));
        }
        return all;
    }

    /** A run's own timeline tells its time; where there is none, the host's clock has to do. */
    private static Outcome outcome(OverlapRun run, double elapsedNanos, Optional<RunReport.Check> check) {
        Optional<Timeline> timeline = timeline(run);
        return new Outcome(timeline.map(Timeline::makespanNanos).orElse(elapsedNanos) / 1e3, timeline, check);
    }

    private static Optional<Timeline> timeline(OverlapRun run) {
        try {
            return Optional.of(run.timeline());
        } catch (AcceleratorException refusal) {
            if (refusal.code() == ErrorCode.UNSUPPORTED) {
                return Optional.empty();
            }
            throw refusal;
        }
    }
}
