// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.graph.Timeline;
import io.weft.sim.engine.VirtualTime;
import io.weft.sim.machine.Machine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How a runtime's resources were used between two instants, in the terms of a {@link Timeline}. It counts everything that runs in between, whoever issued it.
 * Confined to the runtime's thread.
 */
public final class UsageMeter {
    private final CommandRuntime runtime;
    private final MachineResources resources;
    private final double[] unitsBefore;
    private final double[] busyBefore;
    private final long[] serverBefore;

    /** Starts to count now. */
    public UsageMeter(CommandRuntime runtime) {
        this.runtime = runtime;
        this.resources = runtime.resources();
        this.unitsBefore = new double[resources.count()];
        this.busyBefore = new double[resources.count()];
        this.serverBefore = new long[resources.servers()];
        for (int r = 0; r < unitsBefore.length; r++) {
            unitsBefore[r] = runtime.units(r);
            busyBefore[r] = runtime.resourceBusyNanos(r);
        }
        for (int s = 0; s < serverBefore.length; s++) {
            serverBefore[s] = runtime.serverBusyPs(s);
        }
    }

    /**
     * What was used up to now.
     *
     * @param devices the machine's devices of interest; the result speaks of their positions in this array
     * @return compute units and memory of each, and of the rest what was used at all
     */
    public List<Timeline.Resource> used(int[] devices) {
        Machine machine = runtime.machine();
        int[] position = new int[machine.deviceCount()];
        Arrays.fill(position, -1);
        List<Timeline.Resource> used = new ArrayList<>();
        for (int i = 0; i < devices.length; i++) {
            int device = devices[i];
            position[device] = i;
            used.add(resource(Timeline.ResourceKind.COMPUTE, resources.compute(device), i, -1));
            used.add(resource(Timeline.ResourceKind.MEMORY, resources.memory(device), i, -1));
            addUsed(used, resources.fromHost(device), i, -1);
            addUsed(used, resources.toHost(device), i, -1);
            int queues = machine.device(device).kernels().hardwareQueues();
            int first = resources.firstServer(device);
            for (int server = first; server <= resources.networkServer(device); server++) {
                double busy = VirtualTime.toNs(runtime.serverBusyPs(server) - serverBefore[server]);
                if (busy > 0) {
                    used.add(new Timeline.Resource(
                            server < first + queues
                                    ? Timeline.ResourceKind.HARDWARE_QUEUE
                                    : Timeline.ResourceKind.COPY_ENGINE,
                            i,
                            -1,
                            resources.serverName(device, server),
                            1,
                            busy,
                            busy / 1e9));
                }
            }
        }
        for (int directed = 0; directed < 2 * machine.links().size(); directed++) {
            int source = machine.linkSource(directed);
            int target = machine.linkTarget(directed);
            // Ends that are switches count as outside.
            int from = source < position.length ? position[source] : -1;
            int to = target < position.length ? position[target] : -1;
            addUsed(used, resources.link(directed), from >= 0 ? from : to, from >= 0 ? to : -1);
        }
        return used;
    }

    private void addUsed(List<Timeline.Resource> used, int resource, int device, int peer) {
        if (runtime.units(resource) > unitsBefore[resource]) {
            used.add(resource(Timeline.ResourceKind.LINK, resource, device, peer));
        }
    }

    private Timeline.Resource resource(Timeline.ResourceKind kind, int resource, int device, int peer) {
        return new Timeline.Resource(
                kind,
                device,
                peer,
                resources.name(resource),
                resources.capacity(resource),
                runtime.resourceBusyNanos(resource) - busyBefore[resource],
                runtime.units(resource) - unitsBefore[resource]);
    }
}
