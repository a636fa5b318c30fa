// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.memory;

import com.sun.management.ThreadMXBean;
import io.weft.memory.LayoutProblem;
import io.weft.memory.PoolCore;
import io.weft.memory.PoolOptions;
import io.weft.memory.SizePredictor;
import io.weft.memory.StaticPlanner;
import io.weft.memory.StreamOrder;
import io.weft.memory.replay.BestFitModel;
import io.weft.memory.replay.CachingModel;
import io.weft.memory.replay.CountedPages;
import io.weft.memory.replay.PoolTarget;
import io.weft.memory.replay.RecountedReplay;
import io.weft.memory.replay.Replay;
import io.weft.memory.replay.ReplayReport;
import io.weft.memory.replay.ReplayTarget;
import io.weft.memory.replay.Trace;
import io.weft.memory.replay.TraceReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * The pool's figures beside its rivals', as one table: {@code replay FILE...}, {@code predict FILE...}, {@code pressure FILE...}, {@code plan FILE...}, {@code pairs}, {@code stress} and
 * {@code soak}. Times are this machine's.
 */
public final class PoolFigures {
    private static final long NO_LIMIT = 1L << 42;
    /** Pools that are replayed through before one is timed. */
    private static final int WARMING = 150;

    private PoolFigures() {}

    /** Prints the figures asked for. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length == 0) {
            System.out.println(
                    "usage: PoolFigures replay FILE... | predict FILE... | pressure FILE... | plan FILE... | pairs"
                            + " | stress [OPERATIONS] | soak [HOURS]");
            return;
        }
        List<String> files = List.of(arguments).subList(1, arguments.length);
        switch (arguments[0]) {
            case "replay" -> files.forEach(file -> replay(Path.of(file)));
            case "predict" -> files.forEach(file -> predict(Path.of(file)));
            case "pressure" ->
                files.forEach(file -> {
                    pressure(Path.of(file), true);
                    pressure(Path.of(file), false);
                });
            case "plan" -> {
                for (String file : files) {
                    plan(Path.of(file));
                }
            }
            case "pairs" -> {
                for (SizeMix mix : SizeMix.values()) {
                    pairs(mix, 1);
                    pairs(mix, 2);
                }
            }
            case "stress" -> PoolStress.print(files.isEmpty() ? 1_000_000 : Long.parseLong(files.getFirst()));
            case "soak" -> PoolSoak.print(files.isEmpty() ? 72 : Integer.parseInt(files.getFirst()));
            default ->
                System.out.println("unknown figure '" + arguments[0]
                        + "'; accepted are replay, predict, pressure, plan, pairs, stress," + " soak");
        }
    }

    /** Each pool in turn, after the JVM has compiled it: a cold pass is the first of a new pool, and the median of several such. */
    private static void replay(Path file) {
        Trace trace = TraceReader.read(file);
        List<Supplier<ReplayTarget>> targets = List.of(
                () -> new PoolTarget(NO_LIMIT, StreamOrder.immediate()),
                () -> new CachingModel(NO_LIMIT),
                () -> new BestFitModel(NO_LIMIT));
        for (Supplier<ReplayTarget> target : targets) {
            double[] cold = new double[31];
            double first = 0;
            for (int i = -WARMING; i < cold.length; i++) {
                double nanos = Replay.run(trace, target.get(), 3).coldNanos();
                first = i == -WARMING ? nanos : first;
                if (i >= 0) {
                    cold[i] = nanos;
                }
            }
            Arrays.sort(cold);
            ReplayReport report = Replay.run(trace, target.get(), 201);
            System.out.printf(
                    "%-40s %-8s %6d events  median %6.1f  p99 %5.0f  cold pool %5.0f  cold JVM %6.0f ns/event  peak %.3f of %.3f GB"
                            + "  fragmentation %.2f %%  device calls %d then %d  planned %.0f %%%n",
                    report.trace(),
                    report.target(),
                    report.events(),
                    report.medianNanos(),
                    report.p99Nanos(),
                    cold[cold.length / 2],
                    first,
                    report.peakAllocatedBytes() / 1e9,
                    report.peakReservedBytes() / 1e9,
                    100 * report.fragmentation(),
                    report.deviceCalls(),
                    report.deviceCallsWarm(),
                    100 * report.plannedShare());
        }
        RecountedReplay recount = RecountedReplay.of(trace, NO_LIMIT, 5);
        System.out.printf(
                "%-40s recount  %6d events of the log: %.3f of %.3f GB, fragmentation %.4f %%, %s%n",
                trace.name(),
                recount.recount().events(),
                recount.recount().peakAllocatedBytes() / 1e9,
                recount.recount().peakReservedBytes() / 1e9,
                100 * recount.recount().fragmentation(),
                recount.isEqual() ? "equal to the pool's own" : "NOT EQUAL TO THE POOL'S OWN");
    }

    /** How many of the next sizes are predicted right while they come for the first time, and what a prediction takes. */
    private static void predict(Path file) {
        Trace trace = TraceReader.read(file);
        long[] sizes = new long[(int) trace.allocations()];
        int count = 0;
        for (int i = trace.eventsBefore(); i < trace.count(); i++) {
            if (trace.kind(i) == Trace.Kind.ALLOCATE && count < sizes.length) {
                sizes[count++] = trace.bytes(i);
            }
        }
        SizePredictor predictor = new SizePredictor();
        for (long size : sizes) {
            predictor.observe(size);
        }
        double accuracy = predictor.accuracy();
        double[] nanos = new double[201];
        long sum = 0;
        for (int pass = 0; pass < nanos.length; pass++) {
            long start = System.nanoTime();
            for (long size : sizes) {
                predictor.observe(size);
                sum += predictor.predict();
            }
            nanos[pass] = (double) (System.nanoTime() - start) / sizes.length;
        }
        Arrays.sort(nanos);
        System.out.printf(
                "%-40s %6d sizes  %.1f %% right the first time  %.1f ns an observation and prediction (%d)%n",
                trace.name(), sizes.length, 100 * accuracy, nanos[nanos.length / 2], sum & 1);
    }

