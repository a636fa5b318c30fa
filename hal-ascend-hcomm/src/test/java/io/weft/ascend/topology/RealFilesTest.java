// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Finding;
import io.weft.ascend.Examples;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Files of real hosts. Each kind has a twin of our own in {@link OurFilesTest} and a broken one in {@link OddInputTest}. */
class RealFilesTest {
    private static AscendGraph graph(String option, String name) {
        return AscendTopologyReader.graph(Map.of(option, List.of(Examples.real(name))));
    }

    @Test
    void anA3ServersRankTableReadsWithItsPackedIdentifiers() {
        RankTable table = RankTableReader.read(Examples.real("rank_table_a3_v1.2_16dev.json"));
        assertEquals("1.2", table.version());
        assertEquals(16, table.size());
        assertEquals(List.of(), RankTableRules.check(table));
        table.byRank().forEach(placed -> {
            SuperDeviceId id = SuperDeviceId.of(placed.device().superDevice());
            assertEquals(27, id.server());
            assertEquals(placed.device().device(), id.device());
            assertTrue(id.isConsistent(), id::toString);
            assertEquals(placed.device().superDevice(), id.packed());
        });
        AscendGraph graph = graph("--rank-table", "rank_table_a3_v1.2_16dev.json");
        assertEquals(LinkClass.SIO, graph.link(0, 1));
        assertEquals(LinkClass.HCCS_SW, graph.link(1, 2));
    }

    @Test
    void a910b3HostsTopologyIsAFullMesh() {
        AscendGraph graph = graph("--npu-smi", "npu_smi_topo_910b3_8card.txt");
        assertEquals(8, graph.npus().size());
        for (int from = 0; from < 8; from++) {
            for (int to = 0; to < 8; to++) {
                assertEquals(from == to ? LinkClass.SELF : LinkClass.HCCS, graph.link(from, to));
            }
        }
        assertEquals(
                List.of(6, 6, 4, 4, 0, 0, 2, 2),
                graph.npus().stream().map(AscendGraph.Npu::numa).toList());
        assertEquals(List.of(), graph.findings());
    }

    @Test
    void a910b3HostsDevicesReadWithAddressesAndMemory() {
        Path file = Examples.real("npu_smi_info_910b3.txt");
        NpuSmiDevices devices = ToolOutput.read(file).devices().orElseThrow();
        assertEquals("24.1.rc1.b030", devices.toolVersion());
        assertEquals(8, devices.chips().size());
        NpuSmiDevices.Chip seventh = devices.chips().get(7);
        assertEquals("910B3", seventh.name());
        assertEquals("0000:42:00.0", seventh.address().orElseThrow().toString());
        assertEquals(3315, seventh.usedMegabytes());
        assertEquals(65536, seventh.totalMegabytes());
    }

    @Test
    void bothTablesOfOneHostMakeOneGraph() {
        AscendGraph graph = AscendTopologyReader.graph(Map.of(
                "--npu-smi",
                List.of(Examples.real("npu_smi_topo_910b3_8card.txt"), Examples.real("npu_smi_info_910b3.txt"))));
        assertEquals(Generation.A2, graph.generation());
        assertEquals("0000:c1:00.0", graph.npus().getFirst().address());
        assertEquals(6, graph.npus().getFirst().numa());
        assertTrue(graph.findings().stream().noneMatch(f -> f.severity() == Finding.Severity.PROBLEM));
    }

    @Test
    void aDeviceWithoutTopologySaysSoInOneLine() {
        Path file = Examples.real("npu_smi_topo_unsupported.txt");
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> ToolOutput.read(file));
        assertTrue(refusal.detail().contains("it knows no topology of this device"), refusal.detail());
    }

    @Test
    void hccnToolsOutputOfOneDeviceReads() {
        HccnReport report = HccnReport.read(Examples.real("hccn_tool_faultdiag.txt"));
        HccnReport.Port port = report.ports().get(0);
        assertEquals("UP", port.link());
        assertEquals("Init", port.health());
        assertEquals("198.18.0.10", port.address());
        assertEquals("255.255.255.0", port.netmask());
        assertEquals(0, port.tls());
        assertEquals(2, port.ups());
        assertEquals(1, port.downs(), "counted from the records, as this version prints no count");
        assertEquals(3, port.events().size());
        assertEquals("Tue Jun  6 16:32:12 2023", port.events().getFirst().time());
        assertEquals(122404, port.counter("nic_tx_all_pkg_num"));
    }

    @Test
    void aTableOfSwitchesReads() {
        TorTable table = TorTable.read(Examples.real("tor_node_v1.0.json"));
        assertEquals(4, table.switches().size());
        assertEquals(3, table.switchOf("1.1.0.111"));
        AscendGraph graph = graph("--tor-table", "tor_node_v1.0.json");
        assertEquals(128, graph.npus().size());
        assertEquals(16, graph.servers());
        assertEquals(LinkClass.ROCE, graph.link(0, 8));
    }
}
