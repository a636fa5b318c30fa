// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.NotApplicable;
import io.weft.conformance.graph.GraphRuns;
import io.weft.conformance.reference.GraphInterpreter;
import io.weft.spi.FaultDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.StreamDriver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Command graphs as one launch. Order is proved by data: what must wait reads what a slower node writes. */
final class GraphProofs {
    private static final ElementType TYPE = ElementType.FP32;

    /** Elements that take a device much longer to move than a short node takes to start. */
    private static final int SLOW = 1 << 18;

    private static final int SHORT = 64;

    /** A prepared graph that the bench closes. */
    private static GraphExecutable prepare(Bench bench, CommandGraph graph, List<Device> devices) {
        GraphExecutable executable = bench.extension(GraphDriver.class)
                .instantiate(graph, devices.stream().map(Device::driver).toList());
        return bench.closing("a prepared graph", new Closing(executable)).executable;
    }

    private record Closing(GraphExecutable executable) implements AutoCloseable {
        @Override
        public void close() {
            executable.close();
        }
    }

    private static void refusesToPrepare(
            Bench bench, String what, CommandGraph graph, List<Device> devices, ErrorCode... codes) {
        bench.refuses(what, () -> prepare(bench, graph, devices), codes);
    }

    private static List<StreamDriver> drivers(List<Stream> streams) {
        return streams.stream().map(Stream::driver).toList();
    }

    private static List<Stream> streams(Bench bench, List<Device> devices) {
        return devices.stream().map(bench::stream).toList();
    }

    /** Buffers with whole numbers for every slot. */
    private static GraphBindings bind(Bench bench, CommandGraph graph, List<Device> devices) {
        GraphBindings bindings = new GraphBindings(graph);
        for (Slot slot : graph.slots()) {
            int[] bits = Elements.whole(bench, TYPE, (int) (slot.bytes() / 4), 4);
            bindings.bind(slot, bench.upload(devices.get(slot.device()), Elements.bytes(TYPE, bits)));
        }
        return bindings;
    }

    private static byte[][] contents(Bench bench, CommandGraph graph, GraphBindings bindings) {
        return graph.slots().stream()
                .map(slot -> Arrays.copyOf(bench.download(bindings.require(slot)), (int) slot.bytes()))
                .toArray(byte[][]::new);
    }

    /** What every slot should hold after one run over its present content. */
    private static byte[][] expected(Bench bench, CommandGraph graph, GraphBindings bindings) {
        byte[][] slots = contents(bench, graph, bindings);
        GraphInterpreter interpreter = new GraphInterpreter(graph, slots);
        interpreter.run();
        interpreter.inexact().ifPresent(reason -> {
            throw new IllegalStateException("a proof's own graph is not exact: " + reason);
        });
        return slots;
    }

    private static void holds(Bench bench, String what, CommandGraph graph, GraphBindings bindings, byte[][] expected) {
        for (Slot slot : graph.slots()) {
            bench.sameBytes(
                    what + ": slot " + slot.name() + " of graph device " + slot.device(),
                    expected[slot.index()],
                    Arrays.copyOf(bench.download(bindings.require(slot)), (int) slot.bytes()));
        }
    }

    private static void launch(GraphExecutable executable, GraphBindings bindings, List<Stream> streams) {
        executable.launch(bindings, drivers(streams));
    }

    /** Prepares, launches once, waits, and requires what the interpreter says. */
    private static void runs(Bench bench, String what, CommandGraph graph, List<Device> devices) {
        GraphBindings bindings = bind(bench, graph, devices);
        byte[][] expected = expected(bench, graph, bindings);
        GraphExecutable executable = prepare(bench, graph, devices);
        List<Stream> streams = streams(bench, devices);
        bench.step(what);
        launch(executable, bindings, streams);
        streams.forEach(Stream::synchronize);
        holds(bench, what, graph, bindings, expected);
    }

    private static Command copy(Slot to, Slot from, int count) {
        return new Command.Copy(
                BufferView.vector(to, 0, count, TYPE), BufferView.vector(from, 0, count, TYPE), CopyMethod.AUTO);
    }

    private static Command fill(Slot slot, int count, float value) {
        return new Command.Fill(BufferView.vector(slot, 0, count, TYPE), Float.floatToRawIntBits(value));
    }

    private static Command add(Slot to, Slot a, Slot b, int count) {
        return new Command.Reduce(
                BufferView.vector(to, 0, count, TYPE),
                List.of(BufferView.vector(a, 0, count, TYPE), BufferView.vector(b, 0, count, TYPE)),
                ReduceOp.SUM);
    }

    private static Slot slot(CommandGraph.Builder graph, int device, String name, int count) {
        return graph.slot(device, name, count * 4L, Slot.Role.OUTPUT);
    }

    /** One node that copies. */
    private static CommandGraph oneCopy(int count) {
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot from = slot(graph, 0, "from", count);
        Slot to = slot(graph, 0, "to", count);
        graph.add(0, 0, Priority.NORMAL, copy(to, from, count), "copy");
        return graph.build();
    }

