// SPDX-License-Identifier: Apache-2.0
package io.weft.amd;

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
import io.weft.sim.model.GraphEstimator;
import io.weft.spi.PerformanceModel.Detail;
import io.weft.spi.PerformanceModel.Issue;
import java.util.List;

/** What the vendor's test programs measure, on a model. */
final class Measurement {
    private final Machine machine;
    private final CommandGraph.Builder graph;

    private Measurement(Machine machine) {
        this.machine = machine;
        graph = CommandGraph.builder(machine.deviceCount());
    }

    static Measurement on(String name) {
        return new Measurement(AmdMachines.find(name).orElseThrow());
    }

    /** A push from one device to another in a lane of its own. */
    Measurement copy(int from, int to, long bytes, CopyMethod method) {
        Command copy = new Command.Copy(bytes(to, bytes), bytes(from, bytes), method);
        graph.add(from, to, Priority.NORMAL, copy, "copy");
        return this;
    }

    private BufferView bytes(int device, long bytes) {
        Slot slot = graph.slot(device, "buffer", bytes, Slot.Role.COMMUNICATION);
        return BufferView.vector(slot, 0, bytes, ElementType.INT8);
    }

    /** GB/s of each copy from its start to its end, in the order in which they were added. */
    double[] gigabytesPerSecond() {
        CommandGraph built = graph.build();
        Timeline timeline = new GraphEstimator(machine).estimate(built, Issue.DEVICE_GRAPH, Detail.SUMMARY);
        double[] rates = new double[built.size()];
        for (int node = 0; node < rates.length; node++) {
            long bytes = ((Command.Copy) built.command(node)).source().bytes();
            rates[node] = bytes / timeline.durationNanos(node);
        }
        return rates;
    }

    /** us that an all-reduce over all devices takes when each device has a process that issues it. */
    static double allReduceMicros(String name, long bytes) {
        Measurement run = on(name);
        int ranks = run.machine.deviceCount();
        for (int rank = 0; rank < ranks; rank++) {
            BufferView buffer = run.bytes(rank, bytes);
            run.graph.add(
                    rank,
                    0,
                    Priority.NORMAL,
                    new Command.Collective(
                            CollectiveKind.ALL_REDUCE,
                            ReduceOp.SUM,
                            rank,
                            ranks,
                            0,
                            buffer,
                            buffer,
                            List.of(),
                            List.of(),
                            0),
                    "all-reduce");
        }
        return new GraphEstimator(run.machine)
                        .estimate(run.graph.build(), Issue.STREAMS, Detail.SUMMARY)
                        .makespanNanos()
                / 1e3;
    }
}