    /** Single allocations with 5 % more memory than is ever live, by a program that tells the pool where an iteration ends, or does not. */
    private static void pressure(Path file, boolean told) {
        Trace trace = TraceReader.read(file);
        PoolTarget target = new PoolTarget(trace.peakLiveBytes() * 105 / 100, StreamOrder.immediate());
        PoolCore core = target.core();
        long[] addresses = new long[trace.blockCount()];
        long[] nanos = new long[(int) trace.allocations()];
        int refused = 0;
        for (int pass = 0; pass < 60; pass++) {
            int count = 0;
            Arrays.fill(addresses, -1);
            for (int i = 0; i < trace.count(); i++) {
                int block = trace.block(i);
                if (trace.kind(i) == Trace.Kind.ALLOCATE && trace.bytes(i) > 0) {
                    long start = System.nanoTime();
                    addresses[block] = core.allocate(trace.bytes(i), 0);
                    nanos[count++] = System.nanoTime() - start;
                    refused += addresses[block] < 0 ? 1 : 0;
                } else if (trace.kind(i) == Trace.Kind.FREE && addresses[block] >= 0) {
                    core.free(addresses[block], 0);
                    addresses[block] = -1;
                }
            }
            for (long address : addresses) {
                if (address >= 0) {
                    core.free(address, 0);
                }
            }
            if (told) {
                target.nextIteration();
            }
            if (pass == 59) {
                Arrays.sort(nanos, 0, count);
                System.out.printf(
                        "%-40s limit 1.05 x peak, iterations %s: p50 %d  p99 %d  p99.9 %d  max %d ns, %d refused, %d device calls%n",
                        trace.name(),
                        told ? "told" : "not told",
                        nanos[count / 2],
                        nanos[(int) (count * 0.99)],
                        nanos[(int) (count * 0.999)],
                        nanos[count - 1],
                        refused,
                        target.deviceCalls());
            }
        }
    }

    private static void plan(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        LayoutProblem problem = new LayoutProblem(lines.size());
        for (String line : lines.subList(1, lines.size())) {
            String[] fields = line.split(",", -1);
            problem.add(
                    problem.count(), Long.parseLong(fields[3]), Long.parseLong(fields[1]), Long.parseLong(fields[2]));
        }
        long start = System.nanoTime();
        StaticPlanner.Plan plan = StaticPlanner.within(problem, 1 << 20, 10_000_000_000L);
        System.out.printf(
                "%-28s %3d blocks  bound %7d  quick %7d  reached %7d (%+.1f %% of capacity)  %d nodes  %.2f s  %s%n",
                file.getFileName(),
                problem.count(),
                problem.lowerBound(),
                StaticPlanner.quick(problem).height(),
                plan.height(),
                100.0 * plan.height() / (1 << 20) - 100,
                plan.nodes(),
                (System.nanoTime() - start) / 1e9,
                problem.faultOf(plan.offsets(), plan.height()) == null ? "valid" : "WRONG");
    }

    /** One free and one allocation of a random live block; processor time of the thread, so that a busy machine does not count, and Java bytes. */
    private static void pairs(SizeMix mix, int threads) {
        PoolCore core = new PoolCore(new CountedPages(NO_LIMIT, true), StreamOrder.immediate(), PoolOptions.defaults());
        double[] nanos = new double[threads];
        double[] garbage = new double[threads];
        List<Thread> running = new ArrayList<>();
        for (int number = 0; number < threads; number++) {
            int stream = number;
            running.add(Thread.ofPlatform().start(() -> {
                SplittableRandom random = new SplittableRandom(42 + stream);
                int draws = 1 << 16;
                long[] sizes = new long[draws];
                int[] slots = new int[draws];
                for (int i = 0; i < draws; i++) {
                    sizes[i] = mix.draw(random);
                    slots[i] = random.nextInt(mix.slots());
                }
                long[] addresses = new long[mix.slots()];
                for (int i = 0; i < addresses.length; i++) {
                    addresses[i] = core.allocate(mix.draw(random), stream);
                }
                ThreadMXBean clock = (ThreadMXBean) ManagementFactory.getThreadMXBean();
                double[] passes = new double[31];
                long allocatedBefore = 0;
                for (int pass = 0; pass < 61; pass++) {
                    if (pass == 30) {
                        allocatedBefore = clock.getCurrentThreadAllocatedBytes();
                    }
                    long start = clock.getCurrentThreadCpuTime();
                    for (int i = 0; i < draws; i++) {
                        int slot = slots[i];
                        core.free(addresses[slot], stream);
                        addresses[slot] = core.allocate(sizes[i], stream);
                    }
                    if (pass >= 30) {
                        passes[pass - 30] = (double) (clock.getCurrentThreadCpuTime() - start) / draws;
                    }
                }
                garbage[stream] = (double) (clock.getCurrentThreadAllocatedBytes() - allocatedBefore) / (31L * draws);
                Arrays.sort(passes);
                nanos[stream] = passes[passes.length / 2];
            }));
        }
        for (Thread thread : running) {
            try {
                thread.join();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        System.out.printf(
                "%-9s %d threads  %6.1f ns of processor time a pair  %.4f Java bytes a pair%n",
                mix,
                threads,
                Arrays.stream(nanos).max().orElse(0),
                Arrays.stream(garbage).max().orElse(0));
    }
}
