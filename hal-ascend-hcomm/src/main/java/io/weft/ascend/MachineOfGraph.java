// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.ErrorCode;
import io.weft.api.topology.LinkKind;
import io.weft.ascend.topology.AscendGraph;
import io.weft.ascend.topology.AscendGraph.Npu;
import io.weft.ascend.topology.Generation;
import io.weft.ascend.topology.LinkClass;
import io.weft.sim.machine.CollectiveAlgorithm;
import io.weft.sim.machine.CollectiveModel;
import io.weft.sim.machine.CollectiveRange;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.LinkModel;
import io.weft.sim.machine.Machine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A machine of a graph: which devices there are and how they are joined comes from the graph, what a device and a link can do from the shipped server of the same family.
 *
 * <p>Between servers: in a super pod every server's switches are joined to a second stage that never blocks (CloudMatrix384: less than 1 us more between servers); elsewhere every device has a RoCE card on switches that never
 * block, one stage or, where a table of switches says so, two.
 */
final class MachineOfGraph {
    /** ns on each of the two ways between the switches of a server and the second stage: together below the 1 us that CloudMatrix384 states. */
    private static final double POD_NANOS = 400;

    private static final double ROCE_BYTES_PER_SECOND = 25e9;
    private static final double ROCE_EFFICIENCY = 0.92;
    private static final double ROCE_NANOS = 1500;
    /** ns for one more stage of switches; an estimate. */
    private static final double SPINE_NANOS = 600;

    /** Start of a collective between servers, and a step of it: estimates, as no alpha is published. */
    private static final double CLUSTER_BASE_NANOS = 12_000;

    private static final double ROCE_STEP_NANOS = 6000;
    private static final double POD_STEP_NANOS = 4000;

    private final AscendGraph graph;
    private final Machine model;
    private final Machine.Builder machine;
    private final Map<String, Integer> switches = new HashMap<>();

    private MachineOfGraph(AscendGraph graph, Machine model, String name) {
        this.graph = graph;
        this.model = model;
        machine = Machine.builder(name);
    }

    /**
     * Makes it.
     *
     * @throws AcceleratorException BAD_DOCUMENT for a family whose figures nobody has published
     */
    static Machine machine(AscendGraph graph, String name, String description) {
        Machine model = AscendMachines.of(graph.generation())
                .orElseThrow(() -> new AcceleratorException(
                        ErrorCode.BAD_DOCUMENT,
                        "rank table",
                        name + ": there is no model of the "
                                + graph.generation().label()
                                + ", whose memory and links nobody has measured in public; accepted are tables of the"
                                + " 910A, A2 and A3 (version 1.0 or 1.2)"));
        return new MachineOfGraph(graph, model, name).build(description);
    }

    private Machine build(String description) {
        machine.description(description)
                .vendor(model.vendor())
                .forwardingEfficiency(model.forwardingEfficiency())
                .forwardingDuplexEfficiency(model.forwardingDuplexEfficiency());
        for (Npu npu : graph.npus()) {
            machine.device(device(npu));
        }
        Map<Integer, List<Npu>> servers = new TreeMap<>();
        graph.npus()
                .forEach(npu -> servers.computeIfAbsent(npu.server(), key -> new ArrayList<>())
                        .add(npu));
        boolean fabricSwitches = false;
        for (Map.Entry<Integer, List<Npu>> server : servers.entrySet()) {
            fabricSwitches |= inside(server.getKey(), server.getValue());
        }
        if (servers.size() > 1) {
            between(servers, fabricSwitches);
        }
        if (servers.size() == 1) {
            model.collectiveModels().forEach(machine::collective);
        } else {
            collectives(graph.superPods() == 1);
        }
        return machine.build();
    }

    private DeviceModel device(Npu npu) {
        DeviceModel like = model.device(0);
        return new DeviceModel(
                like.name(),
                like.architecture(),
                npu.server(),
                npu.numa(),
                npu.address(),
                like.computeUnits(),
                like.clockGhz(),
                like.gemm(),
                like.memory(),
                like.copyEngines(),
                like.kernels(),
                like.launch(),
                like.hostLink(),
                like.fp8(),
                like.extra());
    }

    /** Joins the devices of one server; gives whether its fabric has switches. */
    private boolean inside(int server, List<Npu> npus) {
        Set<Integer> onFabric = new TreeSet<>();
        Set<Integer> onHost = new TreeSet<>();
        List<LinkModel> direct = new ArrayList<>();
        for (Npu near : npus) {
            for (Npu far : npus) {
                if (near.ordinal() >= far.ordinal()) {
                    continue;
                }
                LinkClass link = graph.link(near.ordinal(), far.ordinal());
                switch (link) {
                    case HCCS -> direct.add(like(LinkKind.FABRIC, near.ordinal(), far.ordinal()));
                    case SIO -> direct.add(like(LinkKind.IN_PACKAGE, near.ordinal(), far.ordinal()));
                    case HCCS_SW -> {
                        onFabric.add(near.ordinal());
                        onFabric.add(far.ordinal());
                    }
                    default -> {
                        onHost.add(near.ordinal());
                        onHost.add(far.ordinal());
                    }
                }
            }
        }
        // Direct links come first: the router then sees that nothing beats them.
        direct.forEach(machine::link);
        boolean podded = graph.generation() == Generation.A3;
        if (podded) {
            npus.forEach(npu -> onFabric.add(npu.ordinal()));
        }
        if (!onFabric.isEmpty()) {
            int at = switchNode("hccs-" + server);
            onFabric.forEach(ordinal -> machine.link(like(LinkKind.FABRIC, ordinal, at)));
        }
        if (!onHost.isEmpty()) {
            int at = switchNode("host-" + server);
            onHost.forEach(ordinal -> machine.link(like(LinkKind.PCIE, ordinal, at)));
        }
        return !onFabric.isEmpty();
    }

