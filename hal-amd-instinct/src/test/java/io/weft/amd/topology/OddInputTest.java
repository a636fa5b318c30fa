// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Finding;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files as they really arrive, and files that nobody should send. */
class OddInputTest {
    @TempDir
    Path folder;

    private Path file(String text) throws IOException {
        Path file = folder.resolve("file");
        Files.writeString(file, text);
        return file;
    }

    private static GpuGraph read(String option, Path file) {
        return AmdTopologyReader.graph(Map.of(option, List.of(file)));
    }

    private static String refusal(String option, Path file) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> read(option, file));
        assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code());
        assertEquals(1, refusal.getMessage().lines().count(), refusal.getMessage());
        assertTrue(refusal.getMessage().length() < 600, refusal.getMessage());
        return refusal.getMessage();
    }

    private static String ours(String name) throws IOException {
        return Files.readString(Examples.ours(name));
    }

    private static void sameAsOurs(GpuGraph graph) {
        assertEquals("x1:2 x2:2 x4:4", RealFilesTest.widths(graph));
        assertEquals(List.of(0, 0, 1, 1).size(), graph.gpus().size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocm-smi-shownodesbw.txt", "amd-smi-topology.txt", "amd-smi-topology.json"})
    void lineEndsColoursMarksAndWordsAroundATableDoNotMatter(String name) throws IOException {
        String option = name.startsWith("rocm") ? "--nodesbw" : "--amd-smi";
        String text = ours(name);
        sameAsOurs(read(option, file(text.replace("\n", "\r\n"))));
        sameAsOurs(read(option, file("\uFEFF" + text)));
        sameAsOurs(read(option, file(text.replace("XGMI", "\u001b[32mXGMI\u001b[0m"))));
        sameAsOurs(read(
                option,
                file(
                        "WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status\n[warn] x\n"
                                + text)));
        sameAsOurs(read(option, file(text + "\nLegend:\n  SELF = Current GPU\n  64,32 = atomics\n$ exit\n")));
        Path wide = folder.resolve("wide");
        Files.write(wide, ("\uFEFF" + text).getBytes(StandardCharsets.UTF_16LE));
        sameAsOurs(read(option, wide));
        if (name.endsWith(".txt")) {
            sameAsOurs(read(option, file(text.replaceAll(" {2,}", " "))));
            sameAsOurs(read(option, file(text.replaceAll(" {2,}", "\t"))));
            sameAsOurs(read(
                    option,
                    file(text.replaceAll("(?m)^(GPU.*|0000.*)$", "| $1 |").replaceAll(" {2,}", " | "))));
        }
    }

    @Test
    void theJsonMayHaveACommaTooManyAndAWrapper() throws IOException {
        String text = ours("amd-smi-topology.json");
        sameAsOurs(read("--amd-smi", file(text.replace("}\n", "},\n"))));
        sameAsOurs(read("--amd-smi", file("{\"topology\": " + text + "}")));
    }

    @Test
    void rocmSmiJsonIsRead() throws IOException {
        GpuGraph graph = read("--showtopo", file("""
                WARNING: low-power state
                {"card0": {"(Topology) Numa Node": "0", "(Topology) Numa Affinity": "0"},
                 "card1": {"(Topology) Numa Node": "1", "(Topology) Numa Affinity": "1"},
                 "system": {"(Topology) Weight between DRM devices 0 and 1": "15",
                  "(Topology) Hops between DRM devices 0 and 1": "1",
                  "(Topology) Link type between DRM devices 0 and 1": "XGMI"}}
                """));
        assertEquals(LinkClass.XGMI, graph.pair(1, 0).linkClass());
        assertEquals(1, graph.gpus().get(1).numa());
    }

    @Test
    void cellsThatSayNothingAndRowsThatAreMissingLeaveGapsNotGuesses() throws IOException {
        String text = ours("amd-smi-topology.txt").replaceFirst("(?m)^0000:ce:00.0 30 .*\n", "");
        GpuGraph graph = read("--amd-smi", file(text));
        assertTrue(
                graph.findings().stream().anyMatch(f -> f.seen().contains("no row for 0000:ce:00.0")),
                graph.findings()::toString);
        assertEquals(4, graph.gpus().size());
        GpuGraph silent = read("--showtopo", file("""
                ===== Link Type between two GPUs =====
                       GPU0         GPU1
                GPU0   0            N/A
                GPU1   N/A          0
                """));
        assertEquals(LinkClass.UNKNOWN, silent.pair(0, 1).linkClass());
        assertEquals(0, silent.hives());
    }

    @Test
    void aCellOfSeveralWordsIsFoundByItsColumn() throws IOException {
        GpuGraph graph = read("--amd-smi", file("""
                LINK TYPE TABLE:
                             0000:01:00.0              0000:02:00.0              0000:03:00.0
                0000:01:00.0 SELF                      AMDSMI ERROR not there    XGMI
                0000:02:00.0 XGMI                      SELF                      XGMI
                0000:03:00.0 XGMI                      XGMI                      SELF
                """));
        assertEquals(LinkClass.XGMI, graph.pair(0, 2).linkClass());
        assertTrue(
                graph.findings().stream().anyMatch(f -> f.seen().contains("AMDSMI ERROR not there")),
                graph.findings()::toString);
    }

    @Test
    void oneGpuIsAMachineToo() throws IOException {
        GpuGraph graph = read("--showtopo", file("""
                ===== Weight between two GPUs =====
                       GPU0
                GPU0   0
                ===== Numa Nodes =====
                GPU[0]		: (Topology) Numa Node: 0
                """));
        assertEquals(1, graph.gpus().size());
        assertEquals(0, graph.gpus().getFirst().numa());
    }

    @Test
    void zeroBandwidthForEveryPairMeansThatTheDriverStatesNone() throws IOException {
        GpuGraph graph = read("--amd-smi", file("""
                WEIGHT TABLE:
                             0000:0d:00.0 0000:26:00.0
                0000:0d:00.0 0            15
                0000:26:00.0 15           0
                LINK TYPE TABLE:
                             0000:0d:00.0 0000:26:00.0
                0000:0d:00.0 SELF         XGMI
                0000:26:00.0 XGMI         SELF
                NUMA BW TABLE:
                             0000:0d:00.0 0000:26:00.0
                0000:0d:00.0 N/A          0-0
                0000:26:00.0 0-0          N/A
                """));
        assertTrue(graph.pair(0, 1).direct());
        assertTrue(Double.isNaN(graph.pair(0, 1).gigabytesPerSecond()));
        assertTrue(
                graph.findings().stream().noneMatch(f -> f.severity() == Finding.Severity.PROBLEM),
                graph.findings()::toString);
    }

    @Test
    void theUnreadableValueThatIsToldIsTheSameInEveryRun() throws IOException {
        String cells = "{\"gpu_1\": \"%s\"}";
        String gpu = "{\"gpu\": 0, \"hops\": " + cells.replace("%s", "H?") + ", \"numa_bandwidth\": "
                + cells.replace("%s", "B?") + ", \"weight\": " + cells.replace("%s", "W?") + "}";
        GpuGraph graph = read("--amd-smi", file("[" + gpu + ", {\"gpu\": 1}]"));
        assertTrue(
                graph.findings().stream()
                        .anyMatch(f -> f.seen().contains("3 values") && f.seen().contains("B?")),
                graph.findings()::toString);
    }

    @Test
    void fourHivesAndThreeGpusAreRead() throws IOException {
        StringBuilder xml = new StringBuilder("<!-- four hives -->\n<system version=\"1\"><cpu numaid=\"0\">\n");
        for (int gpu = 0; gpu < 16; gpu++) {
            xml.append(String.format(
                    Locale.ROOT,
                    "<pci busid=\"0000:%02x:00.0\" class=\"0x038000\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"%d\" sm=\"120\" gcn=\"908\">",
                    gpu + 1,
                    gpu));
            for (int peer = gpu / 4 * 4; peer < gpu / 4 * 4 + 4; peer++) {
                xml.append(
                        peer == gpu
                                ? ""
                                : "<xgmi target=\"0000:%02x:00.0\" count=\"1\" tclass=\"0x038000\"/>"
                                        .formatted(peer + 1));
            }
            xml.append("</gpu></pci>\n");
        }
        GpuGraph graph = read("--amd-xml", file(xml + "</cpu></system>\n2026-11-29 rank 0 done\n"));
        assertEquals(4, graph.hives());
        assertEquals(LinkClass.PCIE, graph.pair(0, 15).linkClass());
        assertEquals("x1:48", RealFilesTest.widths(graph));
        GpuGraph three = read("--amd-xml", file("""
                <system version="2"><cpu numaid="-1">
                <pci busid="0000:01:00.0" link_speed="Unknown" link_width="0"><gpu dev="0" gcn="gfx942:sramecc+"/></pci>
                <pci busid="01:01:00.0" link_speed="" link_width=""><gpu dev="1"/></pci>
                <pci busid="0000:03:00.0"><gpu dev="2"/></pci>
                </cpu></system>"""));
        assertEquals(3, three.gpus().size());
        assertEquals(0, three.hives());
        assertEquals(-1, three.gpus().getFirst().numa());
    }

    @Test
    void anEdgeInOneDirectionOnlyIsAProblem() throws IOException {
        GpuGraph graph = read(
                "--amd-xml",
                file(ours("rccl-topology.xml")
                        .replaceFirst("<xgmi target=\"0000:c6:00.0\" count=\"4\" tclass=\"0x038000\"/>", "")));
        assertTrue(
                graph.findings().stream().anyMatch(f -> f.check().equals("asymmetric-links")),
                graph.findings()::toString);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "<!DOCTYPE a [<!ENTITY b 'c'>]><system>&b;</system>|a document type or an entity",
                "<!DOCTYPE system SYSTEM 'file:///etc/passwd'><system/>|a document type or an entity",
                "<system><cpu numaid='0'>|broken or cut off",
                "<system><cpu numaid='0></cpu></system>|line 1",
                "<topology/>|the root is <topology>, not <system>",
                "<system version='2'/>|there is no <gpu> in it",
                "<system><gpu dev='0'/></system>|stands outside of a <pci>",
                "<system><pci busid='x'><gpu dev='0'/></pci></system>|no PCI address",
                "<system><pci busid='0000:01:00.0'><gpu dev='zero'/></pci></system>|dev is 'zero'",
                "<system><pci busid='0000:01:00.0'><gpu dev='0'><xgmi target='1'/></gpu></pci></system>|the target is '1'",
                "<system><pci busid='0000:01:00.0'><gpu><xgmi target='0000:02:00.0' count='-3'/></gpu></pci></system>|count is -3",
                "GPU0 GPU1|is no XML",
                "'ACCESS TABLE:'|goes to --amd-smi",
                "''|is empty"
            })
    void aBrokenOrHostileRcclFileGetsOneLine(String text, String words) throws IOException {
        String message = refusal("--amd-xml", file(text == null ? "" : text));
        assertTrue(message.contains(words), message);
    }

    @Test
    void expandingEntitiesAndEndlessNestingAreRefusedAtOnce() throws IOException {
        StringBuilder laughs = new StringBuilder("<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY l0 \"ha\">");
        for (int i = 1; i < 30; i++) {
            laughs.append(String.format(Locale.ROOT, "<!ENTITY l%d \"&l%d;&l%d;\">", i, i - 1, i - 1));
        }
        refusal("--amd-xml", file(laughs + "]><system>&l29;</system>"));
        assertTrue(refusal("--amd-xml", file("<system>" + "<pci busid=\"0000:01:00.0\">".repeat(5000)))
                .contains("inside one another"));
    }

    @Test
    void aFileOfAGigabyteIsRefusedUnread() throws IOException {
        Path huge = folder.resolve("huge.xml");
        try (RandomAccessFile file = new RandomAccessFile(huge.toFile(), "rw")) {
            file.writeBytes("<system version=\"");
            file.setLength(1L << 30);
        }
        for (String option : List.of("--amd-xml", "--showtopo", "--nodesbw", "--amd-smi")) {
            assertTrue(refusal(option, huge).contains("1073741824 bytes"), option);
        }
    }

    @Test
    void eachInputSaysWhichOptionAFileBelongsTo() throws IOException {
        assertTrue(refusal("--showtopo", Examples.ours("rccl-topology.xml")).contains("--amd-xml"));
        assertTrue(refusal("--showtopo", Examples.ours("amd-smi-topology.txt")).contains("--amd-smi"));
        assertTrue(refusal("--nodesbw", Examples.ours("amd-smi-topology.json")).contains("--amd-smi"));
        assertTrue(refusal("--amd-smi", Examples.ours("rocm-smi-showtopo.txt")).contains("--showtopo"));
        assertTrue(refusal("--amd-xml", Examples.ours("rocm-smi-showtopo.txt")).contains("--showtopo"));
        assertTrue(refusal("--kfd", Examples.ours("rccl-topology.xml")).contains("is a file"));
        assertTrue(refusal("--amd-smi", Examples.ours("")).contains("is a folder"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--showtopo|hello|no table of GPUs is in it",
                "--showtopo|ERROR:root:Driver not initialized (amdgpu not found in modules)|found no driver",
                "--amd-smi|[{\"gpu\": 0, \"links\": [{\"gpu\": 1, |the JSON is broken",
                "--amd-smi|[{\"gpu\": 0, \"bdf\": \"zero\", \"links\": []}]|bdf 'zero'",
                "--amd-smi|[{\"gpu\": \"first\", \"links\": []}]|neither a number nor a bdf",
                "--amd-smi|[]|no table of GPUs",
                "--amd-smi|nothing|it begins 'nothing'"
            })
    void anUnusableToolOutputGetsOneLine(String option, String text, String words) throws IOException {
        String message = refusal(option, file(text));
        assertTrue(message.contains(words), message);
    }

    @Test
    void aKfdTreeWithoutAGpuOrWithHiddenNodesSaysSo() throws IOException {
        Files.createDirectories(folder.resolve("nodes/0"));
        Files.writeString(folder.resolve("nodes/0/properties"), "cpu_cores_count 8\nsimd_count 0\n");
        assertTrue(refusal("--kfd", folder).contains("none is a GPU"));
        assertTrue(refusal("--kfd", folder.resolve("nowhere")).contains("there is no such folder"));
        Files.createDirectories(folder.resolve("nodes/1"));
        Files.writeString(
                folder.resolve("nodes/1/properties"),
                "simd_count 416\r\nsimd_per_cu 4\r\nlocation_id 256\r\nunique_id 18446744073709551615\r\nodd\r\nhuge 99999999999999999999\r\n");
        Files.createDirectories(folder.resolve("nodes/2"));
        Files.writeString(folder.resolve("nodes/2/properties"), "");
        GpuGraph graph = read("--kfd", folder);
        assertEquals(1, graph.gpus().size());
        assertEquals(104, graph.gpus().getFirst().computeUnits());
        assertEquals("ffffffffffffffff", graph.gpus().getFirst().uniqueId());
        assertTrue(graph.findings().stream().anyMatch(f -> f.seen().contains("node 2")), graph.findings()::toString);
    }

    /** Network cards as sysfs has them: links from the class to the device's real place on PCIe. */
    @Test
    void networkCardsOfSysfsAreReadAndWhatTheyDoNotSayStaysUnknown() throws IOException {
        for (int gpu = 0; gpu < 2; gpu++) {
            Path node = folder.resolve("sys/class/kfd/kfd/topology/nodes/" + (gpu + 1));
            Files.createDirectories(node);
            // Bus 0xc1 or 0xd1, device 0.
            int location = (gpu == 0 ? 0xc1 : 0xd1) << 8;
            Files.writeString(
                    node.resolve("properties"),
                    "simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\ndevice_id 29857\nlocation_id " + location
                            + "\n");
            device("c0", gpu == 0 ? "0000:c1:00.0" : "0000:d1:00.0", gpu == 0 ? "0000:c0:01.0" : "0000:c0:03.0");
        }
        card("mlx5_0", "0000:c2:00.0", "0000:c0:01.0", "400 Gb/sec (4X NDR)", "1");
        card("mlx5_1", "0000:d2:00.0", "0000:c0:03.0", "fast", "-1");
        GpuGraph graph = read("--kfd", folder);
        assertEquals(2, graph.cards().size());
        GpuGraph.Card first = graph.cards().getFirst();
        assertEquals("mlx5_0", first.name());
        assertEquals("0000:c2:00.0", first.address());
        assertEquals(50, first.gigabytesPerSecond());
        assertEquals(1, first.numa());
        assertEquals(List.of(0), first.nearest());
        GpuGraph.Card second = graph.cards().getLast();
        assertTrue(Double.isNaN(second.gigabytesPerSecond()), second::toString);
        assertEquals(-1, second.numa());
        assertEquals(List.of(1), second.nearest());
    }

    private Path device(String bus, String address, String bridge) throws IOException {
        Path real = folder.resolve("sys/devices/pci0000:" + bus + "/" + bridge + "/" + address);
        Files.createDirectories(real);
        Path buses = folder.resolve("sys/bus/pci/devices");
        Files.createDirectories(buses);
        Files.createSymbolicLink(buses.resolve(address), real);
        return real;
    }

    private void card(String name, String address, String bridge, String rate, String numa) throws IOException {
        Path real = device("c0", address, bridge);
        Path card = folder.resolve("sys/class/infiniband/" + name);
        Files.createDirectories(card.resolve("ports/1"));
        Files.createSymbolicLink(card.resolve("device"), real);
        Files.writeString(card.resolve("ports/1/rate"), rate + "\n");
        Files.writeString(real.resolve("numa_node"), numa + "\n");
    }

    /** Whatever is done to a file, it is read or refused in one line. */
    @ParameterizedTest
    @CsvSource({
        "--amd-xml, rccl-topology.xml",
        "--showtopo, rocm-smi-showtopo.txt",
        "--nodesbw, rocm-smi-shownodesbw.txt",
        "--amd-smi, amd-smi-topology.txt",
        "--amd-smi, amd-smi-topology.json"
    })
    void aDamagedFileIsReadOrRefusedAndNeverAnythingElse(String option, String name) throws IOException {
        byte[] whole = Files.readAllBytes(Examples.ours(name));
        long seed = 20261129;
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 100; round++) {
            byte[] damaged =
                    round % 2 == 0 ? java.util.Arrays.copyOf(whole, random.nextInt(whole.length)) : whole.clone();
            for (int i = random.nextInt(6); i > 0 && damaged.length > 0; i--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
            }
            Path file = folder.resolve("damaged");
            Files.write(file, damaged);
            try {
                AmdTopologyReader.describe(read(option, file));
            } catch (AcceleratorException refusal) {
                assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code(), refusal.getMessage());
                assertFalse(refusal.getMessage().isBlank());
            }
        }
    }
}
