// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Memory;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.api.numeric.RandomData;
import io.weft.spi.GemmTuningDriver;
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

/**
 * Chooses the kernel of every product in a schedule by timing those that the library offers, on platforms that offer several ({@link GemmTuningDriver}). Keeps the choice in a tuning file, so that a product is measured once. Does nothing on
 * other platforms. Not for several threads at once.
 */
public final class GemmTuner {
    private static final int MOST_KERNELS = 8;
    /** Rounds over all kernels, so that clocks that drift touch all of them alike. */
    private static final int PASSES = 2;
    /** Runs after a change that do not count: a graph is made anew in the first of them. */
    private static final int WARM_UP = 2;

    private static final int RUNS = 4;

    /** A kernel must beat the library's favourite by this much; less is noise, and a favourite has reasons that one product alone does not show. */
    private static final double GAIN = 0.01;

    private static final long SEED = 1;
    private static final long STAGING_BYTES = 64L << 20;

    private final Communicator communicator;
    private final Optional<GemmTuningDriver> tuning;
    private final TuningFile file;
    private final String platform;
    private final Map<String, String> chosen = new LinkedHashMap<>();

    /** A tuner for the devices of a communicator, all of which get the choice that is made on the first that needs it. */
    public GemmTuner(Communicator communicator, TuningFile file) {
        this.communicator = communicator;
        this.file = file;
        Platform on = communicator.platform();
        tuning = on.extension(GemmTuningDriver.class);
        platform = TuningFile.platform(on);
    }

    /** Whether there is anything to choose. */
    public boolean isUseful() {
        return tuning.isPresent();
    }

    /** What was chosen so far, by product. */
    public Map<String, String> chosen() {
        return Map.copyOf(chosen);
    }

    /** Makes sure that every product of these schedules has its kernel. Call it before their graphs are prepared. */
    public void tune(List<LoweredSchedule> schedules) {
        tuneGraphs(schedules.stream().map(LoweredSchedule::graph).toList());
    }

    /** The same for any graphs whose device i is rank i. */
    public void tuneGraphs(List<CommandGraph> graphs) {
        if (tuning.isEmpty()) {
            return;
        }
        for (CommandGraph graph : graphs) {
            for (int node = 0; node < graph.size(); node++) {
                if (graph.command(node) instanceof Command.Gemm gemm) {
                    tune(communicator.device(graph.device(node)), gemm);
                }
            }
        }
    }

    private void tune(Device device, Command.Gemm gemm) {
        String key = key(gemm);
        String id = chosen.get(key);
        if (id == null) {
            id = file.gemm(platform, key).orElse("");
            // A kernel that the library no longer has was written by another version: measured anew.
            if (id.isEmpty() || !tuning.orElseThrow().choose(device.driver(), gemm, id)) {
                id = measure(device, gemm);
                if (id.isEmpty()) {
                    return;
                }
                file.putGemm(
                        platform,
                        key,
                        id,
                        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
            }
            chosen.put(key, id);
        }
        if (!tuning.orElseThrow().chosen(device.driver(), gemm).equals(Optional.of(id))) {
            tuning.orElseThrow().choose(device.driver(), gemm, id);
        }
    }

    /** A product's sizes, types and pitches; stable, for files. */
    private static String key(Command.Gemm g) {
        return g.m() + "x" + g.n() + "x" + g.k() + " " + g.a().type()
                + (g.c().type() == g.a().type() ? "" : ">" + g.c().type())
                + (g.transposeA() ? " AT" : "") + (g.transposeB() ? " BT" : "")
                + (g.beta() == 0 ? "" : " +C") + (g.batch() == 1 ? "" : " batch " + g.batch())
                + pitch(" a", g.a()) + pitch(" b", g.b()) + pitch(" c", g.c());
    }

    private static String pitch(String name, BufferView view) {
        return view.isContiguous() ? "" : name + view.pitch();
    }

    /** The fastest kernel's id; empty when there is no choice. */
    private String measure(Device device, Command.Gemm gemm) {
        GemmTuningDriver driver = tuning.orElseThrow();
        List<String> ids = driver.kernels(device.driver(), gemm).stream()
                .limit(MOST_KERNELS)
                .map(GemmTuningDriver.Kernel::id)
                .toList();
        if (ids.size() < 2) {
            return ids.isEmpty() ? "" : ids.getFirst();
        }
        int rank = 0;
        while (communicator.device(rank) != device) {
            rank++;
        }
        CommandGraph.Builder builder = CommandGraph.builder(rank + 1);
        Map<Memory, Slot> slots = new LinkedHashMap<>();
        int on = rank;
        Command.Gemm own = gemm.rebind(memory ->
                slots.computeIfAbsent(memory, old -> builder.slot(on, "operand", old.bytes(), Slot.Role.OUTPUT)));
        builder.add(rank, 0, Priority.NORMAL, own, "gemm");
        CommandGraph graph = builder.build();
        Deque<Buffer> buffers = new ArrayDeque<>();
        try (GraphTimer timer = GraphTimer.over(communicator);
                GraphTimer.Timed timed = timer.prepare(
                        graph,
                        communicator.platform().has(Capability.DEVICE_GRAPHS)
                                ? PerformanceModel.Issue.DEVICE_GRAPH
                                : PerformanceModel.Issue.STREAMS)) {
            GraphBindings bindings = new GraphBindings(graph);
            for (Slot slot : slots.values()) {
                buffers.push(device.allocate(Math.max(1, slot.bytes())));
                fill(buffers.peek());
                bindings.bind(slot, buffers.peek());
            }
            timed.bind(bindings);
            List<List<Double>> nanos = new ArrayList<>();
            ids.forEach(id -> nanos.add(new ArrayList<>()));
            for (int pass = 0; pass < PASSES; pass++) {
                for (int i = 0; i < ids.size(); i++) {
                    driver.choose(device.driver(), gemm, ids.get(i));
                    for (int run = -WARM_UP; run < RUNS; run++) {
                        double time = timed.run().nanos();
                        if (run >= 0) {
                            nanos.get(i).add(time);
                        }
                    }
                }
            }
            double[] medians = nanos.stream().mapToDouble(GemmTuner::median).toArray();
            int best = 0;
            for (int i = 1; i < medians.length; i++) {
                best = medians[i] < medians[best] ? i : best;
            }
            return ids.get(medians[best] < medians[0] * (1 - GAIN) ? best : 0);
        } finally {
            buffers.forEach(Buffer::close);
        }
    }

    private static double median(List<Double> values) {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
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
