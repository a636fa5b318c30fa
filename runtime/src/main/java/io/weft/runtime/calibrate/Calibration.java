// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.calibrate;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Figures;
import io.weft.api.Platform;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.api.numeric.RandomData;
import io.weft.runtime.plan.GemmTypes;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.tuning.Selectors;
import io.weft.scheduler.GraphTimer;
import io.weft.scheduler.Repetitions;
import io.weft.spi.ModelFitter;
import io.weft.spi.PerformanceModel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * Measures a platform with micro-benchmarks, all in turn, round after round, and has a model fitted to the middle times. Safe for any thread as long as each call has a platform of its own.
 */
public final class Calibration {
    private static final long SEED = 1;
    private static final long STAGING_BYTES = 64L << 20;
    private static final long ALIGNMENT = 512;

    /** Calls whose mean is the host's cost of one; few enough for every queue. */
    private static final int CALLS = 32;

    private static final int HOST_ROUNDS = 11;

    /**
     * How long a benchmark runs right before its measured run, ns. Clocks then stand where its own load brings them, as in a bench of such work: on H200 products are 5 % slower after 10 ms of larger products, and 10 % faster after
     * 6 ms of their own. Engines and links that have slept since the last round are awake.
     */
    private static final long WARMING_NANOS = 60_000_000;

    private static final long TINY = 256;

    private final Selectors selectors;

    /** A service that takes what chooses the kernels of products from here. */
    public Calibration(Selectors selectors) {
        this.selectors = selectors;
    }

    /**
     * Measures and fits.
     *
     * @param fitter of the model that is to describe the platform
     * @param name of the machine in the document
     * @param start the document to start from; without it the platform's own properties have to do
     * @param rounds counted rounds, 1 or more
     * @throws AcceleratorException UNSUPPORTED when the platform has no device graphs, or is a model that computes what it times
     */
    public CalibrationReport calibrate(
            Platform platform,
            ModelFitter fitter,
            String name,
            Optional<ModelFitter.Document> start,
            ElementType type,
            int rounds,
            Progress progress) {
        platform.require(Capability.DEVICE_GRAPHS, "calibrate");
        GemmTypes.require(platform, "calibrate", type);
        boolean model = platform.figures() == Figures.MODEL;
        if (model && platform.has(Capability.STORAGE)) {
            throw new AcceleratorException(
                    ErrorCode.UNSUPPORTED,
                    "calibrate",
                    platform.uri()
                            + " is a model that computes what it times, which takes hours for these sizes; accepted is the same with the option mode=timing");
        }
        List<MicroBenchmarks.Benchmark> benchmarks = MicroBenchmarks.of(platform, type);
        List<ModelFitter.Measurement> measurements = measure(platform, benchmarks, rounds, progress);
        Map<String, String> provenance = new LinkedHashMap<>();
        provenance.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        provenance.put("platform", platform.uri() + " (" + platform.figures().label() + ")");
        provenance.put(
                "device",
                platform.devices().size() + " x "
                        + platform.device(0).properties().name());
        provenance.put(
                "driver",
                String.join(
                        ", ",
                        platform.properties().versions().entrySet().stream()
                                .map(entry -> entry.getKey() + " " + entry.getValue())
                                .toList()));
        provenance.put("rounds", rounds + " counted, median, all benchmarks in turn; products of " + type);
        ModelFitter.Fit fit = fit(platform, fitter, name, start, measurements, provenance);
        return new CalibrationReport(platform.figures().label(), platform.uri().toString(), name, provenance, fit);
    }

