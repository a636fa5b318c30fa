// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.api.AcceleratorException;
import io.weft.api.topology.DescribedDevice;
import io.weft.api.topology.DescribedMachine;
import io.weft.api.topology.DescribedNetworkCard;
import io.weft.api.topology.DescribedPath;
import io.weft.api.topology.LinkKind;
import io.weft.spi.ToolInput;
import io.weft.spi.TopologyReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** AMD's sources as a {@link TopologyReader}. */
public final class AmdTopologyReader implements TopologyReader {
    static final String XML = "--amd-xml";
    static final String KFD = "--kfd";
    static final String SHOWTOPO = "--showtopo";
    static final String NODESBW = "--nodesbw";
    static final String SMI = "--amd-smi";

    private static final List<ToolInput> INPUTS = List.of(
            new ToolInput(
                    XML,
                    ToolInput.Form.FILE,
                    "Read a topology file of RCCL (NCCL_TOPO_DUMP_FILE). This and the next four describe one machine"
                            + " together and may be repeated."),
            new ToolInput(
                    KFD,
                    ToolInput.Form.FOLDER,
                    "Read the kernel driver's tree: /sys/class/kfd, a copy of it, or the folder that holds a copy of"
                            + " /sys."),
            new ToolInput(SHOWTOPO, ToolInput.Form.FILE, "Read the output of rocm-smi --showtopo or --showtoponuma."),
            new ToolInput(NODESBW, ToolInput.Form.FILE, "Read the output of rocm-smi --shownodesbw."),
            new ToolInput(SMI, ToolInput.Form.FILE, "Read the output of amd-smi topology, as tables or JSON."));

    /** Makes a reader; no side effect. */
    public AmdTopologyReader() {}

    @Override
    public List<ToolInput> inputs() {
        return INPUTS;
    }

    @Override
    public DescribedMachine read(Map<String, List<Path>> files) {
        return describe(graph(files));
    }

    /**
     * One graph of everything given.
     *
     * @param files by option name
     */
    public static GpuGraph graph(Map<String, List<Path>> files) {
        List<SourceGraph> sources = new ArrayList<>();
        for (ToolInput input : INPUTS) {
            for (Path file : files.getOrDefault(input.option(), List.of())) {
                sources.add(
                        switch (input.option()) {
                            case XML -> RcclXmlReader.read(file);
                            case KFD -> KfdReader.read(file);
                            case SHOWTOPO, NODESBW -> RocmSmiReader.read(file);
                            default -> AmdSmiReader.read(file);
                        });
            }
        }
        if (sources.isEmpty()) {
            throw AcceleratorException.invalid("topology", "no file was given");
        }
        return GraphMerger.merge(sources);
    }

    /** The graph of an RCCL topology file. */
    public static GpuGraph ofXml(Path file) {
        return graph(Map.of(XML, List.of(file)));
    }

    /** The graph of a KFD tree. */
    public static GpuGraph ofKfd(Path folder) {
        return graph(Map.of(KFD, List.of(folder)));
    }

    static DescribedMachine describe(GpuGraph graph) {
        List<DescribedDevice> devices = new ArrayList<>();
        for (GpuGraph.Gpu gpu : graph.gpus()) {
            Map<String, String> facts = new LinkedHashMap<>();
            put(facts, "compute units", gpu.computeUnits());
            put(facts, "SDMA engines", gpu.hostEngines());
            put(facts, "xGMI SDMA engines", gpu.fabricEngines());
            if (gpu.pcieLanes() > 0 && !Double.isNaN(gpu.pcieSpeed())) {
                facts.put("PCIe", trimmed(gpu.pcieSpeed()) + " GT/s x" + gpu.pcieLanes());
            }
            devices.add(new DescribedDevice(
                    gpu.ordinal(),
                    gpu.product(),
                    gpu.gfx(),
                    gpu.address() == null ? "" : gpu.address().toString(),
                    gpu.server(),
                    gpu.numa(),
                    gpu.hive() < 0 ? "" : "hive " + gpu.hive(),
                    facts));
        }
        List<DescribedPath> paths = new ArrayList<>();
        for (int from = 0; from < devices.size(); from++) {
            for (int to = 0; to < devices.size(); to++) {
                GpuGraph.Pair pair = graph.pair(from, to);
                if (pair != null && pair.linkClass() != LinkClass.UNKNOWN && pair.linkClass() != LinkClass.NONE) {
                    paths.add(path(graph, pair, from, to));
                }
            }
        }
        List<DescribedNetworkCard> cards = graph.cards().stream()
                .map(card -> new DescribedNetworkCard(
                        card.name(),
                        card.address(),
                        card.server(),
                        card.numa(),
                        card.gigabytesPerSecond(),
                        card.nearest()))
                .toList();
        return new DescribedMachine(title(graph), graph.sources(), devices, paths, cards, graph.findings());
    }

