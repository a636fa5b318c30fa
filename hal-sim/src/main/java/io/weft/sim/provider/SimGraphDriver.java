// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.spi.DeviceDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphExecutable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Runs whole graphs. A graph is checked once, when it is prepared; launches only bind it. */
final class SimGraphDriver implements GraphDriver {
    private final SimPlatform platform;

    SimGraphDriver(SimPlatform platform) {
        this.platform = platform;
    }

    @Override
    public GraphExecutable instantiate(CommandGraph graph, List<? extends DeviceDriver> devices) {
        platform.enter("instantiate graph");
        try {
            List<SimDevice> real = devices(graph, devices);
            for (int node = 0; node < graph.size(); node++) {
                try {
                    check(graph, node, real);
                } catch (AcceleratorException refused) {
                    throw new AcceleratorException(
                            refused.code(),
                            "instantiate graph",
                            "node " + node + " (" + graph.label(node) + "): " + refused.detail(),
                            refused);
                }
            }
            return new SimGraphExecutable(platform, graph, real, collectives(graph));
        } finally {
            platform.leave();
        }
    }

    private List<SimDevice> devices(CommandGraph graph, List<? extends DeviceDriver> devices) {
        if (devices.size() != graph.deviceCount()) {
            throw AcceleratorException.invalid(
                    "instantiate graph", devices.size() + " devices are given for a graph over " + graph.deviceCount());
        }
        List<SimDevice> real = new ArrayList<>(devices.size());
        Set<SimDevice> seen = new HashSet<>();
        for (DeviceDriver driver : devices) {
            if (!(driver instanceof SimDevice device) || device.platform() != platform) {
                throw new AcceleratorException(
                        ErrorCode.WRONG_DEVICE, "instantiate graph", "a device belongs to another platform");
            }
            if (!seen.add(device)) {
                throw AcceleratorException.invalid(
                        "instantiate graph", "device " + device.ordinal() + " is given twice");
            }
            device.faults().requireAlive("instantiate graph");
            real.add(device);
        }
        return real;
    }

    private void check(CommandGraph graph, int node, List<SimDevice> devices) {
        Command command = graph.command(node);
        int index = graph.device(node);
        SimPlatform.checkNumbers(command);
        switch (command) {
            case Command.Copy copy -> copyable(copy.destination(), copy.source(), index, devices);
            case Command.CopyStrided copy -> copyable(copy.destination(), copy.source(), index, devices);
            case Command.Gemm gemm -> {
                SimDevice device = devices.get(index);
                if (!device.properties().gemmTypes().contains(gemm.a().type())) {
                    throw new AcceleratorException(
                            ErrorCode.UNSUPPORTED,
                            "gemm",
                            "device " + device.ordinal() + " has no " + gemm.a().type() + " GEMM; it has "
                                    + device.properties().gemmTypes());
                }
                own(command, index);
            }
            default -> own(command, index);
        }
    }

    private static void own(Command command, int index) {
        command.reads().forEach(view -> own(view, index));
        command.writes().forEach(view -> own(view, index));
    }

    private static void own(BufferView view, int index) {
        int owner = ((Slot) view.memory()).device();
        if (owner != index) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE,
                    "graph",
                    "it runs on device " + index + " and uses memory of device " + owner + "; copy it first");
        }
    }

    private void copyable(BufferView destination, BufferView source, int index, List<SimDevice> devices) {
        int to = ((Slot) destination.memory()).device();
        int from = ((Slot) source.memory()).device();
        if (to != index && from != index) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE,
                    "copy",
                    "it runs on device " + index + " and copies from device " + from + " to device " + to);
        }
        if (to != from
                && !platform.machine()
                        .route(devices.get(from).ordinal(), devices.get(to).ordinal())
                        .copyable()) {
            throw new AcceleratorException(
                    ErrorCode.PEER_ACCESS,
                    "copy",
                    "there is no copy path from device " + devices.get(from).ordinal() + " to device "
                            + devices.get(to).ordinal());
        }
    }

    /** The nodes of each collective by rank, sender before receiver; by key. */
    private static Map<Integer, int[]> collectives(CommandGraph graph) {
        Map<Integer, List<Integer>> byKey = new TreeMap<>();
        for (int node = 0; node < graph.size(); node++) {
            if (graph.command(node) instanceof Command.Collective part) {
                byKey.computeIfAbsent(part.key(), ignored -> new ArrayList<>()).add(node);
            }
        }
        Map<Integer, int[]> result = new TreeMap<>();
        byKey.forEach((key, nodes) -> result.put(key, agreed(graph, key, nodes)));
        return result;
    }

    private static int[] agreed(CommandGraph graph, int key, List<Integer> nodes) {
        Command.Collective first = (Command.Collective) graph.command(nodes.getFirst());
        String name = "the collective with key " + key;
        boolean transfer = first.kind().pointToPoint();
        Comparator<Integer> order = transfer
                ? Comparator.comparing(node -> part(graph, node).kind() == CollectiveKind.RECEIVE)
                : Comparator.comparingInt(node -> part(graph, node).rank());
        List<Integer> sorted = nodes.stream().sorted(order).toList();
        List<Command.Collective> parts =
                sorted.stream().map(node -> part(graph, node)).toList();
        if (transfer) {
            boolean pair = parts.size() == 2
                    && parts.get(0).kind() == CollectiveKind.SEND
                    && parts.get(1).kind() == CollectiveKind.RECEIVE
                    && parts.get(0).root() == parts.get(1).rank()
                    && parts.get(1).root() == parts.get(0).rank();
            if (!pair) {
                throw Agreement.mismatch(name, "it must be one send and the receive that belongs to it");
            }
        } else {
            for (int rank = 0; rank < first.ranks(); rank++) {
                if (parts.size() != first.ranks() || parts.get(rank).rank() != rank) {
                    throw Agreement.mismatch(
                            name,
                            "it needs one part for each of its " + first.ranks() + " ranks and has those of "
                                    + Ranks.name(parts.stream()
                                            .map(Command.Collective::rank)
                                            .toList()));
                }
            }
        }
        AcceleratorException disagreement = Agreement.disagreement(name, parts);
        if (disagreement != null) {
            throw disagreement;
        }
        return sorted.stream().mapToInt(Integer::intValue).toArray();
    }

    private static Command.Collective part(CommandGraph graph, int node) {
        return (Command.Collective) graph.command(node);
    }
}