    @Proves("GRF-002")
    void everyKindOfNodeRuns(Bench bench) {
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot a = slot(graph, 0, "a", SHORT);
        Slot b = slot(graph, 0, "b", SHORT);
        Slot c = slot(graph, 0, "c", SHORT);
        Slot d = slot(graph, 0, "d", SHORT);
        Slot e = slot(graph, 0, "e", SHORT);
        int first = graph.add(0, 0, Priority.NORMAL, copy(b, a, SHORT), "copy");
        int second = graph.add(
                0,
                0,
                Priority.NORMAL,
                new Command.CopyStrided(
                        BufferView.pitched(c, 0, 4, 8, 16, TYPE),
                        BufferView.pitched(b, 0, 4, 8, 12, TYPE),
                        CopyMethod.AUTO),
                "strided",
                first);
        int third = graph.add(
                0,
                0,
                Priority.NORMAL,
                new Command.Fill(BufferView.vector(c, 240, 4, TYPE), 0x40400000),
                "fill",
                second);
        int fourth = graph.add(0, 0, Priority.NORMAL, add(d, c, b, SHORT), "reduce", third);
        if (bench.device().properties().gemmTypes().contains(TYPE)) {
            graph.add(
                    0,
                    0,
                    Priority.NORMAL,
                    Command.Gemm.accumulate(
                            BufferView.matrix(e, 0, 8, 8, TYPE),
                            BufferView.matrix(a, 0, 8, 8, TYPE),
                            BufferView.matrix(b, 0, 8, 8, TYPE)),
                    "gemm",
                    fourth);
        }
        runs(bench, "a graph with every kind of node", graph.build(), List.of(bench.device()));
    }

    @Proves("GRF-003")
    void aDependencyIsWaitedForAcrossLanes(Bench bench) {
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot from = slot(graph, 0, "from", SLOW);
        Slot middle = slot(graph, 0, "middle", SLOW);
        Slot to = slot(graph, 0, "to", SHORT);
        int slow = graph.add(0, 0, Priority.NORMAL, copy(middle, from, SLOW), "slow");
        graph.add(0, 1, Priority.NORMAL, copy(to, middle, SHORT), "short", slow);
        runs(bench, "a short node behind a slow one on another lane", graph.build(), List.of(bench.device()));
        // And the other way round: what is still read must not be overwritten.
        CommandGraph.Builder back = CommandGraph.builder(1);
        Slot source = slot(back, 0, "source", SLOW);
        Slot result = slot(back, 0, "result", SLOW);
        int reader = back.add(0, 0, Priority.NORMAL, copy(result, source, SLOW), "reader");
        back.add(0, 1, Priority.NORMAL, fill(source, SHORT, 7), "writer", reader);
        runs(bench, "a write behind a slow read on another lane", back.build(), List.of(bench.device()));
    }

    @Proves("GRF-004")
    void aDependencyIsWaitedForAcrossDevices(Bench bench) {
        List<Device> pair = bench.copyablePair();
        CommandGraph.Builder graph = CommandGraph.builder(2);
        Slot from = slot(graph, 0, "from", SLOW);
        Slot middle = slot(graph, 1, "middle", SLOW);
        Slot to = slot(graph, 1, "to", SHORT);
        int slow = graph.add(0, 0, Priority.NORMAL, copy(middle, from, SLOW), "push");
        graph.add(1, 0, Priority.NORMAL, copy(to, middle, SHORT), "short", slow);
        runs(bench, "a short node behind another device's slow copy", graph.build(), pair);
    }

    @Proves("GRF-005")
    void allDependenciesAreWaitedFor(Bench bench) {
        for (int last = 0; last < 2; last++) {
            CommandGraph.Builder graph = CommandGraph.builder(1);
            Slot from = slot(graph, 0, "from", SLOW);
            Slot slow = slot(graph, 0, "slow", SLOW);
            Slot quick = slot(graph, 0, "quick", SHORT);
            Slot to = slot(graph, 0, "to", SHORT);
            int first = graph.add(
                    0, 0, Priority.NORMAL, last == 0 ? copy(slow, from, SLOW) : copy(quick, from, SHORT), "first");
            int second = graph.add(
                    0, 1, Priority.NORMAL, last == 0 ? copy(quick, from, SHORT) : copy(slow, from, SLOW), "second");
            graph.add(0, 2, Priority.NORMAL, add(to, slow, quick, SHORT), "join", first, second);
            runs(
                    bench,
                    "a node behind two others, the " + (last == 0 ? "first" : "second") + " slow",
                    graph.build(),
                    List.of(bench.device()));
        }
    }

