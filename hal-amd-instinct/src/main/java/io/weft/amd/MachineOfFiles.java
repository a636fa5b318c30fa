// SPDX-License-Identifier: Apache-2.0
package io.weft.amd;

import io.weft.amd.sdma.EngineMap;
import io.weft.amd.setting.AmdSettings;
import io.weft.amd.topology.AmdTopologyReader;
import io.weft.amd.topology.GpuGraph;
import io.weft.amd.topology.LinkClass;
import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Finding;
import io.weft.api.topology.LinkKind;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.LinkModel;
import io.weft.sim.machine.Machine;
import io.weft.spi.Target;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A machine of a node's own files: which GPUs there are and how they are joined comes from the files, what a GPU and a link can do from the shipped machine of the same chip.
 */
final class MachineOfFiles {
    static final List<Target> TARGETS = List.of(
            new Target("xml=FILE", "the node that a topology file of RCCL describes"),
            new Target("kfd=DIR", "the node that a copy of the kernel driver's tree describes"));

    private static final String XML = "xml=";
    private static final String KFD = "kfd=";
    /** The shipped machine whose devices and links serve for a chip. */
    private static final Map<String, String> MODELS =
            Map.of("gfx908", "mi100-8", "gfx90a", "mi250x-8", "gfx942", "mi300x-8", "gfx950", "mi355x-8");
    /** Share of PCIe's nominal bandwidth that payload reaches: coding and packet headers; also what the MI300X's host link reaches of 64 GB/s. */
    private static final double PCIE_EFFICIENCY = 0.85;

    private static final double PCIE_LATENCY_NANOS = 1500;

    private MachineOfFiles() {}

