// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Finding;
import io.weft.api.topology.DescribedMachine;
import io.weft.api.topology.LinkKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Our own node in every format: each format alone, all together, and with one of them changed. */
class SourcesAgreeTest {
    private static final Map<String, List<String>> ALL = Map.of(
            "--kfd", List.of(""),
            "--amd-xml", List.of("rccl-topology.xml"),
            "--showtopo", List.of("rocm-smi-showtopo.txt"),
            "--nodesbw", List.of("rocm-smi-shownodesbw.txt"),
            "--amd-smi", List.of("amd-smi-topology.txt", "amd-smi-topology.json"));

    @TempDir
    Path folder;

    private static List<Path> ours(String option) {
        return ALL.get(option).stream().map(Examples::ours).toList();
    }

    private static Map<String, List<Path>> everything() {
        Map<String, List<Path>> files = new java.util.LinkedHashMap<>();
        ALL.keySet().forEach(option -> files.put(option, ours(option)));
        return files;
    }

    @ParameterizedTest
    @CsvSource({
        "--kfd, ''",
        "--amd-xml, rccl-topology.xml",
        "--nodesbw, rocm-smi-shownodesbw.txt",
        "--amd-smi, amd-smi-topology.txt",
        "--amd-smi, amd-smi-topology.json"
    })
    void everyFormatThatHasWidthsGivesTheSameGraph(String option, String name) {
        GpuGraph graph = AmdTopologyReader.graph(Map.of(option, List.of(Examples.ours(name))));
        assertEquals("x1:2 x2:2 x4:4", RealFilesTest.widths(graph));
        for (int from = 0; from < 4; from++) {
            for (int to = 0; to < 4; to++) {
                GpuGraph.Pair pair = graph.pair(from, to);
                boolean diagonal = from + to == 3;
                if (from != to) {
                    assertEquals(LinkClass.XGMI, pair.linkClass());
                    assertEquals(!diagonal, pair.direct(), from + " to " + to);
                    assertEquals(diagonal ? 2 : 1, pair.hops());
                }
            }
        }
        // From 0 to 3 by 1 the narrowest is a single link, by 2 it is a double one.
        assertEquals(List.of(2), graph.pair(0, 3).via());
        assertEquals(2, graph.pair(0, 3).width());
        assertEquals(1, graph.hives());
    }

    @Test
    void everythingTogetherIsOneGraphWithoutAContradiction() {
        GpuGraph graph = AmdTopologyReader.graph(everything());
        assertEquals(
                List.of(),
                graph.findings().stream()
                        .filter(finding -> finding.severity() != Finding.Severity.NOTE)
                        .toList());
        assertEquals(4, graph.gpus().size());
        assertEquals("0000:c1:00.0", graph.gpus().getFirst().name());
        assertEquals("MI250X", graph.gpus().getFirst().product());
        assertEquals(110, graph.gpus().getFirst().computeUnits());
        assertEquals(200.0, graph.pair(0, 1).gigabytesPerSecond());
        assertEquals(List.of(0, 1), graph.cards().getFirst().nearest());
        assertEquals(6, graph.sources().size());
    }

    @Test
    void theDescriptionSpeaksInNeutralTerms() {
        DescribedMachine machine = new AmdTopologyReader().read(everything());
        assertEquals(LinkKind.IN_PACKAGE, machine.path(0, 1).orElseThrow().kind());
        assertEquals(LinkKind.FABRIC, machine.path(0, 2).orElseThrow().kind());
        assertEquals("hive 0", machine.devices().getLast().group());
        assertEquals("15", machine.path(0, 1).orElseThrow().facts().get("weight"));
    }

    @Test
    void aWidthThatDiffersIsReportedWithBothValuesAndNotAveraged() throws IOException {
        Path xml = folder.resolve("changed.xml");
        Files.writeString(
                xml, Files.readString(Examples.ours("rccl-topology.xml")).replace("count=\"4\"", "count=\"2\""));
        GpuGraph graph = AmdTopologyReader.graph(Map.of("--kfd", ours("--kfd"), "--amd-xml", List.of(xml)));
        assertEquals(4, graph.pair(0, 1).width());
        String seen = problem(graph);
        assertTrue(seen.contains("the number of parallel links"), seen);
        assertTrue(seen.contains("is 4 and 2"), seen);
    }

    @Test
    void aMissingGpuIsReported() throws IOException {
        Path xml = folder.resolve("three.xml");
        String text = Files.readString(Examples.ours("rccl-topology.xml"));
        Files.writeString(xml, text.replace("0000:ce:00.0", "0000:cf:00.0"));
        GpuGraph graph = AmdTopologyReader.graph(Map.of("--kfd", ours("--kfd"), "--amd-xml", List.of(xml)));
        String seen = problem(graph);
        assertTrue(seen.contains("0000:cf:00.0") || seen.contains("0000:ce:00.0"), seen);
        assertEquals(5, graph.gpus().size());
    }

    @Test
    void aToolThatNumbersAnotherCountOfGpusIsLeftOutAndReported() throws IOException {
        Path two = folder.resolve("two.txt");
        Files.writeString(two, """
                ===== Link Type between two GPUs =====
                       GPU0 GPU1
                GPU0   0    PCIE
                GPU1   PCIE 0
                """);
        GpuGraph graph = AmdTopologyReader.graph(Map.of("--kfd", ours("--kfd"), "--showtopo", List.of(two)));
        assertEquals(4, graph.gpus().size());
        assertTrue(problem(graph).contains("numbers 2 GPUs"), problem(graph));
    }

    private static String problem(GpuGraph graph) {
        return graph.findings().stream()
                .filter(finding -> finding.severity() == Finding.Severity.PROBLEM)
                .map(Finding::seen)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no problem was found: " + graph.findings()));
    }
}