    @Proves("GRF-006")
    void aLaneKeepsItsOrder(Bench bench) {
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot from = slot(graph, 0, "from", SLOW);
        Slot middle = slot(graph, 0, "middle", SLOW);
        Slot to = slot(graph, 0, "to", SHORT);
        graph.add(0, 0, Priority.NORMAL, copy(middle, from, SLOW), "slow");
        graph.add(0, 0, Priority.NORMAL, copy(to, middle, SHORT), "short");
        graph.add(0, 0, Priority.NORMAL, fill(middle, SHORT, 3), "fill");
        runs(bench, "nodes of one lane without dependencies", graph.build(), List.of(bench.device()));
    }

    /** A graph that adds one buffer to another: each launch shows. */
    private static CommandGraph adder(int count) {
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot sum = slot(graph, 0, "sum", count);
        Slot more = slot(graph, 0, "more", count);
        graph.add(0, 0, Priority.NORMAL, add(sum, sum, more, count), "add");
        return graph.build();
    }

    @Proves("GRF-007")
    void everyLaunchTakesEffect(Bench bench) {
        CommandGraph graph = adder(SHORT);
        List<Device> devices = List.of(bench.device());
        GraphBindings bindings = bind(bench, graph, devices);
        byte[][] slots = contents(bench, graph, bindings);
        GraphExecutable executable = prepare(bench, graph, devices);
        List<Stream> streams = streams(bench, devices);
        bench.step("five launches of one graph");
        for (int i = 0; i < 5; i++) {
            launch(executable, bindings, streams);
            new GraphInterpreter(graph, slots).run();
        }
        streams.forEach(Stream::synchronize);
        holds(bench, "the sum after five launches", graph, bindings, slots);
    }

