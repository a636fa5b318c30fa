// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import java.util.List;

/**
 * Writes the nodes of one lowered schedule. Commands without elements are left out and answered with node -1, which counts as no dependency.
 *
 * <p>Lanes of a device: compute lanes from 0, then one lane for each peer that it sends to, then one each for local copies before a GEMM, local copies after a GEMM, and reductions. Copies between
 * devices are pushed: the node is on the source.
 */
final class GraphWriter {
    /** Labels are made once: a graph has about a thousand nodes and must be written in a few hundred microseconds. */
    private static final int CACHED_LABELS = 1024;

    private static final String[] GEMM_LABELS = labels("gemm ");
    private static final String[] SEND_LABELS = labels("send ");
    private static final String[] GATHER_LABELS = labels("gather ");
    private static final String[] SCATTER_LABELS = labels("scatter ");
    private static final String[] REDUCE_LABELS = labels("reduce ");
    private static final String[] RESULT_LABELS = labels("send result ");

    /** Staging blocks start at multiples of this, as copy engines and GEMMs like it. */
    private static final long ALIGNMENT = 128;

    final OverlapProblem problem;
    final Schedule schedule;
    final RowPlan plan;
    final CommandGraph.Builder graph;
    final int ranks;
    final long n;
    final long k;
    final ElementType type;
    final ElementType resultType;
    final Slot[] a;
    final Slot[] b;
    final Slot[] c;
    private final CopyMethod peerCopy;
    private final int streams;

    GraphWriter(OverlapProblem problem, Schedule schedule) {
        this.problem = problem;
        this.schedule = schedule;
        this.plan = RowPlan.of(problem);
        this.ranks = problem.ranks();
        this.n = problem.n();
        this.k = problem.k();
        this.type = problem.elementType();
        this.resultType = problem.outputType();
        this.peerCopy = schedule.engine().copyMethod();
        this.streams = schedule.streams();
        this.graph = CommandGraph.builder(ranks);
        this.a = new Slot[ranks];
        this.b = new Slot[ranks];
        this.c = new Slot[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            long rows = problem.inPlace() ? plan.received[rank] : plan.held[rank];
            // In place, A is written as well: rows of others arrive in it.
            Slot.Role role = problem.inPlace() ? Slot.Role.OUTPUT : Slot.Role.INPUT;
            a[rank] = graph.slot(rank, "A", rows * k * type.bytes(), role);
            b[rank] = graph.slot(rank, "B", problem.groups() * k * n * type.bytes(), Slot.Role.INPUT);
            c[rank] = graph.slot(rank, "C", plan.received[rank] * n * resultType.bytes(), Slot.Role.OUTPUT);
        }
    }

