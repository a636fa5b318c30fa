// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.rccl;

import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.sim.machine.CollectiveAlgorithm;
import io.weft.sim.machine.CollectiveModel;
import io.weft.sim.machine.CollectiveRange;
import io.weft.sim.machine.Machine;
import io.weft.sim.model.GraphEstimator;
import io.weft.spi.ChoiceTables.Table;
import io.weft.spi.PerformanceModel.Detail;
import io.weft.spi.PerformanceModel.Issue;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** RCCL's choice of algorithm and protocol by size: what each of its ways would take on a modelled machine. */
public final class RcclTables {
    private static final long FIRST = 8;
    private static final long LAST = 1L << 30;
    private static final int FACTOR = 8;

    private RcclTables() {}

    /** The table of an operation over the first devices; empty when the machine has one way for it, or the operation has no size. */
    public static List<Table> tables(Machine machine, CollectiveKind kind, int ranks) {
        List<CollectiveRange> ways = machine.collective(kind).ranges();
        if (kind == CollectiveKind.BARRIER || ranks < 2) {
            return List.of();
        }
        List<GraphEstimator> estimators = new ArrayList<>();
        List<String> header = new ArrayList<>(List.of(">bytes"));
        for (CollectiveRange way : ways) {
            estimators.add(new GraphEstimator(only(machine, way)));
            header.add(">" + way.label() + " (us)");
        }
        header.add("taken");
        header.add(">channels");
        List<List<String>> rows = new ArrayList<>();
        for (long bytes = FIRST; bytes <= LAST; bytes *= FACTOR) {
            List<String> row = new ArrayList<>(List.of(Long.toString(bytes)));
            int best = -1;
            double least = Double.POSITIVE_INFINITY;
            for (int i = 0; i < ways.size(); i++) {
                double micros = ways.get(i).serves(bytes) ? micros(estimators.get(i), kind, ranks, bytes) : Double.NaN;
                row.add(Double.isNaN(micros) ? "-" : String.format(Locale.ROOT, "%.1f", micros));
                if (micros < least) {
                    least = micros;
                    best = i;
                }
            }
            row.add(best < 0 ? "-" : ways.get(best).label());
            row.add(best < 0 ? "-" : Integer.toString(ways.get(best).computeUnits()));
            rows.add(row);
        }
        return List.of(new Table(
                "RCCL's ways for " + kind.name().toLowerCase(Locale.ROOT) + " over " + ranks + " ranks of "
                        + machine.name() + ", figures: model, one call of each rank",
                header,
                rows,
                notes(machine, ways)));
    }

    /** The way that is taken for one size, for people; empty when there is nothing to choose. */
    static String choice(Machine machine, CollectiveKind kind, int ranks, long bytes) {
        if (kind == CollectiveKind.BARRIER || ranks < 2 || bytes < 1) {
            return "";
        }
        CollectiveRange best = null;
        double least = Double.POSITIVE_INFINITY;
        for (CollectiveRange way : machine.collective(kind).ways(bytes)) {
            double micros = micros(new GraphEstimator(only(machine, way)), kind, ranks, bytes);
            if (micros < least) {
                least = micros;
                best = way;
            }
        }
        return best == null ? "" : best.label() + ", " + best.computeUnits() + " channels";
    }

    private static List<String> notes(Machine machine, List<CollectiveRange> ways) {
        List<String> notes = new ArrayList<>();
        notes.add("A channel is a block and takes a compute unit; NCCL_ALGO, NCCL_PROTO, NCCL_MIN_NCHANNELS and"
                + " NCCL_MAX_NCHANNELS change the list, as options of the platform.");
        if (ways.stream().anyMatch(way -> way.algorithm() == CollectiveAlgorithm.RING)) {
            if (machine.rings() == 0) {
                notes.add("Rings: stride c joins each rank with the one c places on; every step is a link.");
            }
            for (int ring = 0; ring < machine.rings(); ring += 2) {
                StringBuilder order = new StringBuilder("Ring " + (ring / 2) + ", both ways:");
                for (int place = 0; place < machine.deviceCount(); place++) {
                    order.append(' ').append(machine.ringDevice(ring, place));
                }
                notes.add(order.toString());
            }
        }
        return notes;
    }

    private static Machine only(Machine machine, CollectiveRange way) {
        return machine.with(machine.devices(), List.of(new CollectiveModel(Set.of(), List.of(way), true)))
                .build();
    }

    private static double micros(GraphEstimator estimator, CollectiveKind kind, int ranks, long bytes) {
        CommandGraph.Builder graph = CommandGraph.builder(ranks);
        long block = Math.max(1, bytes / ranks);
        int parts = kind.pointToPoint() ? 2 : ranks;
        for (int rank = 0; rank < parts; rank++) {
            Command.Collective part = part(graph, kind, rank, ranks, bytes, block);
            graph.add(rank, 0, Priority.NORMAL, part, "collective");
        }
        return estimator.estimate(graph.build(), Issue.STREAMS, Detail.SUMMARY).makespanNanos() / 1e3;
    }

    private static Command.Collective part(
            CommandGraph.Builder graph, CollectiveKind kind, int rank, int ranks, long bytes, long block) {
        long whole = block * ranks;
        long send = switch (kind) {
            case ALL_REDUCE, BROADCAST, REDUCE, SEND, RECEIVE -> bytes;
            case ALL_GATHER, GATHER -> block;
            case REDUCE_SCATTER, ALL_TO_ALL, ALL_TO_ALL_V, SCATTER -> whole;
            case BARRIER -> 0;
        };
        long receive = switch (kind) {
            case ALL_REDUCE, BROADCAST, REDUCE, SEND, RECEIVE -> bytes;
            case ALL_GATHER, GATHER, ALL_TO_ALL, ALL_TO_ALL_V -> whole;
            case REDUCE_SCATTER, SCATTER -> block;
            case BARRIER -> 0;
        };
        CollectiveKind mine = kind.pointToPoint() ? rank == 0 ? CollectiveKind.SEND : CollectiveKind.RECEIVE : kind;
        List<Long> counts =
                kind == CollectiveKind.ALL_TO_ALL_V ? java.util.Collections.nCopies(ranks, block) : List.of();
        return new Command.Collective(
                mine,
                ReduceOp.SUM,
                rank,
                ranks,
                mine == CollectiveKind.SEND ? 1 : 0,
                mine == CollectiveKind.RECEIVE ? null : view(graph, rank, send),
                mine == CollectiveKind.SEND ? null : view(graph, rank, receive),
                counts,
                counts,
                0);
    }

    private static BufferView view(CommandGraph.Builder graph, int device, long bytes) {
        Slot slot = graph.slot(device, "buffer", bytes, Slot.Role.COMMUNICATION);
        return BufferView.vector(slot, 0, bytes, ElementType.INT8);
    }
}
