// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import io.weft.api.Finding;
import io.weft.api.topology.DescribedDevice;
import io.weft.api.topology.DescribedMachine;
import io.weft.api.topology.DescribedNetworkCard;
import io.weft.api.topology.DescribedPath;
import io.weft.ascend.topology.AscendGraph.Npu;
import io.weft.spi.ToolInput;
import io.weft.spi.TopologyReader;
import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** Rank tables and the output of Ascend's tools as a {@link TopologyReader}. */
public final class AscendTopologyReader implements TopologyReader {
    /** Reads a rank table. */
    public static final String RANK_TABLE = "--rank-table";

    /** Reads tables of npu-smi. */
    public static final String NPU_SMI = "--npu-smi";

    /** Reads output of hccn_tool. */
    public static final String HCCN = "--hccn";

    /** Reads a table of switches. */
    public static final String TOR = "--tor-table";

    /** Beyond so many devices pairs are not listed: nobody reads a million lines. */
    static final int MOST_LISTED = 1024;

    private static final List<ToolInput> INPUTS = List.of(
            new ToolInput(
                    RANK_TABLE,
                    ToolInput.Form.FILE,
                    "Read a rank table (1.0, 1.2, 2.0, or the older form with groups). This and the next three describe"
                            + " one cluster together."),
            new ToolInput(
                    NPU_SMI,
                    ToolInput.Form.FILE,
                    "Read the output of npu-smi info -t topo, or of npu-smi info; give both by naming this twice."),
            new ToolInput(
                    HCCN, ToolInput.Form.FILE, "Read the output of hccn_tool, or /etc/hccn.conf; may be repeated."),
            new ToolInput(TOR, ToolInput.Form.FILE, "Read the table of switches that MindCluster's scheduler reads."));

    private final Function<AscendGraph, List<Finding>> advice;

    /**
     * Makes a reader; no side effect.
     *
     * @param advice what more is to be said of a graph without problems
     */
    public AscendTopologyReader(Function<AscendGraph, List<Finding>> advice) {
        this.advice = advice;
    }

    @Override
    public List<ToolInput> inputs() {
        return INPUTS;
    }

    @Override
    public DescribedMachine read(Map<String, List<Path>> files) {
        AscendGraph graph = graph(files);
        List<Finding> findings = new ArrayList<>(graph.findings());
        if (!graph.hasProblem()) {
            findings.addAll(advice.apply(graph));
        }
        return describe(graph, findings);
    }

    /**
     * One graph of everything given.
     *
     * @param files by option name
     */
    public static AscendGraph graph(Map<String, List<Path>> files) {
        GraphBuilder builder = new GraphBuilder();
        files.getOrDefault(RANK_TABLE, List.of()).forEach(builder::rankTable);
        files.getOrDefault(NPU_SMI, List.of())
                .forEach(file -> builder.npuSmi(
                        file,
                        ToolText.read(
                                file,
                                NpuSmiTopology.ACCEPTED,
                                ", which is what npu-smi leaves when the driver is not loaded")));
        files.getOrDefault(HCCN, List.of()).forEach(builder::hccn);
        files.getOrDefault(TOR, List.of()).forEach(builder::torTable);
        return builder.build();
    }