    private static String[] labels(String prefix) {
        String[] labels = new String[CACHED_LABELS];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = prefix + i;
        }
        return labels;
    }

    private static String label(String[] cached, int index) {
        return index < CACHED_LABELS ? cached[index] : cached[0].substring(0, cached[0].length() - 1) + index;
    }

    static long align(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    // Lanes.

    int computeLane(int index) {
        return index % streams;
    }

    int sendLane(int source, int destination) {
        return streams + (destination - source + ranks) % ranks - 1;
    }

    int gatherLane() {
        return streams + ranks - 1;
    }

    private int scatterLane() {
        return streams + ranks;
    }

    private int reduceLane() {
        return streams + ranks + 1;
    }

    // Views.

    /** Rows of a matrix without gaps. */
    static BufferView rows(Slot slot, long base, long first, long count, long columns, ElementType type) {
        return BufferView.matrix(slot, base + first * columns * type.bytes(), count, columns, type);
    }

    /** Rows of the operand that a rank was given. */
    BufferView operand(int rank, long first, long count) {
        long own = problem.inPlace() ? plan.to[rank][rank] : 0;
        return rows(a[rank], 0, own + first, count, k, type);
    }

    /** Rows of a rank's result. */
    BufferView result(int rank, long first, long count) {
        return rows(c[rank], 0, first, count, n, resultType);
    }

    /** A rank's weight. */
    BufferView weight(int rank) {
        return rows(b[rank], 0, 0, k, n, type);
    }

    // Slots.

    Slot communication(int rank, String name, long bytes) {
        return graph.slot(rank, name, bytes, Slot.Role.COMMUNICATION);
    }

    Slot compute(int rank, String name, long bytes) {
        return graph.slot(rank, name, bytes, Slot.Role.COMPUTE);
    }

    // Nodes.

    /** A product; with several groups one product for each, whose last rows may overlap: enough for an estimate, for which alone groups are meant. */
    int gemm(
            int rank,
            int lane,
            int index,
            BufferView result,
            BufferView left,
            BufferView right,
            boolean accumulate,
            int... after) {
        if (result.isEmpty()) {
            return -1;
        }
        Command.Gemm command;
        int batch = (int) Math.min(problem.groups(), result.rows());
        if (batch == 1) {
            command = accumulate ? Command.Gemm.accumulate(result, left, right) : Command.Gemm.of(result, left, right);
        } else {
            long rows = (result.rows() + batch - 1) / batch;
            long step = (result.rows() - rows) / (batch - 1);
            command = new Command.Gemm(
                    result.rowRange(0, rows),
                    left.rowRange(0, rows),
                    right,
                    false,
                    false,
                    1,
                    accumulate ? 1 : 0,
                    batch,
                    step * result.pitch(),
                    step * left.pitch(),
                    k * n);
        }
        return graph.add(rank, lane, Priority.NORMAL, command, label(GEMM_LABELS, index), after);
    }

    /** A copy to another rank, on the lane for that peer. */
    int send(int source, int destination, int index, BufferView target, BufferView origin, int... after) {
        return send(source, destination, sendLane(source, destination), index, target, origin, after);
    }

    int send(int source, int destination, int lane, int index, BufferView target, BufferView origin, int... after) {
        return copy(source, lane, peerCopy, label(SEND_LABELS, index), target, origin, Priority.HIGH, after);
    }

    /** A copy of a finished result to another rank. */
    int sendResult(int source, int destination, int index, BufferView target, BufferView origin, int... after) {
        return copy(
                source,
                sendLane(source, destination),
                peerCopy,
                label(RESULT_LABELS, index),
                target,
                origin,
                Priority.HIGH,
                after);
    }

    /** A local copy that a GEMM waits for. The backend chooses the method: engines are slow at local copies on some machines. */
    int gather(int rank, int index, BufferView target, BufferView origin, int... after) {
        return copy(
                rank, gatherLane(), CopyMethod.AUTO, label(GATHER_LABELS, index), target, origin, Priority.HIGH, after);
    }

    /** A local copy of a GEMM's result to its place. */
    int scatter(int rank, int index, BufferView target, BufferView origin, int... after) {
        return copy(
                rank,
                scatterLane(),
                CopyMethod.AUTO,
                label(SCATTER_LABELS, index),
                target,
                origin,
                Priority.NORMAL,
                after);
    }

    private int copy(
            int device,
            int lane,
            CopyMethod method,
            String label,
            BufferView target,
            BufferView origin,
            Priority priority,
            int... after) {
        if (origin.isEmpty() || target.equals(origin)) {
            return -1; // In place, own rows are where they belong.
        }
        Command command = target.isContiguous() && origin.isContiguous()
                ? new Command.Copy(target, origin, method)
                : new Command.CopyStrided(target, origin, method);
        return graph.add(device, lane, priority, command, label, after);
    }

    /** The sum of partial products in the order given. */
    int reduce(int rank, int index, BufferView target, List<BufferView> inputs, int... after) {
        if (target.isEmpty()) {
            return -1;
        }
        Command command = new Command.Reduce(target, inputs, ReduceOp.SUM);
        return graph.add(rank, reduceLane(), Priority.HIGH, command, label(REDUCE_LABELS, index), after);
    }

    /** Rounds an fp32 accumulator to the result, right after the GEMM that filled it. */
    int round(int rank, int lane, BufferView target, BufferView accumulator, int... after) {
        if (target.isEmpty()) {
            return -1;
        }
        Command command = new Command.Reduce(target, List.of(accumulator), ReduceOp.SUM);
        return graph.add(rank, lane, Priority.NORMAL, command, "round", after);
    }

    /** One rank's part of a collective. */
    int collective(
            int rank,
            int lane,
            CollectiveKind kind,
            int root,
            BufferView send,
            BufferView receive,
            List<Long> sendCounts,
            List<Long> receiveCounts,
            int key,
            int... after) {
        Command command = new Command.Collective(
                kind, ReduceOp.SUM, rank, ranks, root, send, receive, sendCounts, receiveCounts, key);
        return graph.add(rank, lane, Priority.HIGH, command, kind.name().toLowerCase(java.util.Locale.ROOT), after);
    }

    /** The only work of a single rank, whatever the schedule. */
    void multiplyAlone() {
        gemm(0, 0, 0, result(0, 0, plan.received[0]), operand(0, 0, plan.held[0]), weight(0), false);
    }

    LoweredSchedule finish() {
        return new LoweredSchedule(problem, schedule, graph.build(), List.of(a), List.of(b), List.of(c));
    }
}
