// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.BufferView;
import io.weft.api.Figures;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.spi.PerformanceModel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A machine that a reader can work out by hand: lanes never disturb one another, a GEMM takes whole waves of tiles, a copy takes a fixed time and then its bytes. */
final class LaneModel implements PerformanceModel {
    private final double tileRowNanos;
    private final double bytesPerNano;
    private final double setup;

    /**
     * @param tileRowNanos time of one row of tiles (64 rows) times N K, ns for N K = 1
     * @param bytesPerNano GB/s of one copy
     * @param setup ns before any command
     */
    LaneModel(double tileRowNanos, double bytesPerNano, double setup) {
        this.tileRowNanos = tileRowNanos;
        this.bytesPerNano = bytesPerNano;
        this.setup = setup;
    }

    @Override
    public Timeline estimate(CommandGraph graph, Issue issue, Detail detail) {
        double[] starts = new double[graph.size()];
        double[] ends = new double[graph.size()];
        Map<Long, Double> lanes = new HashMap<>();
        Map<Integer, Double> joined = new HashMap<>();
        int[][] before = Reference.predecessors(graph);
        double makespan = 0;
        for (int node = 0; node < graph.size(); node++) {
            if (graph.command(node) instanceof Command.Collective part) {
                joined.merge(part.key(), ready(node, before, ends), Math::max);
            }
            long lane = ((long) graph.device(node) << 32) | graph.lane(node);
            starts[node] = Math.max(lanes.getOrDefault(lane, 0.0), ready(node, before, ends));
            ends[node] = starts[node] + aloneNanos(graph, node);
            lanes.put(lane, ends[node]);
            makespan = Math.max(makespan, ends[node]);
        }
        return new Timeline(graph, Figures.MODEL, starts, ends, makespan, List.of(), List.of());
    }

    private static double ready(int node, int[][] before, double[] ends) {
        double ready = 0;
        for (int dependency : before[node]) {
            ready = Math.max(ready, ends[dependency]);
        }
        return ready;
    }

    @Override
    public double aloneNanos(CommandGraph graph, int node) {
        return switch (graph.command(node)) {
            case Command.Gemm gemm ->
                setup + gemm.batch() * Math.ceilDiv(gemm.m(), 64L) * tileRowNanos * gemm.n() * gemm.k();
            case Command.Copy copy -> setup + (Traffic.isTransfer(copy) ? bytes(copy.source()) / bytesPerNano : 0);
            case Command.CopyStrided copy ->
                setup + (Traffic.isTransfer(copy) ? bytes(copy.source()) / bytesPerNano : 0);
            case Command.Reduce ignored -> setup;
            case Command.Fill ignored -> setup;
            // All peers at once, a little slower than copies.
            case Command.Collective part ->
                setup + 1.5 * bytes(part.send() == null ? part.receive() : part.send()) / bytesPerNano;
        };
    }

    private static double bytes(BufferView view) {
        return view.bytes();
    }
}