    /** The machine of a target such as {@code xml=FILE}; empty when it is none of that form. */
    static Optional<Machine> find(String target, AmdSettings settings) {
        boolean xml = target.startsWith(XML);
        if (!xml && !target.startsWith(KFD)) {
            return Optional.empty();
        }
        try {
            Path place = Path.of(target.substring(XML.length()));
            GpuGraph graph = xml ? AmdTopologyReader.ofXml(place) : AmdTopologyReader.ofKfd(place);
            return Optional.of(NodeModel.of(machine(graph, place), settings, machine -> engines(machine, graph)));
        } catch (InvalidPathException wrong) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT, "topology file", "not a path: " + wrong.getMessage(), wrong);
        }
    }

    /** The engines that the files' driver recommends; those of the shape where it recommends none. */
    private static EngineMap engines(Machine machine, GpuGraph graph) {
        EngineMap stated = EngineMap.of(
                machine,
                (from, to) -> EngineMap.ofMask(Math.max(0, graph.pair(from, to).engines())));
        return stated.isRecommended() ? stated : EngineMap.of(machine);
    }

    private static Machine machine(GpuGraph graph, Path place) {
        for (Finding finding : graph.findings()) {
            if (finding.severity() == Finding.Severity.PROBLEM) {
                throw new AcceleratorException(
                        ErrorCode.BAD_DOCUMENT,
                        "topology file",
                        place + ": " + finding.seen() + "; 'weft topo' shows all of it");
            }
        }
        Machine.Builder machine = Machine.builder(
                        place.getFileName() == null
                                ? "node"
                                : place.getFileName().toString())
                .description("The node that " + place + " describes")
                .vendor("AMD");
        Machine first = null;
        for (GpuGraph.Gpu gpu : graph.gpus()) {
            Machine model = model(gpu, place);
            first = first == null ? model : first;
            machine.device(device(model.device(0), gpu));
        }
        machine.forwardingEfficiency(first.forwardingEfficiency())
                .forwardingDuplexEfficiency(first.forwardingDuplexEfficiency());
        first.collectiveModels().forEach(machine::collective);
        int gpus = graph.gpus().size();
        for (int from = 0; from < gpus; from++) {
            for (int to = from + 1; to < gpus; to++) {
                GpuGraph.Pair pair = graph.pair(from, to);
                if (pair.linkClass() == LinkClass.XGMI && pair.direct()) {
                    machine.link(link(
                            model(graph.gpus().get(from), place), graph.gpus().get(from), pair, from, to));
                }
            }
        }
        routes(graph, machine);
        if (needsHost(graph)) {
            int host = machine.switchNode("host");
            for (GpuGraph.Gpu gpu : graph.gpus()) {
                machine.link(pcie(gpu, host));
            }
        }
        return machine.build();
    }

    private static Machine model(GpuGraph.Gpu gpu, Path place) {
        String name = switch (gpu.product()) {
            case "MI325X" -> "mi325x-8";
            case "MI300A" -> "mi300a-4";
            default -> MODELS.get(gpu.gfx());
        };
        if (name == null) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT,
                    "topology file",
                    place + ": there is no model of " + (gpu.product().isEmpty() ? "" : gpu.product() + ", ")
                            + (gpu.gfx().isEmpty() ? "a chip that the file does not name" : gpu.gfx()) + " ("
                            + gpu.name() + "); accepted are MI100, MI250X, MI300A, MI300X, MI325X and MI355X");
        }
        return AmdMachines.document(name).orElseThrow();
    }

    private static DeviceModel device(DeviceModel model, GpuGraph.Gpu gpu) {
        Map<String, String> extra = new LinkedHashMap<>(model.extra());
        if (!gpu.product().isEmpty()) {
            extra.put("product", gpu.product());
        }
        return new DeviceModel(
                model.name(),
                model.architecture(),
                gpu.server(),
                gpu.numa(),
                gpu.name(),
                model.computeUnits(),
                model.clockGhz(),
                model.gemm(),
                model.memory(),
                model.copyEngines(),
                model.kernels(),
                model.launch(),
                model.hostLink(),
                model.fp8(),
                extra);
    }

    /** A link that behaves as the model's link of the same width, or of the nearest. */
    private static LinkModel link(Machine model, GpuGraph.Gpu near, GpuGraph.Pair pair, int from, int to) {
        int width = Math.max(1, pair.width());
        LinkModel like = model.links().getFirst();
        for (LinkModel candidate : model.links()) {
            if (Math.abs(candidate.width() - width) < Math.abs(like.width() - width)) {
                like = candidate;
            }
        }
        double bandwidth = pair.linkMegabytes() > 0 ? pair.linkMegabytes() * 1e6 : like.bandwidth();
        LinkKind kind = near.gfx().equals("gfx90a") && width == 4 ? LinkKind.IN_PACKAGE : LinkKind.FABRIC;
        return new LinkModel(
                kind,
                like.name(),
                from,
                to,
                bandwidth,
                bandwidth,
                like.efficiency(),
                like.duplexEfficiency(),
                like.latencyNanos(),
                width,
                true,
                true);
    }

    /** Where the weight gives a longer way than the shortest, the longer one is fixed. */
    private static void routes(GpuGraph graph, Machine.Builder machine) {
        int gpus = graph.gpus().size();
        for (int from = 0; from < gpus; from++) {
            for (int to = from + 1; to < gpus; to++) {
                List<Integer> via = graph.pair(from, to).via();
                if (via.size() >= 2) {
                    int[] path = new int[via.size() + 2];
                    path[0] = from;
                    path[path.length - 1] = to;
                    for (int i = 0; i < via.size(); i++) {
                        path[i + 1] = via.get(i);
                    }
                    machine.route(path);
                }
            }
        }
    }

    private static boolean needsHost(GpuGraph graph) {
        for (int from = 0; from < graph.gpus().size(); from++) {
            for (int to = 0; to < graph.gpus().size(); to++) {
                if (from != to && graph.pair(from, to).linkClass() != LinkClass.XGMI) {
                    return true;
                }
            }
        }
        return false;
    }

    private static LinkModel pcie(GpuGraph.Gpu gpu, int host) {
        boolean known = gpu.pcieLanes() > 0 && gpu.pcieSpeed() > 0;
        double bandwidth = (known ? gpu.pcieSpeed() * gpu.pcieLanes() / 8 : 32) * 1e9;
        return new LinkModel(
                LinkKind.PCIE,
                "PCIe",
                gpu.ordinal(),
                host,
                bandwidth,
                bandwidth,
                PCIE_EFFICIENCY,
                1,
                PCIE_LATENCY_NANOS,
                1,
                true,
                true);
    }
}
