// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.spi.GraphExecutable;
import io.weft.spi.GraphLaunches;
import io.weft.spi.StreamDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A checked graph. Each launch goes to the runtime as a whole, so its timeline is the one that the performance model predicts. */
final class SimGraphExecutable implements GraphExecutable {
    private final SimPlatform platform;
    private final CommandGraph graph;
    private final List<SimDevice> devices;
    private final Map<Integer, int[]> collectives;
    /** First of this graph's own lanes on each device. */
    private final int[] lanes;

    private Timeline last;
    private boolean closed;

    SimGraphExecutable(
            SimPlatform platform, CommandGraph graph, List<SimDevice> devices, Map<Integer, int[]> collectives) {
        this.platform = platform;
        this.graph = graph;
        this.devices = devices;
        this.collectives = collectives;
        this.lanes = new int[devices.size()];
        for (int i = 0; i < lanes.length; i++) {
            SimDevice device = devices.get(i);
            // Lane L of the graph shall use hardware queue L modulo their number, whatever streams there are.
            lanes[i] = device.takeLanes(laneCount(), device.properties().hardwareQueues());
        }
    }

    private int laneCount() {
        return Math.max(1, graph.laneCount());
    }

    @Override
    public void launch(GraphBindings bindings, List<? extends StreamDriver> streams) {
        platform.enter("launch graph");
        try {
            requireOpen();
            GraphLaunches.requireFitting(graph, devices, bindings, streams);
            List<SimStream> real = streams(streams);
            Command[] commands = new Command[graph.size()];
            for (int node = 0; node < commands.length; node++) {
                commands[node] = graph.command(node).rebind(memory -> bindings.require((Slot) memory));
            }
            new GraphRun(platform, this, commands, real).submit();
        } finally {
            platform.leave();
        }
    }

    private List<SimStream> streams(List<? extends StreamDriver> streams) {
        List<SimStream> real = new ArrayList<>(streams.size());
        for (int i = 0; i < streams.size(); i++) {
            SimStream stream = (SimStream) streams.get(i);
            devices.get(i).faults().requireAlive("launch graph");
            stream.requireUsable("launch graph");
            real.add(stream);
        }
        return real;
    }

    private void requireOpen() {
        if (closed) {
            throw new AcceleratorException(ErrorCode.CLOSED, "launch graph", "the graph was closed before");
        }
    }

    CommandGraph graph() {
        return graph;
    }

    List<SimDevice> devices() {
        return devices;
    }

    /** The nodes of each collective by rank, by key. */
    Map<Integer, int[]> collectives() {
        return collectives;
    }

    /** The first of the lanes that the graph uses on its i-th device. */
    int lane(int index) {
        return lanes[index];
    }

    /** A launch is over. */
    void finished(Timeline timeline) {
        last = timeline;
    }

    @Override
    public Optional<Timeline> lastTimeline() {
        platform.enter("timeline");
        try {
            return Optional.ofNullable(last);
        } finally {
            platform.leave();
        }
    }

    @Override
    public void close() {
        platform.enterToClose();
        try {
            // Launches in flight go on; their lanes are free for others, whose work then comes after theirs.
            if (!closed) {
                closed = true;
                for (int i = 0; i < lanes.length; i++) {
                    devices.get(i).giveLanes(lanes[i], laneCount());
                }
            }
        } finally {
            platform.leave();
        }
    }
}
