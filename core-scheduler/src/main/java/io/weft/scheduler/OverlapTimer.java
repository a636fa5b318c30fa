// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Stream;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.api.numeric.Poison;
import io.weft.api.numeric.RandomData;
import io.weft.spi.PerformanceModel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * One problem with memory and random data, on which schedules are timed and checked. Rank r's A is stream {@code 2 r} of {@link RandomData} and its B stream {@code 2 r + 1}. Schedules share workspace, as those of an engine do. Not for
 * several threads at once; closing it frees everything.
 */
public final class OverlapTimer implements AutoCloseable {
    /** Host memory by which data are made and moved; small enough for every machine, large enough that the calls cost nothing. */
    private static final long STAGING_BYTES = 64L << 20;

    private final OverlapProblem problem;
    private final long seed;
    private final GraphTimer timer;
    private final Workspace workspace;
    private final Deque<Buffer> buffers = new ArrayDeque<>();
    private final Deque<TimedSchedule> prepared = new ArrayDeque<>();
    /** A of each rank as the schedules know it. */
    private final List<BufferView> wholes = new ArrayList<>();
    /** The rows of it that hold the rank's data. */
    private final List<BufferView> operands = new ArrayList<>();

    private final List<BufferView> weights = new ArrayList<>();
    private final List<BufferView> results = new ArrayList<>();
    private final boolean storage;

    /** A schedule that is ready to be timed. */
    public final class TimedSchedule {
        private final LoweredSchedule lowered;
        private final GraphTimer.Timed timed;
        private long generation;

        private TimedSchedule(LoweredSchedule lowered, GraphTimer.Timed timed) {
            this.lowered = lowered;
            this.timed = timed;
        }

        /** What it runs. */
        public LoweredSchedule lowered() {
            return lowered;
        }

        /** Runs it once and waits for the end. */
        public GraphTimer.Sample run() {
            if (generation != workspace.generation()) {
                timed.bind(bindings(lowered));
                generation = workspace.generation();
            }
            return timed.run();
        }
    }

    private OverlapTimer(Communicator communicator, OverlapProblem problem, long seed) {
        this.problem = problem;
        this.seed = seed;
        timer = GraphTimer.over(communicator);
        List<Device> devices = new ArrayList<>();
        for (int rank = 0; rank < communicator.size(); rank++) {
            devices.add(communicator.device(rank));
        }
        workspace = new Workspace(devices, timer.order());
        storage = communicator.platform().has(Capability.STORAGE);
        LoweredSchedule shape = Lowering.lower(problem, Schedule.serial());
        try {
            for (int rank = 0; rank < problem.ranks(); rank++) {
                ElementType type = problem.elementType();
                Device device = devices.get(rank);
                BufferView operand = allocate(device, shape.operands().get(rank), problem.k(), type);
                wholes.add(operand);
                operands.add(
                        problem.inPlace()
                                ? operand.rowRange(problem.shardStart(rank), problem.shardRows(rank))
                                : operand);
                weights.add(allocate(device, shape.weights().get(rank), problem.n(), type));
                results.add(allocate(device, shape.results().get(rank), problem.n(), problem.outputType()));
            }
            if (storage) {
                fill();
            }
        } catch (RuntimeException | Error failure) {
            close();
            throw failure;
        }
    }

    /**
     * Takes memory and makes data.
     *
     * @param communicator of as many ranks as the problem, all in this process; outlives the timer
     * @throws AcceleratorException INVALID_ARGUMENT for several groups; OUT_OF_MEMORY
     */
    public static OverlapTimer open(Communicator communicator, OverlapProblem problem, long seed) {
        if (problem.groups() > 1) {
            throw AcceleratorException.invalid(
                    "time schedules", problem.groups() + " groups can be estimated but not run; time one group");
        }
        if (problem.ranks() != communicator.size()) {
            throw AcceleratorException.invalid(
                    "time schedules",
                    "the problem speaks of " + problem.ranks() + " ranks and the communicator has "
                            + communicator.size());
        }
        return new OverlapTimer(communicator, problem, seed);
    }

