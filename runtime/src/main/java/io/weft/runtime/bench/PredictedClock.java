// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.BufferView;
import io.weft.api.Priority;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.spi.PerformanceModel;
import java.util.ArrayList;
import java.util.List;

/** Predicts the calls as one host thread for each rank would issue them. */
final class PredictedClock implements CollectiveClock {
    private final PerformanceModel model;
    private final int iterations;

    PredictedClock(PerformanceModel model, int iterations) {
        this.model = model;
        this.iterations = iterations;
    }

    @Override
    public double nanos(CollectiveShape shape) {
        return model.estimate(graph(shape), PerformanceModel.Issue.STREAMS, PerformanceModel.Detail.SUMMARY)
                        .makespanNanos()
                / iterations;
    }

    private CommandGraph graph(CollectiveShape shape) {
        int ranks = shape.ranks();
        int bytes = shape.type().bytes();
        CommandGraph.Builder graph = CommandGraph.builder(ranks);
        List<BufferView> sends = new ArrayList<>(ranks);
        List<BufferView> receives = new ArrayList<>(ranks);
        for (int rank = 0; rank < ranks; rank++) {
            if (shape.inPlace()) {
                Slot one = graph.slot(rank, "buffer", shape.bytes(rank), Slot.Role.OUTPUT);
                sends.add(shape.send(rank, one));
                receives.add(shape.receive(rank, one));
            } else {
                Slot send = graph.slot(rank, "send", shape.sendElements(rank) * bytes, Slot.Role.INPUT);
                Slot receive = graph.slot(rank, "receive", shape.receiveElements(rank) * bytes, Slot.Role.OUTPUT);
                sends.add(shape.send(rank, send));
                receives.add(shape.receive(rank, receive));
            }
        }
        int[][] last = new int[ranks][];
        for (int i = 0; i < iterations; i++) {
            for (int rank = 0; rank < ranks; rank++) {
                List<CollectiveShape.Part> parts =
                        shape.parts(rank, sends.get(rank), receives.get(rank), i * shape.keys());
                int[] nodes = new int[parts.size()];
                for (int lane = 0; lane < nodes.length; lane++) {
                    // Sends and receives of one call run side by side, the next call after both.
                    nodes[lane] = graph.add(
                            rank,
                            lane,
                            Priority.NORMAL,
                            parts.get(lane).command(),
                            shape.operation().label(),
                            nodes.length > 1 && i > 0 ? last[rank] : new int[0]);
                }
                last[rank] = nodes;
            }
        }
        return graph.build();
    }
}
