// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineCatalog;
import io.weft.spi.PerformanceModel.Detail;
import io.weft.spi.PerformanceModel.Issue;
import java.util.List;

/** Short words for building graphs in tests. */
final class GraphKit {
    final Machine machine;
    final CommandGraph.Builder builder;

    private GraphKit(Machine machine, CommandGraph.Builder builder) {
        this.machine = machine;
        this.builder = builder;
    }

    static GraphKit on(String name) {
        return on(MachineCatalog.open(name));
    }

    static GraphKit on(Machine machine) {
        return new GraphKit(machine, CommandGraph.builder(machine.deviceCount()));
    }

    /** Adds to a graph that somebody else builds. */
    static GraphKit into(CommandGraph.Builder builder) {
        return new GraphKit(null, builder);
    }

    BufferView bytes(int device, long bytes) {
        return BufferView.vector(slot(device, bytes), 0, bytes, ElementType.INT8);
    }

    Slot slot(int device, long bytes) {
        return builder.slot(device, "s", bytes, Slot.Role.COMMUNICATION);
    }

    BufferView matrix(int device, long rows, long columns) {
        return BufferView.matrix(slot(device, rows * columns * 2), 0, rows, columns, ElementType.BF16);
    }

    /** A push by engine. */
    int copy(int from, int to, long bytes, int lane, int... after) {
        return copy(from, to, bytes, lane, CopyMethod.ENGINE, after);
    }

    int copy(int from, int to, long bytes, int lane, CopyMethod method, int... after) {
        Command copy = new Command.Copy(bytes(to, bytes), bytes(from, bytes), method);
        return builder.add(from, lane, Priority.HIGH, copy, "copy", after);
    }

    int gemm(int device, long m, long n, long k, int lane, int... after) {
        return gemm(device, m, n, k, lane, Priority.NORMAL, after);
    }

    int gemm(int device, long m, long n, long k, int lane, Priority priority, int... after) {
        Command gemm = Command.Gemm.of(matrix(device, m, n), matrix(device, m, k), matrix(device, k, n));
        return builder.add(device, lane, priority, gemm, "gemm", after);
    }

    /** All parts of a collective over all devices; returns the node of rank 0, the others follow. */
    int collective(CollectiveKind kind, long bytesPerRank, int lane, int key, int... after) {
        int ranks = machine.deviceCount();
        int first = builder.size();
        for (int r = 0; r < ranks; r++) {
            builder.add(r, lane, Priority.HIGH, part(kind, r, ranks, bytesPerRank, key), "collective", after);
        }
        return first;
    }

    /** A part; {@code bytes} is the count of {@link CollectiveKind} in bytes. */
    Command.Collective part(CollectiveKind kind, int rank, int ranks, long bytes, int key) {
        boolean root = rank == 0;
        BufferView send = switch (kind) {
            case RECEIVE, BARRIER -> null;
            case BROADCAST -> root ? bytes(rank, bytes) : null;
            case SCATTER -> root ? bytes(rank, bytes * ranks) : null;
            case REDUCE_SCATTER, ALL_TO_ALL, ALL_TO_ALL_V -> bytes(rank, bytes * ranks);
            default -> bytes(rank, bytes);
        };
        BufferView receive = switch (kind) {
            case SEND, BARRIER -> null;
            case REDUCE -> root ? bytes(rank, bytes) : null;
            case GATHER -> root ? bytes(rank, bytes * ranks) : null;
            case ALL_GATHER, ALL_TO_ALL, ALL_TO_ALL_V -> bytes(rank, bytes * ranks);
            default -> bytes(rank, bytes);
        };
        List<Long> counts =
                kind == CollectiveKind.ALL_TO_ALL_V ? java.util.Collections.nCopies(ranks, bytes) : List.of();
        int peer = kind.pointToPoint() ? 1 - rank : 0;
        return new Command.Collective(kind, ReduceOp.SUM, rank, ranks, peer, send, receive, counts, counts, key);
    }

    Command graphCommand(int node) {
        return builder.build().command(node);
    }

    CommandGraph graph() {
        return builder.build();
    }

    Timeline run() {
        return run(Issue.DEVICE_GRAPH);
    }

    Timeline run(Issue issue) {
        return new GraphEstimator(machine).estimate(graph(), issue, Detail.INTERVALS);
    }

    double graphLatency() {
        return machine.device(0).launch().graphNanos();
    }
}