    /**
     * Fits anew to times that an earlier calibration wrote down, and to those of schedules; nothing is measured. What the model has learned since then is so fitted to measurements of a machine that is not at hand.
     *
     * @param platform with as many devices and compute units as the measured one, such as the model that was fitted then; it also tells what the host pays
     * @param fitter of the model that is to describe the platform
     * @param name of the machine in the document
     * @param start the document to start from; without it the platform's own properties have to do
     * @param type element type of the products then
     * @param times what was written down
     * @param schedules times of schedules, which may be none
     * @param provenance what the document says of them, by keyword
     * @throws AcceleratorException BAD_DOCUMENT when none of the times is of a benchmark of this platform
     */
    public CalibrationReport refit(
            Platform platform,
            ModelFitter fitter,
            String name,
            Optional<ModelFitter.Document> start,
            ElementType type,
            RecordedTimes times,
            List<ModelFitter.Measurement> schedules,
            Map<String, String> provenance) {
        List<ModelFitter.Measurement> measurements = new ArrayList<>();
        for (MicroBenchmarks.Benchmark benchmark : MicroBenchmarks.of(platform, type)) {
            Double nanos = times.nanos().get(benchmark.name());
            if (nanos != null) {
                measurements.add(
                        new ModelFitter.Measurement(benchmark.probe(), benchmark.name(), benchmark.graph(), nanos));
            }
        }
        if (measurements.isEmpty()) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT,
                    "calibrate",
                    times.source() + " has no time of a micro-benchmark for " + platform.uri()
                            + "; accepted is what 'weft calibrate' wrote on a platform with as many devices and compute units");
        }
        measurements.addAll(schedules);
        Map<String, String> all = new LinkedHashMap<>(times.provenance());
        all.put(
                "fitted anew",
                Instant.now().truncatedTo(ChronoUnit.SECONDS) + ", to " + (measurements.size() - schedules.size())
                        + " times that were written down then");
        all.putAll(provenance);
        ModelFitter.Fit fit = fit(platform, fitter, name, start, measurements, all);
        return new CalibrationReport(times.figures().label(), times.source(), name, all, fit);
    }

    private ModelFitter.Fit fit(
            Platform platform,
            ModelFitter fitter,
            String name,
            Optional<ModelFitter.Document> start,
            List<ModelFitter.Measurement> measurements,
            Map<String, String> provenance) {
        List<DeviceProperties> devices =
                platform.devices().stream().map(Device::properties).toList();
        return fitter.fit(new ModelFitter.Request(
                name, start, devices, platform.topology(), measurements, host(platform), provenance));
    }

    // Benchmarks.

    private List<ModelFitter.Measurement> measure(
            Platform platform, List<MicroBenchmarks.Benchmark> benchmarks, int rounds, Progress progress) {
        Deque<Buffer> blocks = new ArrayDeque<>();
        try (Communicator communicator = Communicator.over(platform, platform.devices());
                GraphTimer timer = GraphTimer.over(communicator)) {
            Buffer[] inputs = blocks(platform, benchmarks, Slot.Role.INPUT, blocks);
            Buffer[] outputs = blocks(platform, benchmarks, Slot.Role.OUTPUT, blocks);
            if (platform.has(Capability.STORAGE)) {
                for (Buffer input : inputs) {
                    fill(input);
                }
            }
            List<GraphTimer.Timed> timed = new ArrayList<>();
            List<Supplier<GraphTimer.Sample>> runs = new ArrayList<>();
            // Schedules run with chosen kernels, so the model is of those.
            selectors
                    .gemmTuner(communicator)
                    .tuneGraphs(benchmarks.stream()
                            .map(MicroBenchmarks.Benchmark::graph)
                            .toList());
            try {
                for (MicroBenchmarks.Benchmark benchmark : benchmarks) {
                    GraphTimer.Timed ready = timer.prepare(benchmark.graph(), PerformanceModel.Issue.DEVICE_GRAPH);
                    timed.add(ready);
                    ready.bind(bindings(benchmark.graph(), inputs, outputs));
                }
                boolean warms = platform.figures() == Figures.MEASURED;
                for (GraphTimer.Timed ready : timed) {
                    runs.add(() -> {
                        long begun = platform.nanoTime();
                        while (warms && platform.nanoTime() - begun < WARMING_NANOS) {
                            ready.run();
                        }
                        return ready.run();
                    });
                }
                int warmUp = warms ? 1 : 0;
                progress.begin("measuring", runs.size() * (warmUp + rounds));
                List<Repetitions> times = Repetitions.inTurn(runs, warmUp, rounds, () -> progress.step(""));
                List<ModelFitter.Measurement> measurements = new ArrayList<>();
                for (int i = 0; i < benchmarks.size(); i++) {
                    MicroBenchmarks.Benchmark benchmark = benchmarks.get(i);
                    measurements.add(new ModelFitter.Measurement(
                            benchmark.probe(),
                            benchmark.name(),
                            benchmark.graph(),
                            times.get(i).median() * 1e3));
                }
                return measurements;
            } finally {
                progress.end();
                timed.forEach(GraphTimer.Timed::close);
            }
        } finally {
            blocks.forEach(Buffer::close);
        }
    }

    /** One block for each device, as large as the benchmark that needs most. */
    private static Buffer[] blocks(
            Platform platform, List<MicroBenchmarks.Benchmark> benchmarks, Slot.Role role, Deque<Buffer> owned) {
        long[] most = new long[platform.devices().size()];
        for (MicroBenchmarks.Benchmark benchmark : benchmarks) {
            long[] needed = new long[most.length];
            for (Slot slot : benchmark.graph().slots()) {
                needed[slot.device()] += slot.role() == role ? align(slot.bytes()) : 0;
            }
            Arrays.setAll(most, i -> Math.max(most[i], needed[i]));
        }
        Buffer[] blocks = new Buffer[most.length];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = platform.device(i).allocate(Math.max(ALIGNMENT, most[i]));
            owned.push(blocks[i]);
        }
        return blocks;
    }

    private static long align(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /** Random numbers, as products of zeros take less power and so less time. */
    private static void fill(Buffer buffer) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment staging = arena.allocate(Math.min(STAGING_BYTES, buffer.bytes()), Long.BYTES);
            RandomData.fill(staging, ElementType.BF16, SEED, 0);
            for (long at = 0; at < buffer.bytes(); at += staging.byteSize()) {
                buffer.write(at, staging.asSlice(0, Math.min(staging.byteSize(), buffer.bytes() - at)));
            }
        }
    }

    private static GraphBindings bindings(CommandGraph graph, Buffer[] inputs, Buffer[] outputs) {
        GraphBindings bindings = new GraphBindings(graph);
        long[][] next = new long[2][inputs.length];
        for (Slot slot : graph.slots()) {
            int kind = slot.role() == Slot.Role.INPUT ? 0 : 1;
            Buffer block = (kind == 0 ? inputs : outputs)[slot.device()];
            // Parts go back with their block.
            bindings.bind(slot, block.suballocate(next[kind][slot.device()], slot.bytes(), part -> {}));
            next[kind][slot.device()] += align(slot.bytes());
        }
        return bindings;
    }

    // The host.

    private static ModelFitter.HostCosts host(Platform platform) {
        Device device = platform.device(0);
        boolean peer = platform.devices().size() > 1
                && platform.has(Capability.COPY_ENGINES)
                && platform.has(Capability.PEER_COPY);
        try (Stream stream = device.createStream();
                Event first = device.createEvent(EventOptions.timed());
                Event last = device.createEvent(EventOptions.timed());
                Buffer here = device.allocate(TINY);
                Buffer there = platform.device(peer ? 1 : 0).allocate(TINY)) {
            Command fill = new Command.Fill(vector(here), 0);
            double kernel = perCall(platform, stream, i -> stream.enqueue(fill));
            double copy = Double.NaN;
            if (peer) {
                Command send = new Command.Copy(vector(there), vector(here), CopyMethod.ENGINE);
                copy = perCall(platform, stream, i -> stream.enqueue(send));
            }
            double event = perCall(platform, stream, i -> stream.record(last));
            return new ModelFitter.HostCosts(kernel, copy, event, eager(platform, stream, fill, first, last));
        }
    }

    private static BufferView vector(Buffer buffer) {
        return buffer.vector(buffer.bytes(), ElementType.INT8);
    }

    private static double perCall(Platform platform, Stream stream, LongConsumer call) {
        double[] nanos = new double[HOST_ROUNDS];
        for (int round = 0; round < HOST_ROUNDS; round++) {
            stream.synchronize();
            long start = platform.nanoTime();
            for (int i = 0; i < CALLS; i++) {
                call.accept(i);
            }
            nanos[round] = (double) (platform.nanoTime() - start) / CALLS;
        }
        stream.synchronize();
        return median(nanos);
    }

    private static double eager(Platform platform, Stream stream, Command fill, Event first, Event last) {
        if (!platform.has(Capability.EVENT_TIMING)) {
            return Double.NaN;
        }
        double[] nanos = new double[HOST_ROUNDS];
        for (int round = 0; round < HOST_ROUNDS; round++) {
            stream.synchronize();
            stream.record(first);
            stream.enqueue(fill);
            stream.record(last);
            last.synchronize();
            nanos[round] = last.nanosSince(first);
        }
        return median(nanos);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
