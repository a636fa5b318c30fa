// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.graph.CommandGraph;
import io.weft.sim.machine.LaunchModel;
import io.weft.sim.machine.Machine;
import java.util.Arrays;

/**
 * What the launch of a device graph takes: a driver hands a graph's branches to one hardware channel after another, on one device after another, and nothing
 * starts before all have theirs. Keeps a table between calls, so that nothing is allocated; not for several threads at once.
 */
public final class GraphLaunch {
    private static final int MOST_LANES = 64;

    private final Machine machine;
    private final boolean spreads;
    /** By device: a bit for each lane that has nodes. */
    private final long[] lanes;

    /** The launches of one machine. */
    public GraphLaunch(Machine machine) {
        this.machine = machine;
        lanes = new long[machine.deviceCount()];
        spreads = machine.devices().stream()
                .anyMatch(device -> device.launch().graphDeviceNanos() > 0
                        || device.launch().graphLaneNanos() > 0);
    }

    /** ns that a graph's launch takes on every device for how far the graph is spread, beyond the device's own {@link LaunchModel#graphNanos()}. */
    public double spreadNanos(CommandGraph graph) {
        if (!spreads) {
            return 0;
        }
        Arrays.fill(lanes, 0);
        for (int node = 0; node < graph.size(); node++) {
            lanes[graph.device(node)] |= 1L << graph.lane(node) % MOST_LANES;
        }
        double device = 0;
        double lane = 0;
        int used = 0;
        int most = 1;
        for (int i = 0; i < lanes.length; i++) {
            if (lanes[i] != 0) {
                LaunchModel launch = machine.device(i).launch();
                device = Math.max(device, launch.graphDeviceNanos());
                lane = Math.max(lane, launch.graphLaneNanos());
                used++;
                most = Math.max(most, Long.bitCount(lanes[i]));
            }
        }
        return Math.max(0, used - 1) * device + (most - 1) * lane;
    }
}
