// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What every backend has to refuse when a graph is prepared, in one place; see {@link GraphLaunches} for its launch. What only a backend can know stays its own. */
public final class GraphPreparations {
    private static final String OPERATION = "instantiate graph";

    private GraphPreparations() {}

    /** Whether copies lead from one device to another. */
    public interface CopyPath {
        /** Both are indices of the graph's devices. */
        boolean leads(int from, int to);
    }

    /** What only one backend asks of a command. */
    public interface Further {
        /**
         * Refuses it.
         *
         * @param device index of the graph's device that it runs on
         */
        void check(Command command, int device);
    }

    /**
     * Checks that there is one device for each of the graph's, none twice.
     *
     * @throws AcceleratorException INVALID_ARGUMENT
     */
    public static void requireDevices(CommandGraph graph, List<? extends DeviceDriver> devices) {
        if (devices.size() != graph.deviceCount()) {
            throw AcceleratorException.invalid(
                    OPERATION, devices.size() + " devices are given for a graph over " + graph.deviceCount());
        }
        Set<DeviceDriver> seen = new HashSet<>();
        for (DeviceDriver device : devices) {
            if (!seen.add(device)) {
                throw AcceleratorException.invalid(
                        OPERATION, "device " + device.properties().ordinal() + " is given twice");
            }
        }
    }

    /**
     * Checks every command: factors, the types of products, whose memory it uses, and the paths of copies.
     *
     * @throws AcceleratorException naming the node
     */
    public static void requireCommands(
            CommandGraph graph, List<? extends DeviceDriver> devices, CopyPath path, Further further) {
        for (int node = 0; node < graph.size(); node++) {
            try {
                check(graph.command(node), graph.device(node), devices, path);
                further.check(graph.command(node), graph.device(node));
            } catch (AcceleratorException refused) {
                throw new AcceleratorException(
                        refused.code(),
                        OPERATION,
                        "node " + node + " (" + graph.label(node) + "): " + refused.detail(),
                        refused);
            }
        }
    }

    private static void check(Command command, int index, List<? extends DeviceDriver> devices, CopyPath path) {
        CommandFactors.check(command);
        switch (command) {
            case Command.Copy copy -> copyable(copy.destination(), copy.source(), index, devices, path);
            case Command.CopyStrided copy -> copyable(copy.destination(), copy.source(), index, devices, path);
            case Command.Gemm gemm -> {
                DeviceDriver device = devices.get(index);
                if (!device.properties().gemmTypes().contains(gemm.a().type())) {
                    throw new AcceleratorException(
                            ErrorCode.UNSUPPORTED,
                            "gemm",
                            "device " + device.properties().ordinal() + " has no "
                                    + gemm.a().type() + " GEMM; it has "
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

    private static void copyable(
            BufferView destination, BufferView source, int index, List<? extends DeviceDriver> devices, CopyPath path) {
        int to = ((Slot) destination.memory()).device();
        int from = ((Slot) source.memory()).device();
        if (to != index && from != index) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE,
                    "copy",
                    "it runs on device " + index + " and copies from device " + from + " to device " + to);
        }
        if (to != from && !path.leads(from, to)) {
            throw new AcceleratorException(
                    ErrorCode.PEER_ACCESS,
                    "copy",
                    "there is no copy path from device "
                            + devices.get(from).properties().ordinal() + " to device "
                            + devices.get(to).properties().ordinal());
        }
    }

    /**
     * The nodes of each collective by rank, sender before receiver; by key.
     *
     * @throws AcceleratorException COLLECTIVE_MISMATCH for parts that are missing or disagree
     */
    public static Map<Integer, int[]> collectives(CommandGraph graph) {
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
        Command.Collective first = part(graph, nodes.getFirst());
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
                throw CollectiveParts.mismatch(name, "it must be one send and the receive that belongs to it");
            }
        } else {
            for (int rank = 0; rank < first.ranks(); rank++) {
                if (parts.size() != first.ranks() || parts.get(rank).rank() != rank) {
                    throw CollectiveParts.mismatch(
                            name,
                            "it needs one part for each of its " + first.ranks() + " ranks and has those of "
                                    + CollectiveParts.ranks(parts.stream()
                                            .map(Command.Collective::rank)
                                            .toList()));
                }
            }
        }
        AcceleratorException disagreement = CollectiveParts.disagreement(name, parts);
        if (disagreement != null) {
            throw disagreement;
        }
        return sorted.stream().mapToInt(Integer::intValue).toArray();
    }

    private static Command.Collective part(CommandGraph graph, int node) {
        return (Command.Collective) graph.command(node);
    }
}
