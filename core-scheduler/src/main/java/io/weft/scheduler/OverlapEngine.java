// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import io.weft.api.graph.CommandGraph;
import io.weft.memory.PoolRecording;
import io.weft.memory.PoolUse;
import io.weft.spi.GraphDriver;
import io.weft.spi.PerformanceModel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Overlaps a collective with the GEMM next to it. Takes one view for each rank, plans once for each problem, and reuses plans, graphs, streams and workspace.
 *
 * <pre>{@code
 * try (OverlapEngine engine = OverlapEngine.open(communicator)) {
 *     OverlapRun run = engine.allGatherGemm(shards, weights, results);
 *     run.synchronize();
 *     System.out.println(run.schedule() + ": " + run.selection().get().reason());
 * }
 * }</pre>
 *
 * <p><b>Shapes</b> are those of {@link OverlapProblem}: row-major without gaps. Rows over all ranks are cut at {@code r * m / P}.
 *
 * <p><b>Order.</b> Calls return when everything is issued. Given one stream for each rank, the operation comes after what was issued to those streams before, and what is issued to them afterwards comes after the operation. Without
 * streams, buffers must be ready when the call is made, and {@link OverlapRun} tells when results are. Operations of one engine run one after the other, as they share workspace. Buffers stay alive until then.
 *
 * <p>All ranks must be in this process. Safe for any thread. Closing it waits for what was issued and releases everything.
 */
public final class OverlapEngine implements AutoCloseable {
    /** How graphs reach the devices. */
    public enum Issue {
        /** One launch of a device graph where the platform has them, streams otherwise. */
        AUTOMATIC,
        /** As {@link #AUTOMATIC}, with time stamps around every command where a device graph can carry them, for a timeline. */
        TIMED,
        /** Streams and events. */
        STREAMS,
        /** Streams and events with time stamps around every command, for a timeline; slower to issue. */
        TIMED_STREAMS
    }

    private record Key(OverlapProblem problem, Schedule schedule) {}

    private final Platform platform;
    private final Communicator communicator;
    private final Selector selector;
    private final List<Device> devices;
    private final List<Stream> order;
    private final List<Event> ready;
    private final LaneStreams lanes;
    private final Workspace workspace;
    private final Optional<GraphDriver> graphs;
    private final boolean timed;
    private final Map<Key, LoweredSchedule> lowerings = new HashMap<>();
    private final Map<CommandGraph, OverlapPlan> plans = new LinkedHashMap<>();
    private Selection last;
    private boolean closed;

    private OverlapEngine(Communicator communicator, Selector selector, Issue issue) {
        this.platform = communicator.platform();
        this.communicator = communicator;
        this.selector = selector;
        List<Device> all = new ArrayList<>();
        List<Stream> streams = new ArrayList<>();
        List<Event> events = new ArrayList<>();
        for (int rank = 0; rank < communicator.size(); rank++) {
            Device device = communicator.device(rank);
            all.add(device);
            streams.add(device.createStream(StreamOptions.defaults().withName("overlap rank " + rank)));
            events.add(device.createEvent(EventOptions.untimed()));
        }
        this.devices = List.copyOf(all);
        this.order = List.copyOf(streams);
        this.ready = List.copyOf(events);
        this.lanes = new LaneStreams(devices);
        this.workspace = new Workspace(devices, order);
        this.timed = issue == Issue.TIMED_STREAMS || issue == Issue.TIMED;
        boolean graphsWanted = issue == Issue.AUTOMATIC || issue == Issue.TIMED;
        this.graphs = graphsWanted && platform.has(Capability.DEVICE_GRAPHS)
                ? platform.extension(GraphDriver.class)
                : Optional.empty();
    }

    /** An engine that chooses by the platform's performance model, or by rules where it has none. */
    public static OverlapEngine open(Communicator communicator) {
        Platform platform = communicator.platform();
        Selector selector = platform.has(Capability.PERFORMANCE_MODEL)
                        && platform.extension(PerformanceModel.class).isPresent()
                ? new ModelSelector(platform)
                : new HeuristicSelector(platform);
        return open(communicator, selector, Issue.AUTOMATIC);
    }

    /**
     * An engine. The communicator outlives it.
     *
     * @param selector chooses schedules
     * @param issue how graphs reach the devices
     * @throws AcceleratorException UNSUPPORTED when some ranks are in other processes
     */
    public static OverlapEngine open(Communicator communicator, Selector selector, Issue issue) {
        Objects.requireNonNull(selector);
        Objects.requireNonNull(issue);
        if (!communicator.allLocal()) {
            throw new AcceleratorException(
                    ErrorCode.UNSUPPORTED,
                    "overlap engine",
                    "only ranks " + communicator.localRanks().keySet() + " of " + communicator.size()
                            + " are in this process; the engine needs all of them in one process");
        }
        return new OverlapEngine(communicator, selector, issue);
    }