    private static void put(Map<String, String> facts, String name, int value) {
        if (value >= 0) {
            facts.put(name, Integer.toString(value));
        }
    }

    private static String trimmed(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }

    private static DescribedPath path(GpuGraph graph, GpuGraph.Pair pair, int from, int to) {
        Map<String, String> facts = new LinkedHashMap<>();
        if (pair.weight() >= 0) {
            facts.put("weight", Long.toString(pair.weight()));
        }
        if (!pair.stated().isEmpty()) {
            facts.put("stated MB/s", pair.stated());
        }
        if (pair.engines() > 0) {
            facts.put("SDMA engine mask", "0x" + Long.toHexString(pair.engines()));
        }
        if (pair.accessible() != null) {
            facts.put("peer access", pair.accessible() ? "yes" : "no");
        }
        boolean fabric = pair.linkClass() == LinkClass.XGMI;
        GpuGraph.Gpu near = graph.gpus().get(from);
        GpuGraph.Gpu far = graph.gpus().get(to);
        // Two dies of an MI200 package are joined by four links, and no others are.
        boolean inPackage = fabric && pair.direct() && near.gfx().equals("gfx90a") && pair.width() == 4;
        boolean acrossSockets =
                !fabric && (pair.hops() >= 3 || (near.numa() >= 0 && far.numa() >= 0 && near.numa() != far.numa()));
        LinkKind kind = inPackage
                ? LinkKind.IN_PACKAGE
                : fabric ? LinkKind.FABRIC : acrossSockets ? LinkKind.HOST : LinkKind.PCIE;
        String name = fabric ? "xGMI" : acrossSockets ? "PCIe+host" : "PCIe";
        return new DescribedPath(
                from,
                to,
                kind,
                name,
                pair.direct(),
                pair.hops(),
                pair.width(),
                pair.gigabytesPerSecond(),
                pair.via(),
                facts);
    }

    /** Such as "8 MI250X, hive of 8 (x1, x2, x4)". */
    private static String title(GpuGraph graph) {
        Set<String> products = new TreeSet<>();
        for (GpuGraph.Gpu gpu : graph.gpus()) {
            products.add(!gpu.product().isEmpty() ? gpu.product() : gpu.gfx().isEmpty() ? "GPU" : gpu.gfx());
        }
        Map<Integer, Integer> sizes = new LinkedHashMap<>();
        graph.gpus().stream().filter(gpu -> gpu.hive() >= 0).forEach(gpu -> sizes.merge(gpu.hive(), 1, Integer::sum));
        sizes.values().removeIf(size -> size < 2);
        Set<String> widths = new TreeSet<>();
        boolean mesh = true;
        for (GpuGraph.Gpu from : graph.gpus()) {
            for (GpuGraph.Gpu to : graph.gpus()) {
                GpuGraph.Pair pair = graph.pair(from.ordinal(), to.ordinal());
                if (pair != null && pair.linkClass() == LinkClass.XGMI) {
                    mesh &= pair.direct();
                    if (pair.direct() && pair.width() > 0) {
                        widths.add("x" + pair.width());
                    }
                }
            }
        }
        String joined;
        if (sizes.isEmpty()) {
            boolean silent = graph.pairs().stream()
                    .flatMap(List::stream)
                    .allMatch(pair -> pair == null || pair.linkClass() == LinkClass.UNKNOWN);
            joined = graph.gpus().size() == 1 ? "alone" : silent ? "links not stated" : "no xGMI";
        } else {
            String counts =
                    sizes.values().stream().map(String::valueOf).distinct().collect(Collectors.joining(" and "));
            joined = (sizes.size() == 1 ? "one hive of " : sizes.size() + " hives of ")
                    + counts
                    + (mesh ? ", all joined directly" : ", some through others")
                    + (widths.isEmpty() ? "" : ", links " + String.join(" ", widths));
        }
        return graph.gpus().size() + " " + String.join("/", products) + ", " + joined;
    }
}
