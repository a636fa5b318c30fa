// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.topology.Link;
import io.weft.api.topology.Topology;
import io.weft.spi.PerformanceModel;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The longest path through a schedule's lanes, from what single commands cost alone. Nothing is simulated: one pass over the commands, in which each starts when its lane and what it depends on are done, the GEMMs of a device follow one another at the
 * rate at which they fill its compute units, and copies that share a port or a link with the others of their step end with them. Safe for any thread.
 */
final class PathTimes {
    /** From the end of a command until one that waits for it on another lane or device starts: a barrier packet or a semaphore, 1 to 1.5 us on current devices. */
    private static final double SIGNAL_NANOS = 1500;

    /** Large enough that what comes before the first byte no longer counts. */
    private static final long PROBE_BYTES = 64 << 20;

    private record Piece(long rows, long columns, long depth, ElementType type, boolean accumulates, int streams) {}

    private final PerformanceModel model;
    private final Topology topology;
    private final int ranks;
    private final Map<AloneTimes.Shape, Double> known = new ConcurrentHashMap<>();
    private final Map<Piece, Double> steady = new ConcurrentHashMap<>();
    private final double sharing;

    /**
     * For the schedules of one problem.
     *
     * @param sharing of {@link #sharing}
     */
    PathTimes(PerformanceModel model, Topology topology, int ranks, double sharing) {
        this.model = model;
        this.topology = topology;
        this.ranks = ranks;
        this.sharing = sharing;
    }

    /** ns until everything is done. */
    double nanos(LoweredSchedule lowered) {
        CommandGraph graph = lowered.graph();
        Schedule schedule = lowered.schedule();
        int streams = schedule.streams();
        AloneTimes alone = new AloneTimes(model, graph, known);
        int devices = graph.deviceCount();
        double[] ends = new double[graph.size()];
        int stride = 1;
        for (int node = 0; node < graph.size(); node++) {
            stride = Math.max(stride, 1 + graph.lane(node));
        }
        double[] lanes = new double[devices * stride];
        double[] compute = new double[devices];
        double[] out = new double[devices];
        double last = 0;
        for (int node = 0; node < graph.size(); node++) {
            int device = graph.device(node);
            int lane = device * stride + graph.lane(node);
            double start = lanes[lane];
            for (int i = 0; i < graph.dependencyCount(node); i++) {
                int before = graph.dependency(node, i);
                boolean crosses = graph.device(before) != device || graph.lane(before) != graph.lane(node);
                start = Math.max(start, ends[before] + (crosses ? SIGNAL_NANOS : 0));
            }
            double nanos = alone.nanos(node);
            double end = start + nanos;
            Command command = graph.command(node);
            if (command instanceof Command.Gemm gemm) {
                double held = streams > 1 ? Math.min(nanos, steady(gemm, streams)) : nanos;
                compute[device] = Math.max(compute[device], start) + held;
                // Those that run at once share the device and end late, which counts where what they make travels on.
                double together = lowered.problem().pattern().gathers() ? nanos : Math.max(nanos, streams * held);
                end = Math.max(start + together, compute[device]);
            } else if (Traffic.isTransfer(command) && !(command instanceof Command.Collective)) {
                boolean onePeer = schedule.kind() == Schedule.Kind.SHARD_P2P;
                end = copied(command, lowered.problem().pattern(), onePeer, start, nanos, out);
            }
            ends[node] = end;
            lanes[lane] = end;
            last = Math.max(last, end);
        }
        return last;
    }

    /**
     * When a copy ends. Where data are gathered, the copies of a step begin together, share what they have in common fairly and end together; a whole shard from one peer at a time has a port for itself, and crosses as many links as its path has.
     * Where products travel, each leaves when it is done, and those of a device follow one another through its ports.
     */
    private double copied(Command command, Pattern pattern, boolean onePeer, double start, double nanos, double[] out) {
        BufferView source =
                command instanceof Command.Copy copy ? copy.source() : ((Command.CopyStrided) command).source();
        BufferView target = command instanceof Command.Copy copy
                ? copy.destination()
                : ((Command.CopyStrided) command).destination();
        int from = Traffic.device(source);
        Link link = topology.link(from, Traffic.device(target));
        if (!(link.bandwidth() > 0)) {
            return start + nanos;
        }
        double alone = source.bytes() / link.bandwidth();
        if (pattern.gathers()) {
            return start + nanos + alone * ((onePeer ? link.hops() : sharing) - 1);
        }
        out[from] = Math.max(out[from], start) + alone * sharing / (ranks - 1);
        return Math.max(start + nanos, out[from]);
    }

    /** Time of all pairs of so many devices at once over the time of one: 1 on a mesh, the number of peers at a switch, between them elsewhere. */
    static double sharing(PerformanceModel model, int ranks) {
        double more = allPairs(model, ranks, 2 * PROBE_BYTES) - allPairs(model, ranks, PROBE_BYTES);
        return Math.max(1, more / (pair(model, ranks, 2 * PROBE_BYTES) - pair(model, ranks, PROBE_BYTES)));
    }

    private static double allPairs(PerformanceModel model, int ranks, long bytes) {
        CommandGraph.Builder builder = CommandGraph.builder(ranks);
        for (int from = 0; from < ranks; from++) {
            for (int to = 0; to < ranks; to++) {
                if (from != to) {
                    builder.add(from, to, Priority.NORMAL, copy(builder, from, to, bytes), "copy");
                }
            }
        }
        return model.estimate(builder.build(), PerformanceModel.Issue.DEVICE_GRAPH, PerformanceModel.Detail.SUMMARY)
                .makespanNanos();
    }

    private static double pair(PerformanceModel model, int ranks, long bytes) {
        CommandGraph.Builder builder = CommandGraph.builder(ranks);
        int node = builder.add(0, 0, Priority.NORMAL, copy(builder, 0, 1, bytes), "copy");
        return model.aloneNanos(builder.build(), node);
    }

    private static Command copy(CommandGraph.Builder builder, int from, int to, long bytes) {
        BufferView source =
                BufferView.vector(builder.slot(from, "source", bytes, Slot.Role.INPUT), 0, bytes, ElementType.INT8);
        BufferView target =
                BufferView.vector(builder.slot(to, "target", bytes, Slot.Role.OUTPUT), 0, bytes, ElementType.INT8);
        return new Command.Copy(target, source, CopyMethod.AUTO);
    }

    /** What one of many equal GEMMs costs when they run on several lanes of a device, ns. */
    private double steady(Command.Gemm gemm, int streams) {
        Piece piece = new Piece(gemm.m(), gemm.n(), gemm.k(), gemm.a().type(), gemm.beta() != 0, streams);
        Double nanos = steady.get(piece);
        if (nanos == null) {
            nanos = (beside(gemm, streams, 3) - beside(gemm, streams, 1)) / (2 * streams);
            steady.put(piece, nanos);
        }
        return nanos;
    }

    private double beside(Command.Gemm gemm, int lanes, int each) {
        CommandGraph.Builder builder = CommandGraph.builder(1);
        // All with the same operands: as many of their own would not fit where those of the problem just do.
        Command.Gemm same = Baseline.gemm(builder, gemm);
        for (int i = 0; i < lanes * each; i++) {
            builder.add(0, i % lanes, Priority.NORMAL, same, "gemm");
        }
        return model.estimate(builder.build(), PerformanceModel.Issue.DEVICE_GRAPH, PerformanceModel.Detail.SUMMARY)
                .makespanNanos();
    }
}