    static DescribedMachine describe(AscendGraph graph, List<Finding> given) {
        List<Finding> findings = new ArrayList<>(given);
        List<DescribedDevice> devices = new ArrayList<>();
        List<DescribedNetworkCard> cards = new ArrayList<>();
        for (Npu npu : graph.npus()) {
            devices.add(device(graph, npu));
            if (!npu.ip().isEmpty() || npu.cardMegabits() > 0) {
                cards.add(new DescribedNetworkCard(
                        "RoCE of " + npu.ordinal(),
                        npu.ip(),
                        npu.server(),
                        npu.numa(),
                        npu.cardMegabits() > 0 ? npu.cardMegabits() / 8e3 : Double.NaN,
                        List.of(npu.ordinal())));
            }
        }
        List<DescribedPath> paths = new ArrayList<>();
        int n = devices.size();
        if (n > MOST_LISTED) {
            findings.add(Finding.of(
                    Finding.Severity.NOTE,
                    "pairs-not-listed",
                    "the pairs of " + n + " devices are not listed; the machine can be opened with"
                            + " --on ascend:rank-table=FILE"));
        }
        for (int from = 0; from < n && n <= MOST_LISTED; from++) {
            for (int to = 0; to < n; to++) {
                LinkClass link = graph.link(from, to);
                if (from != to && link != LinkClass.UNKNOWN) {
                    paths.add(path(graph, link, from, to));
                }
            }
        }
        return new DescribedMachine(title(graph), graph.sources(), devices, paths, cards, findings);
    }

    private static DescribedDevice device(AscendGraph graph, Npu npu) {
        Map<String, String> facts = new LinkedHashMap<>();
        if (graph.servers() > 1 || npu.device() != npu.ordinal()) {
            facts.put("device", Integer.toString(npu.device()));
        }
        if (!npu.serverName().isEmpty()) {
            facts.put("server", npu.serverName());
        }
        npu.superDevice()
                .ifPresent(id -> facts.put(
                        "super device",
                        "server " + id.server() + " chip " + id.chip() + " die " + id.die() + " device "
                                + id.device()));
        if (!npu.processors().isEmpty()) {
            facts.put("processors", npu.processors());
        }
        if (npu.tor() >= 0) {
            facts.put("switch", Integer.toString(npu.tor()));
        }
        String group = npu.superPod().isEmpty()
                ? graph.generation() == Generation.A5 ? "UB" : "HCCS of server " + npu.server()
                : "super pod " + npu.superPod();
        return new DescribedDevice(
                npu.ordinal(),
                npu.chip(),
                graph.generation() == Generation.UNKNOWN
                        ? ""
                        : graph.generation().label(),
                npu.address().isEmpty() ? npu.ip() : npu.address(),
                npu.server(),
                npu.numa(),
                group,
                facts);
    }

    private static DescribedPath path(AscendGraph graph, LinkClass link, int from, int to) {
        Npu near = graph.npus().get(from);
        Npu far = graph.npus().get(to);
        Map<String, String> facts = new LinkedHashMap<>();
        if (link == LinkClass.ROCE && near.tor() >= 0 && far.tor() >= 0) {
            facts.put("switches", near.tor() == far.tor() ? "one" : "several");
        }
        boolean direct = link == LinkClass.HCCS || link == LinkClass.SIO || link == LinkClass.UB;
        int hops = link == LinkClass.ROCE && near.tor() != far.tor() ? 3 : link.isPcie() ? 2 : 1;
        double bandwidth = link == LinkClass.ROCE && near.cardMegabits() > 0 && far.cardMegabits() > 0
                ? Math.min(near.cardMegabits(), far.cardMegabits()) / 8e3
                : Double.NaN;
        return new DescribedPath(
                from, to, link.kind(), link.word(), direct, hops, direct ? 1 : 0, bandwidth, List.of(), facts);
    }

    /** Such as "8 910B3, one server, 56 HCCS". */
    private static String title(AscendGraph graph) {
        Map<String, Integer> chips = new TreeMap<>();
        for (Npu npu : graph.npus()) {
            String chip = npu.chip().isEmpty()
                    ? graph.generation() == Generation.UNKNOWN
                            ? "NPU"
                            : "NPU of " + graph.generation().label()
                    : npu.chip();
            chips.merge(chip, 1, Integer::sum);
        }
        List<String> parts = new ArrayList<>();
        chips.forEach((chip, count) -> parts.add(count + " " + chip));
        parts.add(graph.servers() == 1 ? "one server" : graph.servers() + " servers");
        if (graph.superPods() > 0) {
            parts.add(graph.superPods() == 1 ? "one super pod" : graph.superPods() + " super pods");
        }
        return String.join(", ", parts);
    }
}
