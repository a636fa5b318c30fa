// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import io.weft.api.Finding;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One virtual topology of everything that was read: devices, dies, servers and super pods, and what joins each two. Links are worked out when asked for, so a cluster of any size fits. Immutable.
 *
 * @param generation the family of its devices
 * @param npus by ordinal, which is the rank where a rank table was read
 * @param ranked whether ordinals are ranks
 * @param stated links within a server by device number, where a tool stated them; they hold for every server
 * @param sources what was read
 * @param findings what is odd, and what was assumed
 */
public record AscendGraph(
        Generation generation,
        List<Npu> npus,
        boolean ranked,
        Map<Integer, Map<Integer, LinkClass>> stated,
        List<String> sources,
        List<Finding> findings) {
    public AscendGraph {
        npus = List.copyOf(npus);
        stated = Map.copyOf(stated);
        sources = List.copyOf(sources);
        findings = List.copyOf(findings);
    }

    /**
     * A device: a die on machines whose packages have two.
     *
     * @param ordinal its place, from 0
     * @param device its number on the server
     * @param server number of the server, from 0
     * @param serverName the server's name, empty when unknown
     * @param superPod the super pod's name, empty when it is in none
     * @param superDevice identifier in the super pod, where it is packed
     * @param chip such as {@code 910B3}; empty when unknown
     * @param address PCI address, empty when unknown
     * @param ip address of its network card, empty when unknown
     * @param numa host NUMA node, -1 when unknown
     * @param processors processors near it, empty when unknown
     * @param tor number of the switch that its server hangs on, -1 when unknown
     * @param cardMegabits Mb/s of its network card, -1 when unknown
     * @param levels networks of a table of version 2.0
     */
    public record Npu(
            int ordinal,
            int device,
            int server,
            String serverName,
            String superPod,
            Optional<SuperDeviceId> superDevice,
            String chip,
            String address,
            String ip,
            int numa,
            String processors,
            int tor,
            long cardMegabits,
            List<RankTable.Level> levels) {
        public Npu {
            levels = List.copyOf(levels);
        }

        /** Its name in messages. */
        public String name() {
            return "device " + device + (serverName.isEmpty() ? "" : " of server '" + serverName + "'");
        }
    }

    /** What joins two devices. */
    public LinkClass link(int from, int to) {
        if (from == to) {
            return LinkClass.SELF;
        }
        Npu near = npus.get(from);
        Npu far = npus.get(to);
        if (generation == Generation.A5 && !near.levels().isEmpty()) {
            return byLevel(near, far);
        }
        if (near.server() != far.server()) {
            boolean podded = !near.superPod().isEmpty() && near.superPod().equals(far.superPod());
            return podded ? LinkClass.HCCS_SW : LinkClass.ROCE;
        }
        Map<Integer, LinkClass> row = stated.get(near.device());
        LinkClass said = row == null ? null : row.get(far.device());
        return said == null ? assumed(near, far) : said;
    }

    /** What the family is built like, where no tool says it of this server. */
    private LinkClass assumed(Npu near, Npu far) {
        return switch (generation) {
            case ATLAS_800 -> near.device() / 4 == far.device() / 4 ? LinkClass.HCCS : LinkClass.PHB;
            case A2, UNKNOWN -> LinkClass.HCCS;
            case A3 -> near.device() / 2 == far.device() / 2 ? LinkClass.SIO : LinkClass.HCCS_SW;
            case A5 -> LinkClass.UB;
        };
    }

    private static LinkClass byLevel(Npu near, Npu far) {
        for (RankTable.Level level : near.levels()) {
            for (RankTable.Level other : far.levels()) {
                if (other.layer() == level.layer() && other.instance().equals(level.instance())) {
                    return level.unifiedBus() || level.type().equals("TOPO_FILE_DESC") ? LinkClass.UB : LinkClass.ROCE;
                }
            }
        }
        return LinkClass.UNKNOWN;
    }

    /** Number of servers. */
    public int servers() {
        return (int) npus.stream().mapToInt(Npu::server).distinct().count();
    }

    /** Number of super pods. */
    public int superPods() {
        return (int) npus.stream()
                .map(Npu::superPod)
                .filter(pod -> !pod.isEmpty())
                .distinct()
                .count();
    }

    /** Whether something in it is wrong. */
    public boolean hasProblem() {
        return findings.stream().anyMatch(finding -> finding.severity() == Finding.Severity.PROBLEM);
    }
}
