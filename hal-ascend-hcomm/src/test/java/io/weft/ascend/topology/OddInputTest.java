// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Finding;
import io.weft.ascend.Examples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Broken twins of every kind of file: one line each that names the file, the place, and what would be accepted. */
class OddInputTest {
    @TempDir
    Path folder;

    private static final String SERVERS =
            "{\"version\":\"1.0\",\"server_list\":[{\"server_id\":\"a\",\"device\":[%s]}]}";

    static Stream<Arguments> broken() {
        return Stream.of(
                Arguments.of("--rank-table", "", "is empty"),
                Arguments.of("--rank-table", "{\"server_list\": [", "line 1, column"),
                Arguments.of("--rank-table", "[]", "holds a list"),
                Arguments.of("--rank-table", "{\"a\": 1}", "none of server_list, group_list and rank_list"),
                Arguments.of("--rank-table", "{\"server_list\": []}", "names no device"),
                Arguments.of("--rank-table", "{\"version\":\"3.0\",\"server_list\": []}", "version: found '3.0'"),
                Arguments.of(
                        "--rank-table",
                        SERVERS.formatted("{\"device_id\":\"0\"}"),
                        "server_list[0].device[0].rank_id: found nothing"),
                Arguments.of(
                        "--rank-table",
                        SERVERS.formatted("{\"device_id\":\"x\",\"rank_id\":\"0\"}"),
                        "server_list[0].device[0].device_id: found 'x', expected a whole number"),
                Arguments.of(
                        "--rank-table",
                        "{\"status\":\"ready\",\"server_list\":[]}",
                        "status: found 'ready', expected completed or initializing"),
                Arguments.of("--rank-table", "{\"server_list\":[{\"tor_id\":0}]}", "goes to --tor-table"),
                Arguments.of(
                        "--rank-table",
                        "{\"version\":\"2.0\",\"rank_list\":[{\"rank_id\":0,\"level_list\":[{\"net_type\":\"RING\"}]}]}",
                        "rank_list[0].level_list[0].net_type: found 'RING', expected CLOS or TOPO_FILE_DESC"),
                Arguments.of("--npu-smi", "", "when the driver is not loaded"),
                Arguments.of("--npu-smi", "hello\n", "no table of NPUs is in it; it begins 'hello'"),
                Arguments.of("--npu-smi", "This device does not support querying topo.", "knows no topology"),
                Arguments.of("--npu-smi", " NPU0 NPU1\nNPU0 X NVLINK\nNPU1 HCCS X\n", "line 2: 'NVLINK'"),
                Arguments.of("--npu-smi", " NPU0 NPU1\nNPU0 X\nNPU1 HCCS X\n", "line 2 has 1 cells for 2 NPUs"),
                Arguments.of("--npu-smi", " NPU0 NPU1\nNPU0 X HCCS\n", "the table is cut off"),
                Arguments.of(
                        "--npu-smi", " NPU0 NPU1\nNPU0 HCCS X\nNPU1 HCCS X\n", "'HCCS' stands between NPU 0 and NPU 0"),
                Arguments.of("--npu-smi", " NPU0 NPU1\nNPU0 X HCCS\nNPU7 HCCS X\n", "NPU 7 is not in the header"),
                Arguments.of(
                        "--npu-smi",
                        "| npu-smi 24.1 |\n| Chip | Bus-Id | x |\n| 0 910B3 | OK | 1 |\n",
                        "the table is cut off"),
                Arguments.of("--hccn", "bash: hccn_tool: command not found\n", "nothing of hccn_tool is in it"),
                Arguments.of("--hccn", "link status: SIDEWAYS\n", "accepted are UP and DOWN"),
                Arguments.of("--hccn", "link up count : many\n", "line 1: 'many' is no count"),
                Arguments.of("--tor-table", "{\"server_list\":[]}", "names no switch"),
                Arguments.of(
                        "--tor-table",
                        "{\"tor_count\":3,\"server_list\":[{\"tor_id\":0,\"server\":[{\"server_ip\":\"a\",\"npu_count\":8}]}]}",
                        "tor_count is 3 and 1 switches are listed"));
    }

