// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.sim.engine.Engine;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.LinkModel;
import io.weft.sim.machine.Machine;

/**
 * Numbers of a machine's parts as the engine's resources, and of its queues and copy engines as servers. The same machine always gets the same
 * numbers. Immutable.
 */
final class MachineResources {
    private static final int PER_DEVICE = 4;

    private final Machine machine;
    private final int firstLink;
    private final int resources;
    /** By link: the resource that both directions share, or -1. */
    private final int[] duplex;

    private final int[] serverStart;
    private final double[] capacities;

    MachineResources(Machine machine) {
        this.machine = machine;
        int devices = machine.deviceCount();
        int links = machine.links().size();
        firstLink = PER_DEVICE * devices;
        duplex = new int[links];
        int next = firstLink + 2 * links;
        for (int i = 0; i < links; i++) {
            duplex[i] = machine.links().get(i).duplexEfficiency() < 1 ? next++ : -1;
        }
        resources = next;
        capacities = new double[resources];
        serverStart = new int[devices + 1];
        for (int d = 0; d < devices; d++) {
            DeviceModel device = machine.device(d);
            capacities[compute(d)] = device.computeUnits();
            capacities[memory(d)] = device.memory().reachableBandwidth();
            capacities[fromHost(d)] = device.hostLink().toDevice();
            capacities[toHost(d)] = device.hostLink().fromDevice();
            // One server for each hardware queue and engine, and one for the network card.
            serverStart[d + 1] = serverStart[d]
                    + device.kernels().hardwareQueues()
                    + device.copyEngines().count()
                    + 1;
        }
        for (int i = 0; i < links; i++) {
            LinkModel link = machine.links().get(i);
            capacities[link(2 * i)] = link.capacity();
            capacities[link(2 * i + 1)] = link.reverseCapacity();
            if (duplex[i] >= 0) {
                capacities[duplex[i]] = (link.capacity() + link.reverseCapacity()) * link.duplexEfficiency();
            }
        }
    }

    void addTo(Engine engine) {
        for (int r = 0; r < resources; r++) {
            engine.addResource(name(r), capacities[r]);
        }
    }

    int count() {
        return resources;
    }

    double capacity(int resource) {
        return capacities[resource];
    }

    int compute(int device) {
        return PER_DEVICE * device;
    }

    int memory(int device) {
        return PER_DEVICE * device + 1;
    }

    int fromHost(int device) {
        return PER_DEVICE * device + 2;
    }

    int toHost(int device) {
        return PER_DEVICE * device + 3;
    }

    int link(int directed) {
        return firstLink + directed;
    }

    /** The resource that both directions of a link share, or -1. */
    int duplex(int directed) {
        return duplex[directed >> 1];
    }

    int servers() {
        return serverStart[serverStart.length - 1];
    }

    int queueServer(int device, int lane) {
        return serverStart[device] + lane % machine.device(device).kernels().hardwareQueues();
    }

    int engineServer(int device, int engine) {
        return serverStart[device] + machine.device(device).kernels().hardwareQueues() + engine;
    }

    int networkServer(int device) {
        return serverStart[device + 1] - 1;
    }

    int firstServer(int device) {
        return serverStart[device];
    }

    boolean isLink(int resource) {
        return resource >= firstLink
                && resource < firstLink + 2 * machine.links().size();
    }

    /** Whether both directions of a link share it; timelines show the directions instead. */
    boolean isShared(int resource) {
        return resource >= firstLink + 2 * machine.links().size();
    }

    int directedLink(int resource) {
        return resource - firstLink;
    }

    String name(int resource) {
        if (resource < firstLink) {
            String device = "device " + resource / PER_DEVICE;
            return switch (resource % PER_DEVICE) {
                case 0 -> device + " compute units";
                case 1 -> device + " memory";
                case 2 -> "host > " + device;
                default -> device + " > host";
            };
        }
        if (isLink(resource)) {
            int directed = directedLink(resource);
            return machine.vertexName(machine.linkSource(directed)) + " > "
                    + machine.vertexName(machine.linkTarget(directed));
        }
        for (int i = 0; i < duplex.length; i++) {
            if (duplex[i] == resource) {
                return machine.vertexName(machine.linkSource(2 * i)) + " <> "
                        + machine.vertexName(machine.linkTarget(2 * i));
            }
        }
        return "resource " + resource;
    }

    String serverName(int device, int server) {
        int at = server - serverStart[device];
        int queues = machine.device(device).kernels().hardwareQueues();
        if (at < queues) {
            return "device " + device + " queue " + at;
        }
        return server == networkServer(device)
                ? "device " + device + " network card"
                : "device " + device + " engine " + (at - queues);
    }
}