    private void between(Map<Integer, List<Npu>> servers, boolean fabricSwitches) {
        Set<String> pods = new TreeSet<>();
        if (fabricSwitches) {
            LinkModel way = likeOf(LinkKind.FABRIC);
            for (Map.Entry<Integer, List<Npu>> server : servers.entrySet()) {
                String pod = server.getValue().getFirst().superPod();
                if (pod.isEmpty()) {
                    continue;
                }
                pods.add(pod);
                machine.link(new LinkModel(
                        LinkKind.FABRIC,
                        way.name(),
                        switches.get("hccs-" + server.getKey()),
                        switchNode("pod-" + pod),
                        way.bandwidth(),
                        way.reverseBandwidth(),
                        way.efficiency(),
                        way.duplexEfficiency(),
                        POD_NANOS,
                        server.getValue().size(),
                        true,
                        true));
            }
        }
        boolean all = pods.size() == 1
                && servers.values().stream()
                        .noneMatch(npus -> npus.getFirst().superPod().isEmpty());
        if (all) {
            return;
        }
        for (Npu npu : graph.npus()) {
            machine.link(roce(npu.ordinal(), rack(npu.tor()), bandwidth(npu), 1, ROCE_NANOS));
        }
    }

    private static double bandwidth(Npu npu) {
        return npu.cardMegabits() > 0 ? npu.cardMegabits() * 1e6 / 8 : ROCE_BYTES_PER_SECOND;
    }

    /** The switch of a rack, joined to the spine when it is new; the one switch of all where racks are not known. */
    private int rack(int tor) {
        if (tor < 0) {
            return switchNode("roce");
        }
        String name = "tor-" + tor;
        boolean isNew = !switches.containsKey(name);
        int at = switchNode(name);
        if (isNew) {
            long ports = graph.npus().stream().filter(npu -> npu.tor() == tor).count();
            machine.link(roce(at, switchNode("roce"), ROCE_BYTES_PER_SECOND, (int) ports, SPINE_NANOS));
        }
        return at;
    }

    private static LinkModel roce(int from, int to, double bandwidth, int width, double nanos) {
        return new LinkModel(
                LinkKind.NETWORK,
                "RoCE",
                from,
                to,
                bandwidth,
                bandwidth,
                ROCE_EFFICIENCY,
                1,
                nanos,
                width,
                true,
                false);
    }

    private int switchNode(String name) {
        Integer known = switches.get(name);
        if (known == null) {
            known = machine.switchNode(name);
            switches.put(name, known);
        }
        return known;
    }

    private LinkModel likeOf(LinkKind kind) {
        for (LinkModel link : model.links()) {
            if (link.kind() == kind) {
                return link;
            }
        }
        if (kind == LinkKind.PCIE) {
            return AscendMachines.of(Generation.A2).orElseThrow().links().stream()
                    .filter(link -> link.kind() == LinkKind.PCIE)
                    .findFirst()
                    .orElseThrow();
        }
        throw new IllegalStateException(model.name() + " has no link of kind " + kind);
    }

    private LinkModel like(LinkKind kind, int from, int to) {
        LinkModel like = likeOf(kind);
        return new LinkModel(
                kind,
                like.name(),
                from,
                to,
                like.bandwidth(),
                like.reverseBandwidth(),
                like.efficiency(),
                like.duplexEfficiency(),
                like.latencyNanos(),
                1,
                true,
                true);
    }

    /**
     * The vendor's hierarchy between servers: all-reduce as reduce-scatter inside, all-reduce between, all-gather inside; and NHR, whose all-reduce takes 2 ceil(log2 p) steps. The faster of the two is taken.
     */
    private void collectives(boolean onePod) {
        double step = onePod ? POD_STEP_NANOS : ROCE_STEP_NANOS;
        CollectiveRange hierarchy = way(CollectiveAlgorithm.HIERARCHICAL, "hierarchy", step);
        CollectiveRange nhr = way(CollectiveAlgorithm.TREE, "NHR", step);
        machine.collective(new CollectiveModel(
                Set.of(CollectiveKind.BARRIER), List.of(way(CollectiveAlgorithm.DIRECT, "", step / 2))));
        machine.collective(new CollectiveModel(
                Set.of(CollectiveKind.ALL_REDUCE, CollectiveKind.BROADCAST, CollectiveKind.REDUCE),
                List.of(hierarchy, nhr),
                true));
        machine.collective(new CollectiveModel(Set.of(), List.of(hierarchy)));
    }

    private static CollectiveRange way(CollectiveAlgorithm algorithm, String protocol, double stepNanos) {
        return new CollectiveRange(0, Long.MAX_VALUE, algorithm, protocol, 1, CLUSTER_BASE_NANOS, stepNanos, 0, 0.9);
    }
}
