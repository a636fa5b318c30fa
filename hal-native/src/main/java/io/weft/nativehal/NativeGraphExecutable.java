// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ErrorCode;
import io.weft.api.EventOptions;
import io.weft.api.Figures;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.nativehal.driver.DeviceRuntime;
import io.weft.nativehal.driver.GemmPlan;
import io.weft.nativehal.driver.GraphCapture;
import io.weft.nativehal.driver.IssuePlace;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.GraphLaunches;
import io.weft.spi.StreamDriver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A graph that is launched as one, whatever the number of devices. It is captured from streams of its own, one for each lane, for the buffers of the first launch. For other buffers
 * it is captured again, which costs a few microseconds for each node, and the new addresses are put into an executable graph that is there; the last few sets of buffers keep theirs.
 */
final class NativeGraphExecutable implements GraphExecutable {
    /** Sets of buffers whose executable graphs are kept: double-buffered callers switch between two. */
    private static final int KEPT = 4;

    /** An executable graph for one set of buffers. */
    private static final class Variant {
        private final long[] addresses;
        private final long[] generations;
        private final long handle;

        Variant(long[] addresses, long[] generations, long handle) {
            this.addresses = addresses;
            this.generations = generations;
            this.handle = handle;
        }
    }

    /** A lane's captured stream. */
    private static final class LaneStream implements IssuePlace {
        private final NativeDevice device;
        private final long handle;
        private final Workspace workspace;

        LaneStream(NativeDevice device, long handle) {
            this.device = device;
            this.handle = handle;
            this.workspace = new Workspace(device);
        }

        @Override
        public long handle() {
            return handle;
        }

        @Override
        public long workspace(long bytes) {
            return workspace.address(bytes);
        }
    }

    private final NativeGraphDriver owner;
    private final DeviceRuntime runtime;
    private final GraphCapture capture;
    private final GraphPlan plan;
    private final CommandGraph graph;
    private final List<NativeDevice> devices;
    private final boolean timed;
    private final LaneStream origin;
    private final LaneStream[] lanes;
    private final long fork;
    private final long[] joins;
    private final long[] events;
    /** Of a timed graph: start and end of each node, and the start of the whole on the first device. */
    private final long[] starts;

    private final long[] ends;
    private final long[] begins;
    private final NativeEvent[] entered;
    private final NativeEvent left;
    private final List<Variant> variants = new ArrayList<>();
    private final CollectiveDriverHolder collectives;
    private NativeStream lastStream;
    private DeviceClock.Epoch[] lastEpochs;
    private boolean closed;

    /** Looks a communicator up when the first collective is captured. */
    private interface CollectiveDriverHolder {
        NativeCollectives get();
    }

    NativeGraphExecutable(
            NativeGraphDriver owner,
            NativePlatform platform,
            GraphCapture capture,
            GraphPlan plan,
            List<NativeDevice> devices,
            boolean timed) {
        this.owner = owner;
        this.runtime = platform.vendor().runtime();
        this.capture = capture;
        this.plan = plan;
        this.graph = plan.graph();
        this.devices = devices;
        this.timed = timed;
        this.collectives = () -> (NativeCollectives) platform.extension(CollectiveDriver.class)
                .orElseThrow(() -> new AcceleratorException(
                        ErrorCode.UNSUPPORTED,
                        "launch graph",
                        "the graph has collectives and there is no library for them here"));
        NativeDevice first = devices.getFirst();
        origin = new LaneStream(first, first.createLane(io.weft.api.Priority.NORMAL));
        lanes = new LaneStream[plan.lanes().size()];
        joins = new long[lanes.length];
        for (int i = 0; i < lanes.length; i++) {
            GraphPlan.Lane lane = plan.lanes().get(i);
            NativeDevice device = devices.get(lane.device());
            lanes[i] = new LaneStream(device, device.createLane(lane.priority()));
            joins[i] = runtime.createEvent(false);
        }
        events = new long[graph.size()];
        starts = new long[timed ? graph.size() : 0];
        ends = new long[starts.length];
        for (int node = 0; node < events.length; node++) {
            devices.get(graph.device(node)).makeCurrent();
            if (plan.isAwaited(node)) {
                events[node] = runtime.createEvent(false);
            }
            if (timed) {
                starts[node] = runtime.createEvent(true);
                ends[node] = runtime.createEvent(true);
            }
        }
        entered = new NativeEvent[devices.size()];
        begins = new long[timed ? devices.size() : 0];
        for (int i = 0; i < entered.length; i++) {
            entered[i] = devices.get(i).createEvent(EventOptions.untimed());
            if (timed) {
                devices.get(i).makeCurrent();
                begins[i] = runtime.createEvent(true);
            }
        }
        left = first.createEvent(EventOptions.untimed());
        first.makeCurrent();
        fork = runtime.createEvent(false);
    }

    @Override
    public boolean joinsDevices() {
        return true;
    }