    /** Its ranks. */
    public Communicator communicator() {
        return communicator;
    }

    /** Gathers the shards of A on every rank and multiplies: {@code C_r[m, n] = A[m, k] x B_r[k, n]}. */
    public OverlapRun allGatherGemm(List<BufferView> shards, List<BufferView> weights, List<BufferView> results) {
        return run(problem(Pattern.ALL_GATHER_GEMM, shards, weights), shards, weights, results);
    }

    /**
     * The same in place: rank r's A is all of {@code [m, k]}, of which the rows of its shard hold its data; the others are overwritten with what arrives. Spares a copy of own rows and the memory for it.
     */
    public OverlapRun allGatherGemmInPlace(
            List<BufferView> gathered, List<BufferView> weights, List<BufferView> results) {
        requireRanks("A", gathered);
        requireRanks("B", weights);
        BufferView first = gathered.getFirst();
        OverlapProblem problem = OverlapProblem.of(
                        Pattern.ALL_GATHER_GEMM,
                        first.rows(),
                        weights.getFirst().columns(),
                        first.columns(),
                        first.type(),
                        communicator.size())
                .withInPlace(true);
        return run(problem, gathered, weights, results);
    }

    /** Multiplies, sums over ranks and keeps the own rows: {@code C_r = rows r of the sum of A_s[m, k] x B_s[k, n]}. */
    public OverlapRun gemmReduceScatter(List<BufferView> operands, List<BufferView> weights, List<BufferView> results) {
        return run(problem(Pattern.GEMM_REDUCE_SCATTER, operands, weights), operands, weights, results);
    }

    /** Multiplies and sums over ranks; all get all rows. */
    public OverlapRun gemmAllReduce(List<BufferView> operands, List<BufferView> weights, List<BufferView> results) {
        return run(problem(Pattern.GEMM_ALL_REDUCE, operands, weights), operands, weights, results);
    }

    /** Sends every row to its rank, evenly loaded, and multiplies there. For a skew, see {@link #run(OverlapProblem, List, List, List)}. */
    public OverlapRun allToAllGemm(List<BufferView> tokens, List<BufferView> weights, List<BufferView> results) {
        return run(problem(Pattern.ALL_TO_ALL_GEMM, tokens, weights), tokens, weights, results);
    }

    /** Multiplies rows where they are and sends them back to where they came from, evenly loaded. */
    public OverlapRun gemmAllToAll(List<BufferView> tokens, List<BufferView> weights, List<BufferView> results) {
        return run(problem(Pattern.GEMM_ALL_TO_ALL, tokens, weights), tokens, weights, results);
    }

    /** Any problem with the schedule that the selector chooses; buffers are ready. */
    public OverlapRun run(
            OverlapProblem problem, List<BufferView> operands, List<BufferView> weights, List<BufferView> results) {
        return run(problem, null, operands, weights, results, null);
    }

    /**
     * Any problem.
     *
     * @param schedule the schedule, or null to let the selector choose
     * @param streams one stream for each rank, whose order the operation keeps, or null when buffers are ready
     */
    public synchronized OverlapRun run(
            OverlapProblem problem,
            Schedule schedule,
            List<BufferView> operands,
            List<BufferView> weights,
            List<BufferView> results,
            List<Stream> streams) {
        requireOpen();
        Selection selection = null;
        Schedule chosen = schedule;
        if (chosen == null) {
            selection = selector.select(problem);
            chosen = selection.choice();
            last = selection;
        }
        LoweredSchedule lowered = lowerings.computeIfAbsent(
                new Key(problem, chosen), key -> Lowering.lower(key.problem(), key.schedule()));
        return run(lowered, selection, operands, weights, results, streams);
    }

    /** A schedule that was lowered before, unchanged or changed on purpose. Buffers are ready. */
    public synchronized OverlapRun run(
            LoweredSchedule lowered, List<BufferView> operands, List<BufferView> weights, List<BufferView> results) {
        requireOpen();
        return run(lowered, null, operands, weights, results, null);
    }

