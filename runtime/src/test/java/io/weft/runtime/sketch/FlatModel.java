// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.sketch;

import io.weft.api.Figures;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.spi.PerformanceModel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A machine without waves, contention or latency, so that a reader works out every time by hand: a GEMM runs at 1 PFLOP/s, and everything
 * else moves what it reads at 50 GB/s.
 */
public final class FlatModel implements PerformanceModel {
    @Override
    public Timeline estimate(CommandGraph graph, Issue issue, Detail detail) {
        double[] starts = new double[graph.size()];
        double[] ends = new double[graph.size()];
        Map<Long, Double> laneFree = new HashMap<>();
        double makespan = 0;
        for (int node = 0; node < graph.size(); node++) {
            long lane = (long) graph.device(node) << 32 | graph.lane(node);
            double start = laneFree.getOrDefault(lane, 0.0);
            for (int dependency : graph.dependencies(node)) {
                start = Math.max(start, ends[dependency]);
            }
            starts[node] = start;
            ends[node] = start + aloneNanos(graph, node);
            laneFree.put(lane, ends[node]);
            makespan = Math.max(makespan, ends[node]);
        }
        List<Timeline.Resource> resources = new ArrayList<>();
        List<Timeline.Interval> intervals = new ArrayList<>();
        for (int device = 0; device < graph.deviceCount(); device++) {
            resources.add(new Timeline.Resource(
                    Timeline.ResourceKind.COPY_ENGINE, device, -1, "device " + device + " engine 0", 1, 0, 0));
        }
        if (detail == Detail.INTERVALS) {
            for (int node = 0; node < graph.size(); node++) {
                if (graph.command(node) instanceof Command.Copy) {
                    intervals.add(new Timeline.Interval(node, graph.device(node), starts[node], ends[node]));
                }
            }
        }
        return new Timeline(graph, Figures.MODEL, starts, ends, makespan, resources, intervals);
    }

    @Override
    public double aloneNanos(CommandGraph graph, int node) {
        return graph.command(node) instanceof Command.Gemm gemm
                ? 2.0 * gemm.m() * gemm.n() * gemm.k() / 1e6
                : graph.command(node).reads().stream()
                                .mapToDouble(view -> view.bytes())
                                .sum()
                        / 50;
    }
}