    @Override
    public void launch(GraphBindings bindings, List<? extends StreamDriver> streams) {
        requireOpen();
        GraphLaunches.requireFitting(graph, devices, bindings, streams);
        for (StreamDriver stream : streams) {
            ((NativeStream) stream).requireUsable("launch graph");
        }
        requireMemory(bindings);
        if (graph.size() == 0) {
            return;
        }
        Variant variant = variant(bindings);
        NativeStream first = (NativeStream) streams.getFirst();
        // One launch on the first device's stream: it waits for the others' work, and they wait for it.
        for (int i = 1; i < entered.length; i++) {
            streams.get(i).record(entered[i]);
            first.waitFor(entered[i]);
        }
        devices.getFirst().makeCurrent();
        if (timed) {
            lastEpochs = new DeviceClock.Epoch[devices.size()];
            for (int i = 0; i < lastEpochs.length; i++) {
                devices.get(i).makeCurrent();
                lastEpochs[i] = devices.get(i).clock().now();
            }
            devices.getFirst().makeCurrent();
        }
        first.launch(capture, variant.handle);
        if (entered.length > 1) {
            first.record(left);
            for (int i = 1; i < entered.length; i++) {
                streams.get(i).waitFor(left);
            }
        }
        lastStream = first;
    }

    /** What the bindings stand for must be there, and where pages are mapped on demand, mapped: an executable graph that is kept was looked at when it was captured only. */
    private void requireMemory(GraphBindings bindings) {
        boolean paged = false;
        for (Slot slot : graph.slots()) {
            NativeMemory memory = (NativeMemory) bindings.require(slot).memory();
            memory.requireLive("launch graph");
            paged |= memory instanceof MappedRange;
        }
        for (int node = 0; paged && node < graph.size(); node++) {
            Command command = graph.command(node);
            command.reads().forEach(view -> requireMapped(view, bindings));
            command.writes().forEach(view -> requireMapped(view, bindings));
        }
    }

    private static void requireMapped(BufferView view, GraphBindings bindings) {
        Buffer buffer = bindings.require((Slot) view.memory());
        if (buffer.memory() instanceof MappedRange range && !view.isEmpty()) {
            range.requireUsable("launch graph", buffer.base() + view.offset(), view.end() - view.offset());
        }
    }

    private Variant variant(GraphBindings bindings) {
        int slots = graph.slots().size();
        for (int v = variants.size() - 1; v >= 0; v--) {
            Variant variant = variants.get(v);
            if (fits(variant, bindings, slots)) {
                if (v < variants.size() - 1) {
                    variants.remove(v);
                    variants.add(variant);
                }
                return variant;
            }
        }
        long captured = capture(bindings);
        try {
            long handle = 0;
            if (variants.size() == KEPT) {
                // The oldest may still run; its parameters must not change under it.
                Variant oldest = variants.removeFirst();
                waitForLast();
                if (capture.update(oldest.handle, captured)) {
                    handle = oldest.handle;
                } else {
                    capture.destroyExecutable(oldest.handle);
                }
            }
            if (handle == 0) {
                handle = capture.instantiate(captured);
            }
            long[] addresses = new long[slots];
            for (int slot = 0; slot < slots; slot++) {
                addresses[slot] = address(bindings, slot);
            }
            Variant made = new Variant(addresses, generations(), handle);
            variants.add(made);
            return made;
        } finally {
            capture.destroyGraph(captured);
        }
    }

    private static long address(GraphBindings bindings, int slot) {
        Buffer buffer = bindings.buffer(slot);
        return buffer == null ? 0 : buffer.address();
    }

    private boolean fits(Variant variant, GraphBindings bindings, int slots) {
        for (int slot = 0; slot < slots; slot++) {
            if (variant.addresses[slot] != address(bindings, slot)) {
                return false;
            }
        }
        for (int i = 0; i < variant.generations.length; i++) {
            if (variant.generations[i] != devices.get(i).gemms().generation()) {
                return false;
            }
        }
        return true;
    }

    private long[] generations() {
        long[] generations = new long[devices.size()];
        for (int i = 0; i < generations.length; i++) {
            generations[i] = devices.get(i).gemms().generation();
        }
        return generations;
    }

    private long capture(GraphBindings bindings) {
        Command[] commands = new Command[graph.size()];
        for (int node = 0; node < commands.length; node++) {
            commands[node] = graph.command(node).rebind(memory -> bindings.require((Slot) memory));
            // Plans, workspaces and communicators are made before, as making them is no work of the graph.
            prepare(commands[node], node);
        }
        devices.getFirst().makeCurrent();
        capture.beginCapture(origin.handle);
        boolean done = false;
        try {
            runtime.record(fork, origin.handle);
            for (LaneStream lane : lanes) {
                runtime.waitEvent(lane.handle, fork);
            }
            if (timed) {
                stampBegins();
            }
            for (int node = 0; node < commands.length; node++) {
                issue(commands, node);
            }
            for (int i = 0; i < lanes.length; i++) {
                lanes[i].device.makeCurrent();
                runtime.record(joins[i], lanes[i].handle);
                runtime.waitEvent(origin.handle, joins[i]);
            }
            devices.getFirst().makeCurrent();
            long captured = capture.endCapture(origin.handle);
            done = true;
            return captured;
        } finally {
            if (!done) {
                devices.getFirst().makeCurrent();
                capture.dropCapture(origin.handle);
            }
        }
    }