    private OverlapRun run(
            LoweredSchedule lowered,
            Selection selection,
            List<BufferView> operands,
            List<BufferView> weights,
            List<BufferView> results,
            List<Stream> streams) {
        check(lowered.problem(), operands, weights, results);
        OverlapPlan plan = plans.computeIfAbsent(lowered.graph(), graph -> prepare(lowered));
        if (streams == null) {
            return plan.run(selection, operands, weights, results, workspace, order);
        }
        requireRanks("stream", streams);
        for (int rank = 0; rank < streams.size(); rank++) {
            streams.get(rank).record(ready.get(rank));
            order.get(rank).waitFor(ready.get(rank));
        }
        OverlapRun run = plan.run(selection, operands, weights, results, workspace, order);
        for (int rank = 0; rank < streams.size(); rank++) {
            streams.get(rank).waitFor(run.done(rank));
        }
        return run;
    }

    /** What the selector says about a problem; the same as what a run of it uses. */
    public Selection explain(OverlapProblem problem) {
        return selector.select(problem);
    }

    /** The choice behind the last run that the selector chose for; empty before the first. */
    public synchronized Optional<Selection> explain() {
        return Optional.ofNullable(last);
    }

    /** Records the calls of a rank's workspace pools from now on, up to and with the engine's close; the caller closes the recording after that. */
    public synchronized void record(int rank, PoolRecording to) {
        workspace.record(rank, to);
    }

    /** Bytes of workspace held now, over all ranks. */
    public synchronized long workspaceBytes() {
        return workspace.bytes();
    }

    /** What the pools of a rank's workspace have done so far, communication first. */
    public synchronized List<PoolUse> workspaceUse(int rank) {
        return workspace.use(rank);
    }

    private OverlapPlan prepare(LoweredSchedule lowered) {
        GraphRunner runner = graphs.isPresent()
                ? new DeviceGraphRunner(graphs.get(), lowered.graph(), devices, timed)
                : new StreamRunner(lowered.graph(), devices, lanes, Optional.of(communicator), timed);
        List<Event> done = devices.stream()
                .map(device -> device.createEvent(EventOptions.untimed()))
                .toList();
        return new OverlapPlan(lowered, runner, done);
    }

    /**
     * Fills all workspace, of which there is enough for a schedule afterwards, with a byte, in the order of runs, so that a check sees what is read before it is written.
     *
     * @param pattern the byte; all ones is a NaN in every floating type with IEEE or OCP encoding
     */
    public synchronized void poisonWorkspace(LoweredSchedule lowered, int pattern) {
        requireOpen();
        workspace.reserve(lowered.graph());
        workspace.fill(pattern);
    }

    private OverlapProblem problem(Pattern pattern, List<BufferView> operands, List<BufferView> weights) {
        requireRanks("A", operands);
        requireRanks("B", weights);
        long rows = 0;
        for (BufferView operand : operands) {
            rows += operand.rows();
        }
        if (pattern.reduces()) {
            rows = operands.getFirst().rows();
        }
        BufferView first = operands.getFirst();
        return OverlapProblem.of(
                pattern, rows, weights.getFirst().columns(), first.columns(), first.type(), communicator.size());
    }

    private void check(
            OverlapProblem problem, List<BufferView> operands, List<BufferView> weights, List<BufferView> results) {
        if (problem.ranks() != communicator.size()) {
            throw AcceleratorException.invalid(
                    "overlap",
                    "the problem speaks of " + problem.ranks() + " ranks and the communicator has "
                            + communicator.size());
        }
        if (problem.groups() > 1) {
            throw AcceleratorException.invalid(
                    "overlap",
                    problem.groups()
                            + " groups can be estimated but not run: which row goes to which expert is not part of the problem");
        }
        requireRanks("A", operands);
        requireRanks("B", weights);
        requireRanks("C", results);
        for (List<BufferView> views : List.of(operands, weights, results)) {
            for (int rank = 0; rank < views.size(); rank++) {
                if (!(views.get(rank).memory() instanceof Buffer buffer) || buffer.device() != devices.get(rank)) {
                    throw new AcceleratorException(
                            ErrorCode.WRONG_DEVICE,
                            "overlap",
                            "the views of rank " + rank + " must be buffers of " + devices.get(rank));
                }
            }
        }
    }

    private void requireRanks(String what, List<?> given) {
        if (given.size() != communicator.size()) {
            throw AcceleratorException.invalid(
                    "overlap",
                    given.size() + " given for " + what + "; one is needed for each of the " + communicator.size()
                            + " ranks");
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new AcceleratorException(ErrorCode.CLOSED, "overlap", "the engine was closed before");
        }
        platform.requireOpen("overlap");
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        order.forEach(Stream::synchronize);
        plans.values().forEach(OverlapPlan::close);
        lanes.close();
        workspace.close();
        ready.forEach(Event::close);
        order.forEach(Stream::close);
    }
}