    @ParameterizedTest
    @MethodSource("broken")
    void aBrokenFileGetsOneLineThatSaysWhatIsWrong(String option, String text, String expected) throws IOException {
        Path file = Files.writeString(folder.resolve("broken-file"), text);
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class, () -> AscendTopologyReader.graph(Map.of(option, List.of(file))));
        assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code(), refusal::getMessage);
        assertTrue(refusal.detail().contains("broken-file"), refusal.detail());
        assertTrue(refusal.detail().contains(expected), refusal.detail());
        assertFalse(refusal.detail().contains("\n"), refusal.detail());
    }

    @Test
    void aFileThatIsNotThereIsSaidToBeMissing() {
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class, () -> RankTableReader.read(folder.resolve("no-such-file.json")));
        assertTrue(refusal.detail().contains("there is no such file"), refusal.detail());
    }

    static Stream<Arguments> illegal() {
        return Stream.of(
                Arguments.of(
                        "[{\"server_id\":\"a\",\"device\":[{\"device_id\":0,\"rank_id\":0},{\"device_id\":0,\"rank_id\":1}]}]",
                        "device_id 0 stands twice on server 'a'"),
                Arguments.of(
                        "[{\"server_id\":\"a\",\"device\":[{\"device_id\":0,\"rank_id\":0},{\"device_id\":1,\"rank_id\":0}]}]",
                        "rank_id 0 is given to"),
                Arguments.of(
                        "[{\"server_id\":\"a\",\"device\":[{\"device_id\":0,\"rank_id\":0},{\"device_id\":1,\"rank_id\":2}]}]",
                        "rank_id 1 is missing"),
                Arguments.of(
                        "[{\"server_id\":\"a\",\"device\":[{\"device_id\":0,\"rank_id\":0,\"device_ip\":\"x\"},{\"device_id\":1,\"rank_id\":2,\"device_ip\":\"y\"}]},"
                                + "{\"server_id\":\"b\",\"device\":[{\"device_id\":0,\"rank_id\":1,\"device_ip\":\"z\"},{\"device_id\":1,\"rank_id\":3,\"device_ip\":\"w\"}]}]",
                        "interleaved"),
                Arguments.of(
                        "[{\"server_id\":\"a\",\"device\":[{\"device_id\":0,\"rank_id\":0}]},{\"server_id\":\"b\",\"device\":[{\"device_id\":0,\"rank_id\":1,\"device_ip\":\"x\"}]}]",
                        "device 0 of server 'a' has no device_ip, and there are 2 servers"),
                Arguments.of(
                        "[{\"server_id\":\"a\",\"device\":[{\"device_id\":0,\"rank_id\":0,\"device_ip\":\"x\"}]},{\"server_id\":\"a\",\"device\":[{\"device_id\":1,\"rank_id\":1,\"device_ip\":\"y\"}]}]",
                        "server_id 'a' stands twice"),
                Arguments.of(
                        "[{\"server_id\":\"" + "a".repeat(65) + "\",\"device\":[{\"device_id\":0,\"rank_id\":0}]}]",
                        "has 65 characters"),
                Arguments.of(
                        "[{\"server_id\":\"a\",\"device\":[{\"device_id\":0,\"rank_id\":0,\"device_port\":65545}]}]",
                        "device_port 65545"),
                Arguments.of(
                        "[{\"server_id\":\"a\",\"device\":[{\"device_id\":0,\"rank_id\":0,\"device_ip\":\"x\"},{\"device_id\":1,\"rank_id\":1,\"device_ip\":\"x\"}]}]",
                        "device_ip x is given to"));
    }

    @ParameterizedTest
    @MethodSource("illegal")
    void aTableThatNoCommunicatorCanBeMadeOfIsToldWhy(String servers, String expected) throws IOException {
        Path file = Files.writeString(
                folder.resolve("table.json"), "{\"version\":\"1.0\",\"server_list\":" + servers + "}");
        List<Finding> findings = RankTableRules.check(RankTableReader.read(file));
        assertTrue(
                findings.stream()
                        .anyMatch(finding -> finding.severity() == Finding.Severity.PROBLEM
                                && finding.seen().contains(expected)),
                findings::toString);
    }

    @Test
    void a910aGroupOfFourMustStayInOneHalf() throws IOException {
        Path file = Files.writeString(folder.resolve("table.json"), """
                {"status":"completed","group_list":[{"instance_list":[{"server_id":"a","devices":[
                 {"device_id":"0"},{"device_id":"1"},{"device_id":"4"},{"device_id":"5"}]}]}]}
                """);
        List<Finding> findings = RankTableRules.check(RankTableReader.read(file));
        assertEquals(1, findings.size(), findings::toString);
        assertTrue(findings.getFirst().seen().contains("both halves"), findings::toString);
    }

    @Test
    void anIdentifierOfAnotherDeviceIsAFault() throws IOException {
        String text = Files.readString(Examples.ours("two-servers/rank-table-a3.json"))
                .replace("\"super_device_id\": 12582912", "\"super_device_id\": 12582913");
        Path file = Files.writeString(folder.resolve("table.json"), text);
        List<Finding> findings = RankTableRules.check(RankTableReader.read(file));
        assertTrue(
                findings.stream()
                        .anyMatch(finding -> finding.seen().contains("stands for server 3, chip 0, die 0, device 1")),
                findings::toString);
    }

    @Test
    void noDamageToAFileEverEndsInAnythingButOneLine() throws IOException {
        long seed = 20261130;
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Map<String, Path> kinds = Map.of(
                "--rank-table", Examples.ours("two-servers/rank-table-a3.json"),
                "--npu-smi", Examples.ours("a2-4/npu-smi-topo.txt"),
                "--hccn", Examples.ours("a2-4/hccn.txt"),
                "--tor-table", Examples.ours("two-servers/tor.json"));
        Path file = folder.resolve("damaged");
        for (Map.Entry<String, Path> kind : kinds.entrySet()) {
            byte[] whole = Files.readAllBytes(kind.getValue());
            for (int i = 0; i < 60; i++) {
                byte[] damaged =
                        java.util.Arrays.copyOf(whole, i % 3 == 0 ? random.nextInt(whole.length) : whole.length);
                for (int j = 0; j < i % 5 && damaged.length > 0; j++) {
                    damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
                }
                Files.write(file, damaged);
                try {
                    AscendTopologyReader.describe(
                            AscendTopologyReader.graph(Map.of(kind.getKey(), List.of(file))), List.of());
                } catch (AcceleratorException refusal) {
                    assertFalse(refusal.getMessage().contains("\n"), refusal.getMessage());
                }
            }
        }
    }
}
