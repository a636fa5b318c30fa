// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.sim.engine.IntervalListener;
import io.weft.sim.engine.VirtualTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Notes who used which resource when, for one estimate. */
final class IntervalLog implements IntervalListener {
    private int count;
    private int[] operation = new int[256];
    private int[] resource = new int[256];
    private long[] start = new long[256];
    private long[] end = new long[256];

    @Override
    public void onFlow(int kind, int id, int used, long startPs, long endPs, double units) {
        if (count == operation.length) {
            int length = 2 * count;
            operation = Arrays.copyOf(operation, length);
            resource = Arrays.copyOf(resource, length);
            start = Arrays.copyOf(start, length);
            end = Arrays.copyOf(end, length);
        }
        operation[count] = id;
        resource[count] = used;
        start[count] = startPs;
        end[count++] = endPs;
    }

    /** Everything noted, and each node's time in its queue or engine, in the timeline's terms. */
    List<Timeline.Interval> intervals(
            CommandGraph graph, CommandRuntime runtime, int[] indexOfResource, int[] indexOfServer) {
        MachineResources resources = runtime.resources();
        List<Timeline.Interval> intervals = new ArrayList<>(count + graph.size());
        for (int i = 0; i < count; i++) {
            if (!resources.isShared(resource[i])) {
                intervals.add(new Timeline.Interval(
                        operation[i],
                        indexOfResource[resource[i]],
                        VirtualTime.toNs(start[i]),
                        VirtualTime.toNs(end[i])));
            }
        }
        for (int node = 0; node < graph.size(); node++) {
            int server = runtime.serverOf(node);
            if (server >= 0) {
                intervals.add(new Timeline.Interval(
                        node,
                        indexOfServer[server],
                        VirtualTime.toNs(runtime.startedPs(node)),
                        VirtualTime.toNs(runtime.leftPs(node))));
            }
        }
        return intervals;
    }
}
