// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.api.numeric.RandomData;
import io.weft.spi.GemmTuning;
import io.weft.spi.PerformanceModel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Chooses the algorithm of every product in a schedule by timing those that the library offers, on platforms that offer several ({@link GemmTuning}). Keeps the choice in a tuning file, so that a shape is measured once. Does nothing on other
 * platforms. Not for several threads at once.
 */
public final class GemmTuner {
    private static final int MOST_VARIANTS = 8;
    private static final int WARM_UP = 2;
    private static final int ROUNDS = 7;

    /** An algorithm must beat the library's own preference by this much; less is noise, and the preference has reasons that one product alone does not show. */
    private static final double GAIN = 0.01;

    private static final long SEED = 1;
    private static final long STAGING_BYTES = 64L << 20;

    private final Communicator communicator;
    private final Optional<GemmTuning> tuning;
    private final TuningFile file;
    private final String platform;
    private final Map<GemmTuning.Shape, String> chosen = new LinkedHashMap<>();

    /** A tuner for the devices of a communicator, all of which get the choice that is made on the first. */
    public GemmTuner(Communicator communicator, TuningFile file) {
        this.communicator = communicator;
        this.file = file;
        Platform on = communicator.platform();
        tuning = on.extension(GemmTuning.class);
        platform = TuningFile.platform(on);
    }

    /** Whether there is anything to choose. */
    public boolean isUseful() {
        return tuning.isPresent();
    }

    /** What was chosen so far, by shape. */
    public Map<GemmTuning.Shape, String> chosen() {
        return Map.copyOf(chosen);
    }

    /** Makes sure that every product of these schedules has its algorithm. Call it before their graphs are prepared. */
    public void tune(List<LoweredSchedule> schedules) {
        if (tuning.isEmpty()) {
            return;
        }
        Map<GemmTuning.Shape, Command.Gemm> shapes = new LinkedHashMap<>();
        for (LoweredSchedule schedule : schedules) {
            CommandGraph graph = schedule.graph();
            for (int node = 0; node < graph.size(); node++) {
                if (graph.command(node) instanceof Command.Gemm gemm && gemm.batch() == 1) {
                    shapes.putIfAbsent(GemmTuning.Shape.of(gemm), gemm);
                }
            }
        }
        for (Map.Entry<GemmTuning.Shape, Command.Gemm> entry : shapes.entrySet()) {
            if (!chosen.containsKey(entry.getKey())) {
                chosen.put(entry.getKey(), choose(entry.getKey()));
            }
        }
    }

    private String choose(GemmTuning.Shape shape) {
        Optional<String> kept = file.gemm(platform, shape.toString());
        if (kept.isPresent()) {
            try {
                use(shape, kept.get());
                return kept.get();
            } catch (AcceleratorException gone) {
                if (gone.code() != ErrorCode.INVALID_ARGUMENT) {
                    throw gone;
                }
                // The library no longer has it: measured anew.
            }
        }
        String best = measure(shape);
        use(shape, best);
        file.putGemm(
                platform,
                shape.toString(),
                best,
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        return best;
    }

    private void use(GemmTuning.Shape shape, String variant) {
        Set<Device> devices = new LinkedHashSet<>();
        for (int rank = 0; rank < communicator.size(); rank++) {
            devices.add(communicator.device(rank));
        }
        devices.forEach(device -> tuning.orElseThrow().choose(device.driver(), shape, variant));
    }

    private String measure(GemmTuning.Shape shape) {
        Device device = communicator.device(0);
        List<String> variants = tuning.orElseThrow().variants(device.driver(), shape, MOST_VARIANTS);
        if (variants.size() == 1) {
            return variants.getFirst();
        }
        CommandGraph.Builder builder = CommandGraph.builder(1);
        Slot a = builder.slot(0, "A", shape.m() * shape.k() * shape.operands().bytes(), Slot.Role.INPUT);
        Slot b = builder.slot(0, "B", shape.k() * shape.n() * shape.operands().bytes(), Slot.Role.INPUT);
        Slot c = builder.slot(0, "C", shape.m() * shape.n() * shape.result().bytes(), Slot.Role.OUTPUT);
        builder.add(0, 0, Priority.NORMAL, command(shape, a, b, c), "gemm");
        CommandGraph graph = builder.build();
        List<GraphTimer.Timed> prepared = new ArrayList<>();
        try (Buffer bufferA = device.allocate(a.bytes());
                Buffer bufferB = device.allocate(b.bytes());
                Buffer bufferC = device.allocate(c.bytes());
                GraphTimer timer = GraphTimer.over(communicator)) {
            for (Buffer buffer : List.of(bufferA, bufferB, bufferC)) {
                fill(buffer);
            }
            GraphBindings bindings =
                    new GraphBindings(graph).bind(a, bufferA).bind(b, bufferB).bind(c, bufferC);
            List<Supplier<GraphTimer.Sample>> runs = new ArrayList<>();
            boolean graphs = communicator.platform().has(Capability.DEVICE_GRAPHS);
            for (String variant : variants) {
                tuning.orElseThrow().choose(device.driver(), shape, variant);
                GraphTimer.Timed ready = timer.prepare(
                        graph, graphs ? PerformanceModel.Issue.DEVICE_GRAPH : PerformanceModel.Issue.STREAMS);
                prepared.add(ready);
                ready.bind(bindings);
                runs.add(() -> {
                    // A graph keeps what was chosen when it was made; commands on streams follow the present choice.
                    if (!graphs) {
                        tuning.orElseThrow().choose(device.driver(), shape, variant);
                    }
                    return ready.run();
                });
            }
            List<Repetitions> times = Repetitions.inTurn(runs, WARM_UP, ROUNDS, () -> {});
            int best = 0;
            for (int i = 1; i < variants.size(); i++) {
                best = times.get(i).median() < times.get(best).median() ? i : best;
            }
            boolean worthIt = times.get(best).median() < times.getFirst().median() * (1 - GAIN);
            return variants.get(worthIt ? best : 0);
        } finally {
            prepared.forEach(GraphTimer.Timed::close);
        }
    }

    private static Command.Gemm command(GemmTuning.Shape shape, Slot a, Slot b, Slot c) {
        ElementType type = shape.operands();
        BufferView left = shape.transposeA()
                ? BufferView.matrix(a, 0, shape.k(), shape.m(), type)
                : BufferView.matrix(a, 0, shape.m(), shape.k(), type);
        BufferView right = shape.transposeB()
                ? BufferView.matrix(b, 0, shape.n(), shape.k(), type)
                : BufferView.matrix(b, 0, shape.k(), shape.n(), type);
        return new Command.Gemm(
                BufferView.matrix(c, 0, shape.m(), shape.n(), shape.result()),
                left,
                right,
                shape.transposeA(),
                shape.transposeB(),
                1,
                shape.accumulates() ? 1 : 0,
                1,
                0,
                0,
                0);
    }

    /** Random numbers, as products of zeros take less power and so less time. */
    private void fill(Buffer buffer) {
        if (!communicator.platform().has(Capability.STORAGE)) {
            return;
        }
        try (Arena arena = Arena.ofShared()) {
            MemorySegment staging = arena.allocate(Math.min(STAGING_BYTES, buffer.bytes()), Long.BYTES);
            RandomData.fill(staging, ElementType.BF16, SEED, 0);
            for (long at = 0; at < buffer.bytes(); at += staging.byteSize()) {
                buffer.write(at, staging.asSlice(0, Math.min(staging.byteSize(), buffer.bytes() - at)));
            }
        }
    }
}
