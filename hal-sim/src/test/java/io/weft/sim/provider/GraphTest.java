// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.CollectiveKind;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.PerformanceModel;
import io.weft.spi.StreamDriver;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GraphTest {
    private static final int ROWS = 32;
    private static final int DEPTH = 64;
    private static final int COLUMNS = 48;
    private static final List<Priority> PRIORITIES = List.of(Priority.LOW, Priority.NORMAL, Priority.HIGH);

    /** Every rank gathers the others' rows chunk by chunk and multiplies each chunk as it comes. */
    private static CommandGraph gatherMultiply(int ranks, boolean dependencies) {
        CommandGraph.Builder graph = CommandGraph.builder(ranks);
        Slot[] a = new Slot[ranks];
        Slot[] all = new Slot[ranks];
        Slot[] b = new Slot[ranks];
        Slot[] c = new Slot[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            a[rank] = graph.slot(rank, "A.shard", 2L * ROWS * DEPTH, Slot.Role.INPUT);
            all[rank] = graph.slot(rank, "A", 2L * ROWS * DEPTH * ranks, Slot.Role.COMMUNICATION);
            b[rank] = graph.slot(rank, "B", 2L * DEPTH * COLUMNS, Slot.Role.INPUT);
            c[rank] = graph.slot(rank, "C", 2L * ROWS * COLUMNS * ranks, Slot.Role.OUTPUT);
        }
        ElementType type = ElementType.BF16;
        for (int rank = 0; rank < ranks; rank++) {
            BufferView gathered = BufferView.matrix(all[rank], 0, (long) ROWS * ranks, DEPTH, type);
            BufferView product = BufferView.matrix(c[rank], 0, (long) ROWS * ranks, COLUMNS, type);
            for (int step = 0; step < ranks; step++) {
                int peer = (rank + step) % ranks;
                BufferView chunk = gathered.rowRange((long) peer * ROWS, ROWS);
                int copy = graph.add(
                        rank,
                        1 + step % 3,
                        Priority.NORMAL,
                        new Command.Copy(
                                chunk,
                                BufferView.matrix(a[peer], 0, ROWS, DEPTH, type),
                                step == 0 ? CopyMethod.KERNEL : CopyMethod.ENGINE),
                        "copy " + peer);
                graph.add(
                        rank,
                        0,
                        Priority.HIGH,
                        Command.Gemm.of(
                                product.rowRange((long) peer * ROWS, ROWS),
                                chunk,
                                BufferView.matrix(b[rank], 0, DEPTH, COLUMNS, type)),
                        "gemm " + peer,
                        dependencies ? copy : -1);
            }
        }
        return graph.build();
    }

    /** Random but valid: copies, fills, reductions and products over some lanes, with some collectives. */
    private static CommandGraph random(long seed, int ranks) {
        Random random = new Random(seed);
        CommandGraph.Builder graph = CommandGraph.builder(ranks);
        int n = 16;
        List<List<Slot>> slots = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            List<Slot> mine = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                mine.add(graph.slot(rank, "s" + i, 4L * n * n, i == 0 ? Slot.Role.INPUT : Slot.Role.COMPUTE));
            }
            slots.add(mine);
        }
        for (int step = 0; step < 60; step++) {
            int rank = random.nextInt(ranks);
            int peer = random.nextInt(ranks);
            BufferView target = view(slots, rank, 1 + random.nextInt(3), n);
            BufferView source = view(slots, rank, random.nextInt(4), n);
            BufferView second = view(slots, rank, random.nextInt(4), n);
            int size = graph.size();
            int dependency = size == 0 ? -1 : random.nextInt(size);
            int lane = random.nextInt(3);
            Command command = switch (random.nextInt(5)) {
                case 0 ->
                    peer == rank
                            ? new Command.Fill(target, 0x3F800000)
                            : new Command.Copy(target, view(slots, peer, random.nextInt(4), n), CopyMethod.AUTO);
                case 1 -> new Command.Reduce(target, List.of(source, second), ReduceOp.MAX);
                case 2 ->
                    new Command.CopyStrided(
                            target.columnRange(2, 5), view(slots, peer, 0, n).columnRange(3, 5), CopyMethod.AUTO);
                default ->
                    target.memory().equals(source.memory()) || target.memory().equals(second.memory())
                            ? new Command.Fill(target, 0x40000000)
                            : Command.Gemm.of(target, source, second);
            };
            graph.add(rank, lane, PRIORITIES.get(random.nextInt(3)), command, "n" + step, dependency, size - 1);
            if (step % 20 == 19) {
                for (int r = 0; r < ranks; r++) {
                    BufferView all = view(slots, r, 1, n);
                    graph.add(
                            r,
                            3,
                            Priority.NORMAL,
                            new Command.Collective(
                                    CollectiveKind.ALL_REDUCE,
                                    ReduceOp.MAX,
                                    r,
                                    ranks,
                                    0,
                                    all,
                                    all,
                                    List.of(),
                                    List.of(),
                                    step),
                            "all-reduce",
                            graph.size() - 1 - r);
                }
            }
        }
        return graph.build();
    }

    private static BufferView view(List<List<Slot>> slots, int rank, int slot, int n) {
        return BufferView.matrix(slots.get(rank).get(slot), 0, n, n, ElementType.FP32);
    }

    private static GraphBindings bind(Platform platform, CommandGraph graph, boolean storage) {
        GraphBindings bindings = new GraphBindings(graph);
        for (Slot slot : graph.slots()) {
            Buffer buffer = platform.device(slot.device()).allocate(slot.bytes());
            if (storage) {
                ElementType type = slot.name().startsWith("s") ? ElementType.FP32 : ElementType.BF16;
                if (slot.role() == Slot.Role.INPUT || slot.name().startsWith("s")) {
                    buffer.write(
                            0,
                            MemorySegment.ofArray(Sim.random(type, (int) (slot.bytes() / type.bytes()), slot.index())));
                }
            }
            bindings.bind(slot, buffer);
        }
        return bindings;
    }

    private record Outcome(Timeline timeline, List<byte[]> buffers) {}

    private static Outcome run(String uri, CommandGraph graph) {
        try (Platform platform = Sim.open(uri)) {
            boolean storage = platform.has(Capability.STORAGE);
            GraphBindings bindings = bind(platform, graph, storage);
            GraphDriver driver = platform.extension(GraphDriver.class).orElseThrow();
            GraphExecutable executable =
                    driver.instantiate(graph, platform.driver().devices().subList(0, graph.deviceCount()));
            launch(platform, executable, bindings);
            platform.synchronize();
            List<byte[]> buffers = new ArrayList<>();
            if (storage) {
                for (Slot slot : graph.slots()) {
                    buffers.add(Sim.read(bindings.require(slot), (int) slot.bytes()));
                }
            }
            Timeline timeline = executable.lastTimeline().orElseThrow();
            executable.close();
            return new Outcome(timeline, buffers);
        }
    }

    private static List<Stream> launch(Platform platform, GraphExecutable executable, GraphBindings bindings) {
        List<Stream> streams = new ArrayList<>();
        List<StreamDriver> drivers = new ArrayList<>();
        for (int i = 0; i < bindings.graph().deviceCount(); i++) {
            Stream stream = platform.device(i).createStream();
            streams.add(stream);
            drivers.add(stream.driver());
        }
        executable.launch(bindings, drivers);
        return streams;
    }

    private static void assertSameTimeline(Timeline expected, Timeline actual, String what) {
        for (int node = 0; node < expected.graph().size(); node++) {
            String name = what + ", node " + node + " (" + expected.graph().label(node) + ")";
            assertEquals(expected.startNanos(node), actual.startNanos(node), 0, "start, " + name);
            assertEquals(expected.endNanos(node), actual.endNanos(node), 0, "end, " + name);
        }
        assertEquals(expected.makespanNanos(), actual.makespanNanos(), 0, what);
    }

    /** What the run used is what the estimate says; the estimate also lists what nobody used. */
    private static void assertSameUse(Timeline estimate, Timeline run) {
        assertTrue(run.resources().size() > 2 * run.graph().deviceCount());
        for (Timeline.Resource used : run.resources()) {
            Timeline.Resource expected = estimate.resources().stream()
                    .filter(other -> other.name().equals(used.name()))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(used.name()));
            assertEquals(expected.kind(), used.kind(), used.name());
            assertEquals(expected.device(), used.device(), used.name());
            assertEquals(expected.peer(), used.peer(), used.name());
            assertEquals(expected.units(), used.units(), 1e-9 * expected.units(), used.name());
            assertEquals(expected.busyNanos(), used.busyNanos(), 1e-3, used.name());
        }
    }

    @Test
    void functionalRunTimingRunAndEstimateHaveOneTimeline() {
        for (CommandGraph graph :
                List.of(gatherMultiply(4, true), gatherMultiply(8, false), random(1, 3), random(2, 8))) {
            Timeline functional = run("sim:mesh-8", graph).timeline();
            Timeline timing = run("sim:mesh-8?mode=timing", graph).timeline();
            assertSameTimeline(functional, timing, "functional and timing");
            try (Platform platform = Sim.open("sim:mesh-8?mode=timing")) {
                Timeline estimate = platform.extension(PerformanceModel.class)
                        .orElseThrow()
                        .estimate(graph, PerformanceModel.Issue.DEVICE_GRAPH, PerformanceModel.Detail.SUMMARY);
                assertSameTimeline(estimate, functional, "estimate and run");
                assertSameUse(estimate, functional);
            }
            assertTrue(functional.makespanNanos() > 0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ring-4", "switch-8", "node-2x8"})
    void runAndEstimateAgreeOnEveryKindOfMachine(String machine) {
        CommandGraph graph = gatherMultiply(4, true);
        Outcome functional = run("sim:" + machine, graph);
        assertEquals(
                functional.buffers().size(), run("sim:mesh-8", graph).buffers().size());
        for (Slot slot : graph.slots()) {
            if (slot.name().equals("C")) {
                assertArrayEquals(
                        product(functional, graph, slot.device()),
                        functional.buffers().get(slot.index()));
            }
        }
        try (Platform platform = Sim.open("sim:" + machine + "?mode=timing")) {
            Timeline estimate = platform.extension(PerformanceModel.class)
                    .orElseThrow()
                    .estimate(graph, PerformanceModel.Issue.DEVICE_GRAPH, PerformanceModel.Detail.SUMMARY);
            assertSameTimeline(estimate, functional.timeline(), machine);
        }
    }

    @Test
    void issuingAGraphByStreamsTakesTheTimeThatIsPredictedForIt() {
        CommandGraph graph = gatherMultiply(4, true);
        try (Platform platform = Sim.open("sim:mesh-8?mode=timing")) {
            GraphBindings bindings = bind(platform, graph, false);
            Timeline estimate = platform.extension(PerformanceModel.class)
                    .orElseThrow()
                    .estimate(graph, PerformanceModel.Issue.STREAMS, PerformanceModel.Detail.SUMMARY);
            Stream[][] streams = new Stream[graph.deviceCount()][graph.laneCount()];
            for (int rank = 0; rank < streams.length; rank++) {
                for (int lane = 0; lane < streams[rank].length; lane++) {
                    streams[rank][lane] = platform.device(rank)
                            .createStream(
                                    StreamOptions.defaults().withPriority(lane == 0 ? Priority.HIGH : Priority.NORMAL));
                }
            }
            Event[] events = new Event[graph.size()];
            for (int node = 0; node < graph.size(); node++) {
                Stream stream = streams[graph.device(node)][graph.lane(node)];
                for (int dependency : graph.dependencies(node)) {
                    stream.waitFor(events[dependency]);
                }
                stream.enqueue(graph.command(node).rebind(memory -> bindings.require((Slot) memory)));
                if (graph.command(node) instanceof Command.Copy) {
                    events[node] = platform.device(graph.device(node)).createEvent(EventOptions.timed());
                    stream.record(events[node]);
                }
            }
            platform.synchronize();
            int compared = 0;
            for (int node = 0; node < graph.size(); node++) {
                if (events[node] != null) {
                    assertEquals(estimate.endNanos(node), events[node].driver().timestampNanos(), 0, graph.label(node));
                    compared++;
                }
            }
            assertEquals(16, compared);
        }
    }

    @Test
    void aGraphComputesWhatItsNodesSayAndADroppedDependencyShows() {
        CommandGraph graph = gatherMultiply(4, true);
        Outcome right = run("sim:mesh-8", graph);
        Outcome again = run("sim:mesh-8", graph);
        Outcome wrong = run("sim:mesh-8", gatherMultiply(4, false));
        for (Slot slot : graph.slots()) {
            assertArrayEquals(right.buffers().get(slot.index()), again.buffers().get(slot.index()));
            if (slot.name().equals("C")) {
                assertArrayEquals(
                        product(right, graph, slot.device()),
                        right.buffers().get(slot.index()),
                        "rank " + slot.device());
                assertTrue(
                        !Arrays.equals(
                                right.buffers().get(slot.index()),
                                wrong.buffers().get(slot.index())),
                        "the missing dependencies must show");
            }
        }
    }

    /** The product by the words of Command.Gemm. */
    private static byte[] product(Outcome outcome, CommandGraph graph, int rank) {
        int ranks = graph.deviceCount();
        byte[] result = new byte[2 * ROWS * COLUMNS * ranks];
        byte[] b = slot(outcome, graph, rank, "B");
        for (int row = 0; row < ROWS * ranks; row++) {
            byte[] a = slot(outcome, graph, row / ROWS, "A.shard");
            for (int column = 0; column < COLUMNS; column++) {
                float sum = 0;
                for (int k = 0; k < DEPTH; k++) {
                    sum = Math.fma(bf16(a, row % ROWS * DEPTH + k), bf16(b, k * COLUMNS + column), sum);
                }
                int bits = ElementType.BF16.encode(sum);
                result[2 * (row * COLUMNS + column)] = (byte) bits;
                result[2 * (row * COLUMNS + column) + 1] = (byte) (bits >> 8);
            }
        }
        return result;
    }

    private static byte[] slot(Outcome outcome, CommandGraph graph, int rank, String name) {
        return graph.slots().stream()
                .filter(slot -> slot.device() == rank && slot.name().equals(name))
                .map(slot -> outcome.buffers().get(slot.index()))
                .findFirst()
                .orElseThrow();
    }

    private static float bf16(byte[] data, int index) {
        return ElementType.BF16.decode((data[2 * index] & 0xFF) | data[2 * index + 1] << 8);
    }

    @Test
    void aGraphStartsAfterEarlierWorkOfItsStreamsAndLaterWorkComesAfterIt() {
        CommandGraph.Builder builder = CommandGraph.builder(2);
        Slot source = builder.slot(0, "source", 1 << 20, Slot.Role.INPUT);
        Slot target = builder.slot(1, "target", 1 << 20, Slot.Role.OUTPUT);
        builder.add(
                1,
                0,
                Priority.NORMAL,
                new Command.Copy(
                        BufferView.vector(target, 0, 1 << 20, ElementType.INT8),
                        BufferView.vector(source, 0, 1 << 20, ElementType.INT8),
                        CopyMethod.ENGINE),
                "copy");
        CommandGraph graph = builder.build();
        try (Platform platform = Sim.mesh();
                Stream s0 = platform.device(0).createStream();
                Stream s1 = platform.device(1).createStream()) {
            Buffer from = platform.device(0).allocate(1 << 20);
            Buffer to = platform.device(1).allocate(1 << 20);
            Buffer after = platform.device(0).allocate(1 << 20);
            GraphExecutable executable = platform.extension(GraphDriver.class)
                    .orElseThrow()
                    .instantiate(graph, platform.driver().devices().subList(0, 2));
            GraphBindings bindings = new GraphBindings(graph).bind(source, from).bind(target, to);
            s1.fill(to.vector(1 << 20, ElementType.INT8), 1);
            for (int round = 0; round < 3; round++) {
                s0.fill(from.vector(1 << 20, ElementType.INT8), 5 + round);
                s0.synchronize();
                executable.launch(bindings, List.of(s0.driver(), s1.driver()));
                s0.copy(after.vector(1 << 20, ElementType.INT8), to.vector(1 << 20, ElementType.INT8));
                s0.synchronize();
                assertArrayEquals(Sim.filled(1 << 20, 5 + round), Sim.read(after, 1 << 20));
            }
            executable.close();
        }
    }

    @Test
    void aGraphIsCheckedWhenItIsPrepared() {
        CommandGraph.Builder builder = CommandGraph.builder(2);
        Slot a = builder.slot(0, "a", 64, Slot.Role.INPUT);
        Slot b = builder.slot(1, "b", 64, Slot.Role.OUTPUT);
        builder.add(
                0, 0, Priority.NORMAL, new Command.Fill(BufferView.vector(b, 0, 16, ElementType.FP32), 0), "far fill");
        CommandGraph far = builder.build();
        CommandGraph.Builder lonely = CommandGraph.builder(2);
        Slot c = lonely.slot(0, "c", 64, Slot.Role.INPUT);
        BufferView part = BufferView.vector(c, 0, 16, ElementType.FP32);
        lonely.add(
                0,
                0,
                Priority.NORMAL,
                new Command.Collective(
                        CollectiveKind.ALL_REDUCE, ReduceOp.SUM, 0, 2, 0, part, part, List.of(), List.of(), 4),
                "half a collective");
        try (Platform platform = Sim.mesh()) {
            GraphDriver driver = platform.extension(GraphDriver.class).orElseThrow();
            assertEquals(0, a.device());
            Sim.refused(
                    ErrorCode.WRONG_DEVICE,
                    () -> driver.instantiate(far, platform.driver().devices().subList(0, 2)),
                    "node 0 (far fill)",
                    "device 1");
            Sim.refused(
                    ErrorCode.COLLECTIVE_MISMATCH,
                    () -> driver.instantiate(
                            lonely.build(), platform.driver().devices().subList(0, 2)),
                    "key 4",
                    "2 ranks");
            Sim.refused(
                    ErrorCode.INVALID_ARGUMENT,
                    () -> driver.instantiate(far, platform.driver().devices()),
                    "8 devices");
        }
    }

    @Test
    void aNodeThatFailsFailsTheStreamsOfTheGraph() {
        CommandGraph graph = gatherMultiply(2, true);
        AcceleratorException cause = new AcceleratorException(ErrorCode.VENDOR, "kernel", "an injected fault");
        try (Platform platform = Sim.mesh()) {
            GraphBindings bindings = bind(platform, graph, true);
            platform.extension(SimFaults.class).orElseThrow().failCommand(1, 2, cause);
            GraphExecutable executable = platform.extension(GraphDriver.class)
                    .orElseThrow()
                    .instantiate(graph, platform.driver().devices().subList(0, 2));
            for (Stream stream : launch(platform, executable, bindings)) {
                Sim.refused(ErrorCode.STREAM_FAILED, stream::synchronize, "injected fault");
            }
            assertTrue(executable.lastTimeline().isEmpty());
        }
    }
}
