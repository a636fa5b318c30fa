// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Finding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files that real nodes and AMD's repositories hold. Each kind has a twin of our own in {@link SourcesAgreeTest}. */
class RealFilesTest {
    @TempDir
    Path folder;

    /** Directed pairs with links of their own by width, as "x1:12 x4:8". */
    static String widths(GpuGraph graph) {
        Map<Integer, Integer> counts = new TreeMap<>();
        for (int from = 0; from < graph.gpus().size(); from++) {
            for (int to = 0; to < graph.gpus().size(); to++) {
                if (from != to && graph.pair(from, to).direct()) {
                    counts.merge(graph.pair(from, to).width(), 1, Integer::sum);
                }
            }
        }
        return counts.entrySet().stream()
                .map(entry -> "x" + entry.getKey() + ":" + entry.getValue())
                .reduce((a, b) -> a + " " + b)
                .orElse("none");
    }

    private static void noProblem(GpuGraph graph) {
        assertEquals(
                List.of(),
                graph.findings().stream()
                        .filter(finding -> finding.severity() == Finding.Severity.PROBLEM)
                        .map(Finding::seen)
                        .toList());
    }

    @ParameterizedTest
    @CsvSource({
        "topo_8p1h_3,      8, x1:12 x2:4 x4:8,  1, 4, gfx90a, MI250X",
        "topo_8p1h_5,      8, x1:12 x2:4 x4:8,  1, 8, gfx90a, ",
        "topo_16p1h,      16, x1:32 x2:8 x4:16, 1, 8, gfx90a, MI250",
        "topo_16p1h_vm,   16, x1:32 x2:8 x4:16, 1, 8, gfx90a, ",
        "topo_8p_940,      8, x1:56, 1, 8, gfx942, MI300X",
        "topo_8p_940vm,    8, x1:56, 1, 8, gfx942, ",
        "topo_4p_940,      4, x1:12, 1, 4, gfx942, MI300A",
        "topo_8p_950,      8, x1:56, 1, 8, gfx950, MI350X/MI355X",
        "topo_8p_rome_4n_1, 8, x1:24, 2, 4, gfx908, MI100",
        "topo_4p1h,        4, x1:8, 1, 1, gfx906, ",
        "topo_8p_pcie,     8, none, 0, 1, gfx906, ",
        "topo_3p_pcie,     3, none, 0, , gfx906, ",
        "topo_4p4h,       16, x1:48, 4, , gfx908, ",
    })
    void anRcclFileReadsWithItsCountsOfGpusLinksHivesAndCards(
            String name, int gpus, String widths, int hives, Integer cards, String gfx, String product) {
        GpuGraph graph = AmdTopologyReader.ofXml(Examples.real("topo-xml/" + name + ".xml"));
        noProblem(graph);
        assertEquals(gpus, graph.gpus().size());
        assertEquals(widths, widths(graph));
        assertEquals(hives, graph.hives());
        assertTrue(graph.gpus().stream().allMatch(gpu -> gpu.gfx().equals(gfx)), graph.gpus()::toString);
        if (cards != null) {
            assertEquals(cards, graph.cards().size());
            assertTrue(graph.cards().stream().noneMatch(card -> card.nearest().isEmpty()), graph.cards()::toString);
        }
        if (product != null) {
            assertTrue(graph.gpus().stream().allMatch(gpu -> gpu.product().equals(product)), graph.gpus()::toString);
        }
    }

    @Test
    void aNodeWithoutXgmiReportsNone() {
        GpuGraph graph = AmdTopologyReader.ofXml(Examples.real("topo-xml/topo_8p_pcie.xml"));
        for (int from = 0; from < 8; from++) {
            for (int to = 0; to < 8; to++) {
                if (from != to) {
                    assertEquals(LinkClass.PCIE, graph.pair(from, to).linkClass());
                }
            }
        }
    }

    @Test
    void speedsOfBothSpellingsAreRead() {
        GpuGraph old = AmdTopologyReader.ofXml(Examples.real("topo-xml/topo_8p1h_3.xml"));
        GpuGraph newer = AmdTopologyReader.ofXml(Examples.real("topo-xml/topo_8p_950.xml"));
        assertEquals(16, old.gpus().getFirst().pcieSpeed());
        assertEquals(32, newer.gpus().getFirst().pcieSpeed());
        assertEquals(16, newer.gpus().getFirst().pcieLanes());
        assertEquals(50, newer.cards().getFirst().gigabytesPerSecond());
        assertEquals(25, old.cards().getFirst().gigabytesPerSecond());
    }

    @Test
    void mi250ShowtopoHasThreeHopsByWeightAlthoughTheToolsSayOne() {
        GpuGraph graph = read("--showtopo", "showtopo/mi250_8gcd_showtopo.txt");
        noProblem(graph);
        assertEquals(3, graph.pair(1, 5).hops());
        assertEquals(3, graph.pair(3, 7).hops());
        assertEquals(2, graph.pair(0, 2).hops());
        assertEquals(1, graph.pair(0, 1).hops());
        assertTrue(graph.pair(0, 4).direct());
        assertTrue(graph.findings().stream().anyMatch(finding -> finding.check().equals("smi-hops")));
        assertEquals(
                List.of(0, 0, 0, 0, 1, 1, 1, 1),
                graph.gpus().stream().map(GpuGraph.Gpu::numa).toList());
    }