    /** The problem. */
    public OverlapProblem problem() {
        return problem;
    }

    /** Whether results can be looked at. */
    public boolean holdsData() {
        return storage;
    }

    private BufferView allocate(Device device, Slot slot, long columns, ElementType type) {
        // A rank may have no rows; a buffer has at least one byte all the same.
        Buffer buffer = device.allocate(Math.max(1, slot.bytes()));
        buffers.push(buffer);
        return buffer.matrix(slot.bytes() / type.bytes() / columns, columns, type);
    }

    private void fill() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment staging = arena.allocate(STAGING_BYTES, Long.BYTES);
            for (int rank = 0; rank < problem.ranks(); rank++) {
                fill(staging, operands.get(rank), 2L * rank);
                fill(staging, weights.get(rank), 2L * rank + 1);
            }
        }
    }

    private void fill(MemorySegment staging, BufferView view, long stream) {
        int bytes = view.type().bytes();
        long most = STAGING_BYTES / bytes;
        for (long first = 0; first < view.elements(); first += most) {
            long count = Math.min(most, view.elements() - first);
            RandomData.fill(staging, 0, view.type(), seed, stream, first, count);
            ((Buffer) view.memory()).write(view.offset() + first * bytes, staging.asSlice(0, count * bytes));
        }
    }

    /** Prepares a schedule. */
    public TimedSchedule prepare(Schedule schedule, PerformanceModel.Issue issue) {
        return prepare(Lowering.lower(problem, schedule), issue);
    }

    /** Prepares a graph over the problem's slots. */
    public TimedSchedule prepare(LoweredSchedule lowered, PerformanceModel.Issue issue) {
        workspace.reserve(lowered.graph());
        TimedSchedule ready = new TimedSchedule(lowered, timer.prepare(lowered.graph(), issue));
        prepared.push(ready);
        return ready;
    }

    private GraphBindings bindings(LoweredSchedule lowered) {
        GraphBindings bindings = new GraphBindings(lowered.graph());
        for (int rank = 0; rank < problem.ranks(); rank++) {
            bind(bindings, lowered.operands().get(rank), wholes.get(rank));
            bind(bindings, lowered.weights().get(rank), weights.get(rank));
            bind(bindings, lowered.results().get(rank), results.get(rank));
        }
        workspace.bind(lowered.graph(), bindings);
        return bindings;
    }

    private static void bind(GraphBindings bindings, Slot slot, BufferView view) {
        bindings.bind(slot, (Buffer) view.memory());
    }

    /**
     * Runs a schedule once over poisoned results and workspace, and compares what it wrote with the reference.
     *
     * @throws AcceleratorException UNSUPPORTED when the platform holds no data
     */
    public SampledReference.Outcome check(TimedSchedule schedule, SampledReference reference) {
        timer.platform().require(Capability.STORAGE, "check results");
        workspace.reserve(schedule.lowered().graph());
        workspace.fill(0xFF);
        List<Stream> order = timer.order();
        for (int rank = 0; rank < results.size(); rank++) {
            if (!results.get(rank).isEmpty()) {
                order.get(rank).fill(results.get(rank), Poison.bits(problem.outputType()));
            }
        }
        poisonArrivals(order);
        order.forEach(Stream::synchronize);
        schedule.run();
        return reference.compare(results);
    }

    /** In place, rows of other ranks still hold what the last schedule brought. */
    private void poisonArrivals(List<Stream> order) {
        for (int rank = 0; rank < wholes.size() && problem.inPlace(); rank++) {
            long start = problem.shardStart(rank);
            long end = start + problem.shardRows(rank);
            BufferView whole = wholes.get(rank);
            for (BufferView others : List.of(whole.rowRange(0, start), whole.rowRange(end, problem.m() - end))) {
                if (!others.isEmpty()) {
                    order.get(rank).fill(others, Poison.bits(problem.elementType()));
                }
            }
        }
    }

    @Override
    public void close() {
        while (!prepared.isEmpty()) {
            prepared.pop().timed.close();
        }
        workspace.close();
        timer.close();
        buffers.forEach(Buffer::close);
        buffers.clear();
    }
}