    @Proves("GRF-008")
    void everyLaunchUsesItsBindings(Bench bench) {
        CommandGraph graph = oneCopy(SHORT);
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = prepare(bench, graph, devices);
        List<Stream> streams = streams(bench, devices);
        List<GraphBindings> all = new ArrayList<>();
        List<byte[][]> results = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            GraphBindings bindings = bind(bench, graph, devices);
            all.add(bindings);
            results.add(expected(bench, graph, bindings));
        }
        bench.step("launches with three sets of buffers");
        for (GraphBindings bindings : all) {
            launch(executable, bindings, streams);
        }
        streams.forEach(Stream::synchronize);
        for (int i = 0; i < all.size(); i++) {
            holds(bench, "launch " + i, graph, all.get(i), results.get(i));
        }
    }

    @Proves("GRF-009")
    void bindingsMayChangeAfterTheLaunch(Bench bench) {
        CommandGraph graph = oneCopy(SHORT);
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = prepare(bench, graph, devices);
        List<Stream> streams = streams(bench, devices);
        GraphBindings bindings = bind(bench, graph, devices);
        byte[][] expected = expected(bench, graph, bindings);
        GraphBindings first = bindings.copy();
        GraphBindings others = bind(bench, graph, devices);
        byte[][] before = contents(bench, graph, others);
        bench.step("bindings that are changed right after the launch");
        launch(executable, bindings, streams);
        graph.slots().forEach(slot -> bindings.bind(slot, others.require(slot)));
        streams.forEach(Stream::synchronize);
        holds(bench, "the buffers of the launch", graph, first, expected);
        holds(bench, "the buffers bound afterwards", graph, others, before);
    }

    @Proves("GRF-010")
    void aGraphGivesTheBitsOfStreams(Bench bench) {
        List<Device> devices = bench.devicesUpTo(2);
        int last = devices.size() - 1;
        boolean between = last == 1
                && bench.platform().topology().link(0, 1).copyable()
                && bench.platform().topology().link(1, 0).copyable();
        CommandGraph.Builder graph = CommandGraph.builder(devices.size());
        Slot a = slot(graph, 0, "a", 32 * 32);
        Slot b = slot(graph, 0, "b", 32 * 32);
        Slot c = slot(graph, 0, "c", 32 * 32);
        Slot d = slot(graph, between ? 1 : 0, "d", 32 * 32);
        Slot e = slot(graph, between ? 1 : 0, "e", 32 * 32);
        boolean gemm = bench.device().properties().gemmTypes().contains(TYPE);
        int first = graph.add(
                0,
                0,
                Priority.NORMAL,
                gemm
                        ? Command.Gemm.of(
                                BufferView.matrix(c, 0, 32, 32, TYPE),
                                BufferView.matrix(a, 0, 32, 32, TYPE),
                                BufferView.matrix(b, 0, 32, 32, TYPE))
                        : add(c, a, b, 32 * 32),
                "product");
        int second = graph.add(between ? 1 : 0, 1, Priority.NORMAL, copy(d, c, 32 * 32), "copy", first);
        int third = graph.add(
                between ? 1 : 0,
                2,
                Priority.NORMAL,
                new Command.Reduce(
                        BufferView.vector(e, 0, 32 * 32, TYPE),
                        List.of(
                                BufferView.vector(d, 0, 32 * 32, TYPE),
                                BufferView.vector(e, 0, 32 * 32, TYPE),
                                BufferView.vector(d, 0, 32 * 32, TYPE)),
                        ReduceOp.AVG),
                "average",
                second);
        graph.add(between ? 1 : 0, 1, Priority.NORMAL, fill(d, SHORT, 9), "fill", third);
        CommandGraph built = graph.build();
        // Random fractions, so that every rounding shows.
        byte[][] data = built.slots().stream()
                .map(slot -> bench.randomBytes(TYPE, (int) (slot.bytes() / 4)))
                .toArray(byte[][]::new);
        GraphBindings once = new GraphBindings(built);
        GraphBindings twice = new GraphBindings(built);
        for (Slot slot : built.slots()) {
            once.bind(slot, bench.upload(devices.get(slot.device()), data[slot.index()]));
            twice.bind(slot, bench.upload(devices.get(slot.device()), data[slot.index()]));
        }
        bench.step("one graph on streams and as a device graph");
        GraphRuns.onStreams(bench.platform(), built, devices, once);
        GraphRuns.asDeviceGraph(bench.platform(), built, devices, twice);
        holds(bench, "the device graph against streams", built, twice, contents(bench, built, once));
    }

    @Proves("GRF-011")
    void anEmptyGraphCompletes(Bench bench) {
        CommandGraph graph = CommandGraph.builder(1).build();
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = prepare(bench, graph, devices);
        List<Stream> streams = streams(bench, devices);
        bench.step("two launches of an empty graph");
        launch(executable, new GraphBindings(graph), streams);
        launch(executable, new GraphBindings(graph), streams);
        streams.forEach(Stream::synchronize);
    }

    @Proves("GRF-012")
    void theGraphComesAfterEarlierWork(Bench bench) {
        CommandGraph graph = oneCopy(SHORT);
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = prepare(bench, graph, devices);
        Stream stream = bench.stream(bench.device());
        Buffer origin = bench.randomBuffer(bench.device(), TYPE, SLOW);
        Buffer from = bench.buffer(bench.device(), SLOW * 4L);
        Buffer to = bench.buffer(bench.device(), SHORT * 4L);
        GraphBindings bindings = new GraphBindings(graph)
                .bind(graph.slots().get(0), from)
                .bind(graph.slots().get(1), to);
        bench.step("a slow copy, and a graph that reads what it writes");
        stream.copy(from.vector(SLOW, TYPE), origin.vector(SLOW, TYPE));
        launch(executable, bindings, List.of(stream));
        stream.synchronize();
        bench.holds("the graph's copy", Arrays.copyOf(bench.download(origin), SHORT * 4), to);
    }

    @Proves("GRF-013")
    void laterWorkComesAfterTheGraph(Bench bench) {
        CommandGraph graph = oneCopy(SLOW);
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = prepare(bench, graph, devices);
        Stream stream = bench.stream(bench.device());
        GraphBindings bindings = bind(bench, graph, devices);
        byte[] data = bench.download(bindings.buffer(0));
        Buffer to = bench.buffer(bench.device(), SHORT * 4L);
        bench.step("a graph with a slow copy, and a short copy behind it");
        launch(executable, bindings, List.of(stream));
        stream.copy(to.vector(SHORT, TYPE), bindings.buffer(1).vector(SHORT, TYPE));
        stream.synchronize();
        bench.holds("the copy behind the graph", Arrays.copyOf(data, SHORT * 4), to);
    }

    @Proves("GRF-014")
    void laterWorkComesAfterTheGraphOnAllDevices(Bench bench) {
        List<Device> pair = bench.copyablePair();
        CommandGraph.Builder builder = CommandGraph.builder(2);
        Slot from = slot(builder, 0, "from", SLOW);
        Slot to = slot(builder, 1, "to", SLOW);
        Slot own = slot(builder, 1, "own", SHORT);
        Slot other = slot(builder, 1, "other", SHORT);
        builder.add(0, 0, Priority.NORMAL, copy(to, from, SLOW), "push");
        builder.add(1, 0, Priority.NORMAL, copy(own, other, SHORT), "own part");
        CommandGraph graph = builder.build();
        GraphExecutable executable = prepare(bench, graph, pair);
        List<Stream> streams = streams(bench, pair);
        GraphBindings bindings = bind(bench, graph, pair);
        byte[] data = bench.download(bindings.require(from));
        Buffer result = bench.buffer(pair.get(1), SHORT * 4L);
        bench.step("a graph in which device 0 is slow, and a copy behind it on device 1");
        launch(executable, bindings, streams);
        streams.get(1).copy(result.vector(SHORT, TYPE), bindings.require(to).vector(SHORT, TYPE));
        streams.forEach(Stream::synchronize);
        bench.holds("the copy behind the graph", Arrays.copyOf(data, SHORT * 4), result);
    }

    @Proves("GRF-015")
    void graphDevicesAreTheOnesGiven(Bench bench) {
        List<Device> some = bench.devices(2);
        List<Device> turned = List.of(some.get(1), some.get(0));
        CommandGraph.Builder graph = CommandGraph.builder(2);
        Slot a = slot(graph, 0, "a", SHORT);
        Slot b = slot(graph, 0, "b", SHORT);
        Slot c = slot(graph, 1, "c", SHORT);
        graph.add(0, 0, Priority.NORMAL, copy(b, a, SHORT), "copy");
        graph.add(1, 0, Priority.NORMAL, fill(c, SHORT, 5), "fill");
        runs(bench, "a graph whose device 0 is device 1", graph.build(), turned);
        if (bench.platform().devices().size() > 2) {
            runs(
                    bench,
                    "a graph on one device, not the first",
                    oneCopy(SHORT),
                    List.of(bench.platform().device(2)));
        }
    }

    @Proves("GRF-016")
    void oneDeviceForTwoIsRefused(Bench bench) {
        CommandGraph graph = CommandGraph.builder(2).build();
        Device device = bench.device();
        refusesToPrepare(
                bench,
                "a graph over two devices with one device given twice",
                graph,
                List.of(device, device),
                ErrorCode.INVALID_ARGUMENT);
    }

    @Proves("GRF-017")
    void anotherNumberOfDevicesIsRefused(Bench bench) {
        refusesToPrepare(
                bench,
                "a graph over two devices with one device given",
                CommandGraph.builder(2).build(),
                List.of(bench.device()),
                ErrorCode.INVALID_ARGUMENT);
    }

    @Proves("GRF-018")
    void aForeignDeviceIsRefused(Bench bench) {
        Platform other = bench.openAnother();
        refusesToPrepare(
                bench,
                "a graph with a device of another platform",
                oneCopy(SHORT),
                List.of(other.device(0)),
                ErrorCode.WRONG_DEVICE);
    }

    @Proves("GRF-019")
    void anUnboundSlotIsRefused(Bench bench) {
        CommandGraph graph = oneCopy(SHORT);
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = prepare(bench, graph, devices);
        List<Stream> streams = streams(bench, devices);
        GraphBindings bindings =
                new GraphBindings(graph).bind(graph.slots().getFirst(), bench.buffer(bench.device(), SHORT * 4L));
        bench.refuses(
                "a launch with an unbound slot", () -> launch(executable, bindings, streams), ErrorCode.INVALID_STATE);
        streams.forEach(Stream::synchronize);
    }

    @Proves("GRF-020")
    void bindingsOfAnotherGraphAreRefused(Bench bench) {
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = prepare(bench, oneCopy(SHORT), devices);
        List<Stream> streams = streams(bench, devices);
        // Of the same form, so that only the graph's identity tells.
        GraphBindings bindings = bind(bench, oneCopy(SHORT), devices);
        bench.refuses(
                "a launch with the bindings of another graph",
                () -> launch(executable, bindings, streams),
                ErrorCode.INVALID_ARGUMENT);
        streams.forEach(Stream::synchronize);
    }

    @Proves("GRF-021")
    void aClosedBufferIsRefused(Bench bench) {
        CommandGraph graph = oneCopy(SHORT);
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = prepare(bench, graph, devices);
        List<Stream> streams = streams(bench, devices);
        GraphBindings bindings = bind(bench, graph, devices);
        bindings.buffer(1).close();
        bench.refuses("a launch with a closed buffer", () -> launch(executable, bindings, streams), ErrorCode.CLOSED);
        streams.forEach(Stream::synchronize);
    }

    @Proves("GRF-022")
    void aBufferOfAnotherDeviceIsRefused(Bench bench) {
        List<Device> some = bench.devices(2);
        CommandGraph graph = oneCopy(SHORT);
        GraphExecutable executable = prepare(bench, graph, List.of(some.get(0)));
        List<Stream> streams = streams(bench, List.of(some.get(0)));
        GraphBindings bindings = bind(bench, graph, List.of(some.get(0)));
        bindings.bind(graph.slots().get(1), bench.buffer(some.get(1), SHORT * 4L));
        bench.refuses(
                "a launch with a buffer of another device than its slot's",
                () -> launch(executable, bindings, streams),
                ErrorCode.WRONG_DEVICE);
        streams.forEach(Stream::synchronize);
    }

    @Proves("GRF-023")
    void bindingsThatOverlapACopyAreRefused(Bench bench) {
        CommandGraph graph = oneCopy(SHORT);
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = prepare(bench, graph, devices);
        List<Stream> streams = streams(bench, devices);
        Buffer both = bench.randomBuffer(bench.device(), TYPE, SHORT);
        byte[] before = bench.download(both);
        GraphBindings bindings = new GraphBindings(graph)
                .bind(graph.slots().get(0), both)
                .bind(graph.slots().get(1), both);
        bench.refuses(
                "a launch that copies a buffer to itself",
                () -> launch(executable, bindings, streams),
                ErrorCode.INVALID_ARGUMENT);
        streams.forEach(Stream::synchronize);
        bench.holds("the buffer after the refused launch", before, both);
    }

    @Proves("GRF-024")
    void wrongStreamsAreRefused(Bench bench) {
        List<Device> some = bench.devices(2);
        CommandGraph graph = oneCopy(SHORT);
        GraphExecutable executable = prepare(bench, graph, List.of(some.get(0)));
        GraphBindings bindings = bind(bench, graph, List.of(some.get(0)));
        Stream own = bench.stream(some.get(0));
        Stream foreign = bench.stream(some.get(1));
        bench.refuses(
                "a launch on another device's stream",
                () -> launch(executable, bindings, List.of(foreign)),
                ErrorCode.WRONG_DEVICE);
        bench.refuses(
                "a launch on a stream too many",
                () -> launch(executable, bindings, List.of(own, foreign)),
                ErrorCode.INVALID_ARGUMENT);
        own.synchronize();
        foreign.synchronize();
    }

    @Proves("GRF-025")
    void aClosedGraphIsNotLaunched(Bench bench) {
        CommandGraph graph = oneCopy(SHORT);
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = bench.extension(GraphDriver.class)
                .instantiate(graph, devices.stream().map(Device::driver).toList());
        List<Stream> streams = streams(bench, devices);
        GraphBindings bindings = bind(bench, graph, devices);
        executable.close();
        bench.refuses("a launch of a closed graph", () -> launch(executable, bindings, streams), ErrorCode.CLOSED);
        streams.forEach(Stream::synchronize);
    }

    @Proves("GRF-026")
    void closingLetsALaunchFinish(Bench bench) {
        CommandGraph graph = oneCopy(SLOW);
        List<Device> devices = List.of(bench.device());
        List<Stream> streams = streams(bench, devices);
        GraphBindings bindings = bind(bench, graph, devices);
        byte[][] expected = expected(bench, graph, bindings);
        GraphExecutable executable = bench.extension(GraphDriver.class)
                .instantiate(graph, devices.stream().map(Device::driver).toList());
        bench.step("a graph that is closed right after its launch");
        launch(executable, bindings, streams);
        executable.close();
        streams.forEach(Stream::synchronize);
        holds(bench, "the launch in flight", graph, bindings, expected);
    }

    @Proves("GRF-027")
    void prioritiesChangeNothing(Bench bench) {
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot from = slot(graph, 0, "from", SLOW);
        Slot middle = slot(graph, 0, "middle", SLOW);
        Slot to = slot(graph, 0, "to", SHORT);
        Slot end = slot(graph, 0, "end", SHORT);
        int slow = graph.add(0, 0, Priority.LOW, copy(middle, from, SLOW), "slow and low");
        int quick = graph.add(0, 1, Priority.HIGH, copy(to, middle, SHORT), "short and high", slow);
        graph.add(0, 1, Priority.LOW, add(end, to, middle, SHORT), "low again on the same lane");
        graph.add(0, 2, Priority.HIGH, fill(from, SHORT, 2), "high", quick);
        runs(bench, "a graph of mixed priorities", graph.build(), List.of(bench.device()));
    }

    @Proves("GRF-028")
    void moreLanesThanQueuesComplete(Bench bench) {
        int lanes = 3 * bench.device().properties().hardwareQueues() + 2;
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot from = slot(graph, 0, "from", 4096);
        Slot before = from;
        int last = -1;
        // A chain that runs through the lanes from the last to the first, so that lower lanes wait for higher ones.
        for (int lane = lanes - 1; lane >= 0; lane--) {
            Slot to = slot(graph, 0, "lane " + lane, 4096);
            last = graph.add(0, lane, Priority.NORMAL, copy(to, before, 4096), "hop", last);
            before = to;
        }
        runs(bench, "a chain through " + lanes + " lanes", graph.build(), List.of(bench.device()));
    }

    @Proves("GRF-029")
    void aThousandNodesRun(Bench bench) {
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot[] slots = new Slot[5];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = slot(graph, 0, "slot " + i, 16);
        }
        int last = -1;
        for (int node = 0; node < 1000; node++) {
            Slot to = slots[(node + 1) % slots.length];
            Slot from = slots[node % slots.length];
            Command command = node % 7 == 3 ? fill(to, 16, node) : copy(to, from, 16);
            last = graph.add(0, node % 3, Priority.NORMAL, command, "node", last);
        }
        runs(bench, "a graph of a thousand nodes", graph.build(), List.of(bench.device()));
    }

    @Proves("GRF-030")
    void graphsInFlightDoNotDisturbOneAnother(Bench bench) {
        List<Device> devices = List.of(bench.device());
        List<CommandGraph> graphs = new ArrayList<>();
        List<GraphBindings> bindings = new ArrayList<>();
        List<byte[][]> expected = new ArrayList<>();
        List<GraphExecutable> executables = new ArrayList<>();
        List<List<Stream>> streams = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            CommandGraph graph = i % 2 == 0 ? oneCopy(32_768) : adder(16_384);
            graphs.add(graph);
            bindings.add(bind(bench, graph, devices));
            expected.add(expected(bench, graph, bindings.getLast()));
            executables.add(prepare(bench, graph, devices));
            streams.add(streams(bench, devices));
        }
        bench.step("four graphs in flight on four streams");
        for (int i = 0; i < 4; i++) {
            launch(executables.get(i), bindings.get(i), streams.get(i));
        }
        streams.forEach(some -> some.forEach(Stream::synchronize));
        for (int i = 0; i < 4; i++) {
            holds(bench, "graph " + i, graphs.get(i), bindings.get(i), expected.get(i));
        }
    }

    @Proves("GRF-031")
    void anUnlistedProductIsRefused(Bench bench) {
        ElementType missing = Arrays.stream(ElementType.values())
                .filter(type -> !bench.device().properties().gemmTypes().contains(type))
                .filter(type -> type != ElementType.INT32)
                .findFirst()
                .orElseThrow(() -> new NotApplicable("the device multiplies every type"));
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot slot = slot(graph, 0, "all", 1024);
        ElementType result = missing == ElementType.INT8 ? ElementType.INT32 : missing;
        graph.add(
                0,
                0,
                Priority.NORMAL,
                Command.Gemm.of(
                        BufferView.matrix(slot, 0, 4, 4, result),
                        BufferView.matrix(slot, 1024, 4, 4, missing),
                        BufferView.matrix(slot, 2048, 4, 4, missing)),
                "gemm");
        refusesToPrepare(
                bench,
                "a graph with a product of " + missing,
                graph.build(),
                List.of(bench.device()),
                ErrorCode.UNSUPPORTED);
    }

    @Proves("GRF-032")
    void computeOnForeignMemoryIsRefused(Bench bench) {
        List<Device> some = bench.devices(2);
        CommandGraph.Builder graph = CommandGraph.builder(2);
        Slot foreign = slot(graph, 1, "foreign", SHORT);
        graph.add(0, 0, Priority.NORMAL, fill(foreign, SHORT, 1), "fill");
        refusesToPrepare(bench, "a fill of another device's memory", graph.build(), some, ErrorCode.WRONG_DEVICE);
    }

    @Proves("GRF-033")
    void aCopyBetweenTwoOthersIsRefused(Bench bench) {
        List<Device> some = bench.devices(3);
        CommandGraph.Builder graph = CommandGraph.builder(3);
        Slot from = slot(graph, 1, "from", SHORT);
        Slot to = slot(graph, 2, "to", SHORT);
        graph.add(0, 0, Priority.NORMAL, copy(to, from, SHORT), "copy");
        refusesToPrepare(
                bench, "a copy on device 0 from device 1 to device 2", graph.build(), some, ErrorCode.WRONG_DEVICE);
    }

    private static Command.Collective allReduce(Slot send, Slot receive, int rank, int ranks, int count, ReduceOp op) {
        return new Command.Collective(
                CollectiveKind.ALL_REDUCE,
                op,
                rank,
                ranks,
                0,
                BufferView.vector(send, 0, count, TYPE),
                BufferView.vector(receive, 0, count, TYPE),
                List.of(),
                List.of(),
                17);
    }

    @Proves("GRF-034")
    void aMissingPartIsRefused(Bench bench) {
        List<Device> some = bench.devices(2);
        CommandGraph.Builder graph = CommandGraph.builder(2);
        Slot send = slot(graph, 0, "send", SHORT);
        Slot receive = slot(graph, 0, "receive", SHORT);
        graph.add(0, 0, Priority.NORMAL, allReduce(send, receive, 0, 2, SHORT, ReduceOp.SUM), "part of rank 0");
        AcceleratorException refusal = bench.refuses(
                "a collective without rank 1's part",
                () -> prepare(bench, graph.build(), some),
                ErrorCode.COLLECTIVE_MISMATCH);
        bench.that(
                refusal.getMessage().contains("17"),
                "a message that names the collective with key 17",
                "it says: " + refusal.getMessage());
    }

    @Proves("GRF-035")
    void disagreeingPartsAreRefused(Bench bench) {
        List<Device> some = bench.devices(2);
        for (boolean byCount : new boolean[] {true, false}) {
            CommandGraph.Builder graph = CommandGraph.builder(2);
            for (int rank = 0; rank < 2; rank++) {
                Slot send = slot(graph, rank, "send", SHORT);
                Slot receive = slot(graph, rank, "receive", SHORT);
                int count = byCount && rank == 1 ? SHORT - 1 : SHORT;
                ReduceOp op = !byCount && rank == 1 ? ReduceOp.MAX : ReduceOp.SUM;
                graph.add(rank, 0, Priority.NORMAL, allReduce(send, receive, rank, 2, count, op), "part");
            }
            AcceleratorException refusal = bench.refuses(
                    "parts that disagree in " + (byCount ? "count" : "op"),
                    () -> prepare(bench, graph.build(), some),
                    ErrorCode.COLLECTIVE_MISMATCH);
            bench.that(
                    refusal.getMessage().contains("rank 0")
                            && refusal.getMessage().contains("rank 1"),
                    "a message that names rank 0 and rank 1",
                    "it says: " + refusal.getMessage());
        }
    }

    @Proves("GRF-036")
    void aTimelineKeepsTheOrder(Bench bench) {
        CommandGraph.Builder builder = CommandGraph.builder(1);
        Slot from = slot(builder, 0, "from", 65_536);
        Slot middle = slot(builder, 0, "middle", 65_536);
        Slot to = slot(builder, 0, "to", SHORT);
        int slow = builder.add(0, 0, Priority.NORMAL, copy(middle, from, 65_536), "slow");
        builder.add(0, 1, Priority.NORMAL, copy(to, middle, SHORT), "short", slow);
        CommandGraph graph = builder.build();
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = prepare(bench, graph, devices);
        List<Stream> streams = streams(bench, devices);
        GraphBindings bindings = new GraphBindings(graph);
        for (Slot slot : graph.slots()) {
            bindings.bind(slot, bench.buffer(bench.device(), slot.bytes()));
        }
        launch(executable, bindings, streams);
        streams.forEach(Stream::synchronize);
        Optional<Timeline> reported = executable.lastTimeline();
        if (reported.isEmpty()) {
            return;
        }
        Timeline timeline = reported.get();
        for (int node = 0; node < graph.size(); node++) {
            bench.that(
                    timeline.startNanos(node) >= 0 && timeline.endNanos(node) >= timeline.startNanos(node),
                    "node " + node + " to start after its launch and end after its start",
                    "it runs from " + timeline.startNanos(node) + " to " + timeline.endNanos(node) + " ns");
            for (int dependency : graph.dependencies(node)) {
                bench.that(
                        timeline.startNanos(node) >= timeline.endNanos(dependency),
                        "node " + node + " to start after node " + dependency + " has ended at "
                                + timeline.endNanos(dependency) + " ns",
                        "it starts at " + timeline.startNanos(node) + " ns");
            }
        }
    }

    @Proves("GRF-037")
    void aFailedNodeFailsTheStreams(Bench bench) {
        CommandGraph.Builder builder = CommandGraph.builder(1);
        Slot from = slot(builder, 0, "from", SHORT);
        Slot middle = slot(builder, 0, "middle", SHORT);
        Slot to = slot(builder, 0, "to", SHORT);
        int first = builder.add(0, 0, Priority.NORMAL, copy(middle, from, SHORT), "fails");
        builder.add(0, 1, Priority.NORMAL, copy(to, from, SHORT), "behind it", first);
        CommandGraph graph = builder.build();
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = prepare(bench, graph, devices);
        List<Stream> streams = streams(bench, devices);
        GraphBindings bindings = bind(bench, graph, devices);
        byte[] before = bench.download(bindings.require(to));
        AcceleratorException cause = new AcceleratorException(ErrorCode.VENDOR, "node", "a fault on purpose");
        bench.step("a graph whose first node fails");
        bench.extension(FaultDriver.class).failCommand(bench.device().ordinal(), 1, cause);
        launch(executable, bindings, streams);
        AcceleratorException failure = bench.refuses(
                "waiting for the launch", () -> streams.forEach(Stream::synchronize), ErrorCode.STREAM_FAILED);
        bench.that(
                failure.getMessage().contains("a fault on purpose"),
                "the cause of the failure in the message",
                "it says: " + failure.getMessage());
        bench.holds("what the node behind the failed one would write", before, bindings.require(to));
    }

    @Proves("GRF-038")
    void partsOfABufferAreKeptApart(Bench bench) {
        CommandGraph graph = oneCopy(SHORT);
        List<Device> devices = List.of(bench.device());
        GraphExecutable executable = prepare(bench, graph, devices);
        List<Stream> streams = streams(bench, devices);
        byte[] data = bench.randomBytes(4 * SHORT * 4);
        Buffer whole = bench.upload(bench.device(), data);
        Buffer from = whole.suballocate(SHORT * 4L, SHORT * 4L, part -> {});
        Buffer to = whole.suballocate(3 * SHORT * 4L, SHORT * 4L, part -> {});
        bench.step("a graph over two parts of one buffer");
        launch(
                executable,
                new GraphBindings(graph)
                        .bind(graph.slots().get(0), from)
                        .bind(graph.slots().get(1), to),
                streams);
        streams.forEach(Stream::synchronize);
        byte[] expected = data.clone();
        System.arraycopy(data, SHORT * 4, expected, 3 * SHORT * 4, SHORT * 4);
        bench.holds("the buffer whose parts were bound", expected, whole);
    }
}