    @Test
    void mi250NodesbwHasWidthsAndRoutedPairs() {
        GpuGraph graph = read("--nodesbw", "showtopo/mi250_8gcd_shownodesbw.txt");
        noProblem(graph);
        assertEquals("x1:12 x2:4 x4:8", widths(graph));
        assertEquals(2, graph.pair(0, 6).width());
        assertFalse(graph.pair(0, 3).direct());
        assertEquals(LinkClass.XGMI, graph.pair(0, 3).linkClass());
    }

    @Test
    void twoNodesGivenAsOneContradictOneAnother() {
        GpuGraph graph = AmdTopologyReader.graph(Map.of(
                "--showtopo", List.of(Examples.real("showtopo/mi250_8gcd_showtopo.txt")),
                "--nodesbw", List.of(Examples.real("showtopo/mi250_8gcd_shownodesbw.txt"))));
        Finding found = graph.findings().getFirst();
        assertEquals(Finding.Severity.PROBLEM, found.severity());
        assertTrue(found.seen().contains("GPU0 to GPU4 is direct and not direct"), found.seen());
    }

    @Test
    void pcieCardsInTwoSocketsAreThreeHopsApart() {
        GpuGraph graph = read("--showtopo", "showtopo/pcie_2_cross_numa_showtopo.txt");
        assertEquals(LinkClass.PCIE, graph.pair(0, 1).linkClass());
        assertEquals(3, graph.pair(0, 1).hops());
        assertEquals(52, graph.pair(0, 1).weight());
        assertEquals(0, graph.hives());
    }

    @ParameterizedTest
    @CsvSource({
        "amdsmi/topology_mi300x_8_tables.txt, 8, x1:56",
        "amdsmi/topology_json_new_filtered_2gpu.json, 2, none",
        "amdsmi/topology_json_old_2gpu_pcie.json, 2, none"
    })
    void amdSmiReadsInAllThreeShapes(String name, int gpus, String widths) {
        GpuGraph graph = read("--amd-smi", name);
        noProblem(graph);
        assertEquals(gpus, graph.gpus().size());
        assertEquals(widths, widths(graph));
    }

    @Test
    void theMi300xKfdPropertiesAreRead() throws IOException {
        Path nodes = folder.resolve("nodes");
        for (String file :
                List.of("mi300x_node_properties", "mi300x_io_link_to_cpu_properties", "mi300x_io_link_xgmi_DERIVED")) {
            Examples.real("kfd/" + file + ".txt");
        }
        put(nodes.resolve("0/properties"), "cpu_cores_count 64\nsimd_count 0\n");
        String gpu = Files.readString(Examples.real("kfd/mi300x_node_properties.txt"));
        put(nodes.resolve("2/properties"), gpu);
        put(nodes.resolve("3/properties"), gpu.replace("location_id 18176", "location_id 25856"));
        put(
                nodes.resolve("2/io_links/0/properties"),
                Files.readString(Examples.real("kfd/mi300x_io_link_to_cpu_properties.txt")));
        String link = Files.readString(Examples.real("kfd/mi300x_io_link_xgmi_DERIVED.txt"));
        put(nodes.resolve("2/io_links/1/properties"), link);
        put(
                nodes.resolve("3/io_links/0/properties"),
                link.replace("node_from 2", "node_from 3").replace("node_to 3", "node_to 2"));
        GpuGraph graph = AmdTopologyReader.ofKfd(folder);
        noProblem(graph);
        GpuGraph.Gpu first = graph.gpus().getFirst();
        assertEquals("MI300X", first.product());
        assertEquals("gfx942", first.gfx());
        assertEquals(304, first.computeUnits());
        assertEquals("0000:47:00.0", first.address().toString());
        assertEquals(2, first.hostEngines());
        assertEquals(14, first.fabricEngines());
        assertEquals(0, first.numa());
        assertEquals(64.0, graph.pair(0, 1).gigabytesPerSecond());
        assertEquals(1 << 14, graph.pair(0, 1).engines());
        assertEquals(1, graph.pair(0, 1).hops());
    }

    private static void put(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private static GpuGraph read(String option, String name) {
        return AmdTopologyReader.graph(Map.of(option, List.of(Examples.real(name))));
    }

    /** The published one-way matrix agrees with the narrowest link of the chosen ways, single or double. */
    @Test
    void theWidestWayExplainsEveryPairOfTheMi250BandwidthMatrix() throws IOException {
        GpuGraph graph = read("--showtopo", "showtopo/mi250_8gcd_showtopo.txt");
        List<String> lines = Files.readAllLines(Examples.real("rbt/mi250_8gcd_unidirectional.csv"));
        // The widths of that node, which showtopo does not print: packages x4, (0,4) and (2,6) x2, the rest x1.
        int[][] width = new int[8][8];
        for (int from = 0; from < 8; from++) {
            for (int to = 0; to < 8; to++) {
                if (from != to && graph.pair(from, to).direct()) {
                    boolean twice = (from + to == 4 && from * to == 0) || (from + to == 8 && from * to == 12);
                    width[from][to] = from / 2 == to / 2 ? 4 : twice ? 2 : 1;
                }
            }
        }
        XgmiRoutes routes = new XgmiRoutes(width);
        for (int from = 0; from < 8; from++) {
            String[] cells = lines.get(from + 1).split(",", -1);
            for (int to = 0; to < 8; to++) {
                if (from != to) {
                    int narrowest = routes.narrowest(
                            routes.widest(from, to, graph.pair(from, to).hops()));
                    double measured = Double.parseDouble(cells[to + 1]);
                    int links = (int) Math.round(measured / 37.5);
                    assertEquals(links, narrowest, from + " to " + to + " measures " + measured + " GB/s");
                }
            }
        }
    }
}
