// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Finding;
import io.weft.api.topology.DescribedMachine;
import io.weft.api.topology.LinkKind;
import io.weft.ascend.Examples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class OurFilesTest {
    @TempDir
    Path folder;

    private static AscendGraph table(String name) {
        return AscendTopologyReader.graph(Map.of("--rank-table", List.of(Examples.ours("two-servers/" + name))));
    }

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("input"), text);
    }

    @ParameterizedTest
    @CsvSource({
        "rank-table.json,      1.0,    A2,        8, 2, HCCS,    ROCE",
        "rank-table-910a.json, legacy, ATLAS_800, 8, 1, HCCS,    PHB",
        "rank-table-a3.json,   1.2,    A3,        8, 2, HCCS_SW, HCCS_SW",
        "rank-table-950.json,  2.0,    A5,        4, 2, UB,      UB",
    })
    void everyVersionOfARankTableReads(
            String name, String version, Generation generation, int ranks, int servers, LinkClass near, LinkClass far) {
        AscendGraph graph = table(name);
        assertEquals(
                version,
                RankTableReader.read(Examples.ours("two-servers/" + name)).version());
        assertEquals(generation, graph.generation());
        assertEquals(ranks, graph.npus().size());
        assertEquals(servers, graph.servers());
        assertEquals(near, graph.link(0, 1));
        assertEquals(far, graph.link(0, ranks - 1));
        assertTrue(graph.findings().stream().noneMatch(f -> f.severity() == Finding.Severity.PROBLEM));
    }

    @Test
    void ranksAreOrdinalsWhateverTheOrderOfDevices() {
        AscendGraph graph = table("rank-table-a3.json");
        assertEquals(2, graph.npus().get(1).device());
        assertEquals(LinkClass.SIO, graph.link(0, 2), "devices 0 and 1 are dies of one package");
        assertEquals(3, graph.npus().getFirst().superDevice().orElseThrow().server());
    }

    @Test
    void toolsAndTableMakeOneMachine() {
        Map<String, List<Path>> files = Map.of(
                "--npu-smi",
                List.of(Examples.ours("a2-4/npu-smi-topo.txt"), Examples.ours("a2-4/npu-smi-info.txt")),
                "--hccn",
                List.of(Examples.ours("a2-4/hccn.txt")));
        DescribedMachine machine = new AscendTopologyReader(graph -> List.of()).read(files);
        assertEquals("4 910B3, one server", machine.title());
        assertEquals(LinkKind.FABRIC, machine.path(0, 3).orElseThrow().kind());
        assertEquals("0000:02:00.0", machine.devices().get(3).address());
        assertEquals(0, machine.devices().get(3).numaNode());
        assertEquals(1, machine.devices().get(0).numaNode());
        assertEquals(25.0, machine.networkCards().getFirst().bandwidth());
        assertEquals(List.of(), machine.findings());
    }

    @Test
    void aSwitchTableSaysWhichServersShareASwitch() {
        DescribedMachine machine = new AscendTopologyReader(graph -> List.of())
                .read(Map.of(
                        "--rank-table",
                        List.of(Examples.ours("two-servers/rank-table.json")),
                        "--tor-table",
                        List.of(Examples.ours("two-servers/tor.json"))));
        assertEquals("several", machine.path(0, 4).orElseThrow().facts().get("switches"));
        assertEquals(3, machine.path(0, 4).orElseThrow().hops());
    }

    @Test
    void anAddressThatTwoSourcesStateDifferentlyIsAContradiction() throws IOException {
        Path table = Files.writeString(folder.resolve("table.json"), """
                {"version":"1.0","server_count":"1","server_list":[{"server_id":"a","device":[
                 {"device_id":"0","device_ip":"192.0.2.99","rank_id":"0"},{"device_id":"9","device_ip":"192.0.2.12","rank_id":"1"}]}]}
                """);
        AscendGraph graph = AscendTopologyReader.graph(Map.of(
                "--rank-table",
                List.of(table),
                "--npu-smi",
                List.of(Examples.ours("a2-4/npu-smi-topo.txt")),
                "--hccn",
                List.of(Examples.ours("a2-4/hccn.txt"))));
        List<String> seen = graph.findings().stream()
                .filter(f -> f.severity() == Finding.Severity.PROBLEM)
                .map(Finding::seen)
                .toList();
        assertEquals(2, seen.size(), seen::toString);
        assertTrue(seen.stream().anyMatch(text -> text.contains("192.0.2.99") && text.contains("192.0.2.10")));
        assertTrue(seen.stream().anyMatch(text -> text.contains("device 9") && text.contains("[0, 1, 2, 3]")));
    }

    @ParameterizedTest
    @EnumSource(LinkClass.class)
    void everyNumberingFindsItsWayBack(LinkClass link) {
        if (link != LinkClass.ROCE) {
            assertEquals(link, LinkClass.ofWord(link.word()).orElseThrow());
        }
        if (link.dcmi() >= 0) {
            assertEquals(link, LinkClass.ofDcmi(link.dcmi()).orElseThrow());
        }
        if (link.hal() >= 0) {
            assertEquals(link, LinkClass.ofHal(link.hal()).orElseThrow());
        }
    }

    @Test
    void theSameWordHasAnotherNumberInEveryInterface() {
        assertEquals(3, LinkClass.HCCS.dcmi());
        assertEquals(0, LinkClass.HCCS.hal());
        assertEquals(1, LinkClass.HCCS.mask());
    }

    @Test
    void everyKindOfCellAndBothLayoutsRead() throws IOException {
        NpuSmiTopology topology = NpuSmiTopology.read(folder, """
                Phy-ID0 Phy-ID1 Phy-ID2 Phy-ID3 Phy-ID4 mlx5_0
                Phy-ID0 X SIO HCCS_SW   PHB PIX  SYS
                Phy-ID1   SIO X HCCS UB NA PHB
                Phy-ID2\tHCCS_SW\tHCCS\tX\tPXB\tSYS\tPHB
                Phy-ID3 PHB UB PXB X HCCS PHB
                Phy-ID4 PIX NA SYS HCCS X PHB
                Legend:
                  X    = Self
                """);
        assertEquals(List.of(0, 1, 2, 3, 4), topology.devices());
        assertEquals(LinkClass.HCCS_SW, topology.links().get(0).get(2));
        assertEquals(LinkClass.UNKNOWN, topology.links().get(1).get(4));
        assertEquals(Map.of(), topology.affinity());
    }

    @Test
    void anA3sTwoDiesStandAsTwoChipsWithPhysicalNumbers() throws IOException {
        NpuSmiDevices devices = NpuSmiDevices.read(folder, """
                | npu-smi 25.0.rc1                 Version: 25.0.rc1                                             |
                | NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
                | Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
                | 0     Ascend910           | OK            | 180.1       37                0    / 0             |
                | 0     0                   | 0000:9D:00.0  | 0           0    / 0          3100 / 65536         |
                | 0     Ascend910           | Warning       | -           36                0    / 0             |
                | 1     1                   | 0000:9F:00.0  | 0           0    / 0          2880 / 65536         |
                """);
        assertEquals(2, devices.chips().size());
        assertEquals(1, devices.chips().get(1).physical());
        assertEquals("Warning", devices.chips().get(1).health());
    }

    @Test
    void theToolsOwnConfigurationFileHasTheAddressesOfAllDevices() throws IOException {
        HccnReport report = HccnReport.read(file("""
                send_arp_status_0=1
                netdetect_0=192.0.2.1
                address_0=192.0.2.10
                netmask_0=255.255.255.0
                address_1 = 192.0.2.11
                gateway_1=192.0.2.1
                """));
        assertEquals("192.0.2.10", report.ports().get(0).address());
        assertEquals("255.255.255.0", report.ports().get(0).netmask());
        assertEquals("192.0.2.11", report.ports().get(1).address());
    }

    @Test
    void bothPrefixesOfLinkRecordsReadAndAMissingCountIsCounted() throws IOException {
        HccnReport report = HccnReport.read(file("""
                [devid 3]link up count       : 2
                [devid 3]link down count     : 1
                [device 4]    Tue Jun  6 16:32:12 2023    LINK UP
                [device 4]    Tue Jun  6 16:32:10 2023    LINK DOWN
                """));
        assertEquals(1, report.ports().get(3).downs());
        assertEquals(1, report.ports().get(4).downs());
        assertEquals(-1, report.ports().get(4).ups());
    }

    @Test
    void aTableThatIsBeingFilledInIsLookedAtAgain() throws IOException {
        Path table = file("{\"status\": \"initializing\"}");
        List<Long> pauses = new ArrayList<>();
        RankTable read = RankTableReader.await(table, 5000, millis -> {
            pauses.add(millis);
            if (pauses.size() == 3) {
                try {
                    Files.copy(
                            Examples.ours("two-servers/rank-table.json"),
                            table,
                            java.nio.file.StandardCopyOption.REPLACE_EXISTING);
                } catch (IOException failed) {
                    throw new java.io.UncheckedIOException(failed);
                }
            }
        });
        assertEquals(8, read.size());
        assertEquals(3, pauses.size());
    }

    @Test
    void aTableThatIsNeverFilledInIsRefusedInTime() throws IOException {
        Path table = file("{\"status\": \"initializing\", \"server_list\": []}");
        List<Long> pauses = new ArrayList<>();
        AcceleratorException refusal =
                assertThrows(AcceleratorException.class, () -> RankTableReader.await(table, 2000, pauses::add));
        assertEquals(4, pauses.size());
        assertTrue(refusal.detail().contains("still 'initializing' after 2000 ms"), refusal.detail());
    }

    @Test
    void aVirtualAddressFollowsFromThePackedIdentifier() {
        assertEquals("192.27.2.199", SuperDeviceId.of(113246208).virtualAddress());
    }
}