    /** The start of the whole, on one lane of each device. */
    private void stampBegins() {
        boolean[] stamped = new boolean[devices.size()];
        for (int i = 0; i < lanes.length; i++) {
            int device = plan.lanes().get(i).device();
            if (!stamped[device]) {
                stamped[device] = true;
                lanes[i].device.makeCurrent();
                capture.recordAsNode(begins[device], lanes[i].handle);
            }
        }
    }

    private void prepare(Command command, int node) {
        if (command instanceof Command.Gemm gemm && !gemm.c().isEmpty() && gemm.k() > 0) {
            NativeDevice device = devices.get(graph.device(node));
            device.makeCurrent();
            GemmPlan gemmPlan = device.gemms().plan(gemm);
            if (gemmPlan != null && gemmPlan.isNative()) {
                lanes[plan.laneOf(node)].workspace(gemmPlan.workspaceBytes());
            }
        } else if (command instanceof Command.Collective part) {
            collectives.get().overDevices(rankDevices(part));
        }
    }

    /** The devices of a collective's ranks: rank i is graph device i, as everywhere in a graph. */
    private List<NativeDevice> rankDevices(Command.Collective part) {
        return devices.subList(0, part.ranks());
    }

    private void issue(Command[] commands, int node) {
        LaneStream lane = lanes[plan.laneOf(node)];
        lane.device.makeCurrent();
        for (int dependency : plan.waits(node)) {
            runtime.waitEvent(lane.handle, events[dependency]);
        }
        if (timed) {
            capture.recordAsNode(starts[node], lane.handle);
        }
        if (commands[node] instanceof Command.Collective part) {
            if (plan.closesCollective(node)) {
                int[] nodes = plan.collective(part.key());
                List<NativeCollectives.Issue> parts = new ArrayList<>(nodes.length);
                for (int sibling : nodes) {
                    parts.add(new NativeCollectives.Issue(
                            (Command.Collective) commands[sibling], lanes[plan.laneOf(sibling)].handle));
                }
                collectives.get().overDevices(rankDevices(part)).submit(parts);
                for (int sibling : nodes) {
                    after(sibling);
                }
            }
            return;
        }
        lane.device.issuer().issue(commands[node], lane);
        after(node);
    }

    private void after(int node) {
        LaneStream lane = lanes[plan.laneOf(node)];
        lane.device.makeCurrent();
        if (timed) {
            capture.recordAsNode(ends[node], lane.handle);
        }
        if (plan.isAwaited(node)) {
            runtime.record(events[node], lane.handle);
        }
    }

    private void waitForLast() {
        if (lastStream != null && lastStream.failure() == null) {
            lastStream.awaitIfOpen("wait for graph");
        }
    }

    @Override
    public Optional<Timeline> lastTimeline() {
        if (!timed || lastStream == null || closed) {
            return Optional.empty();
        }
        waitForLast();
        double[] from = new double[graph.size()];
        double[] to = new double[graph.size()];
        double start = Double.MAX_VALUE;
        for (int i = 0; i < begins.length; i++) {
            if (usesDevice(i)) {
                start = Math.min(start, lastEpochs[i].nanos(runtime, begins[i]));
            }
        }
        double makespan = 0;
        for (int node = 0; node < from.length; node++) {
            DeviceClock.Epoch epoch = lastEpochs[graph.device(node)];
            from[node] = epoch.nanos(runtime, starts[node]) - start;
            to[node] = epoch.nanos(runtime, ends[node]) - start;
            makespan = Math.max(makespan, to[node]);
        }
        return Optional.of(new Timeline(graph, Figures.MEASURED, from, to, makespan, List.of(), List.of()));
    }

    private boolean usesDevice(int device) {
        return plan.lanes().stream().anyMatch(lane -> lane.device() == device);
    }

    private void requireOpen() {
        if (closed) {
            throw new AcceleratorException(ErrorCode.CLOSED, "launch graph", "the graph was closed before");
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        owner.forget(this);
        // A launch that never ends keeps what it uses: when this throws, nothing is given back.
        waitForLast();
        variants.forEach(variant -> capture.destroyExecutable(variant.handle));
        for (LaneStream lane : lanes) {
            runtime.destroyStream(lane.handle);
            lane.workspace.close();
        }
        runtime.destroyStream(origin.handle);
        for (long[] group : List.of(joins, events, starts, ends, begins, new long[] {fork})) {
            Arrays.stream(group).filter(event -> event != 0).forEach(runtime::destroyEvent);
        }
        for (NativeEvent event : entered) {
            event.close();
        }
        left.close();
    }
}
