// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Finding;
import io.weft.api.Finding.Severity;
import io.weft.ascend.Examples;
import io.weft.spi.HostFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AscendEnvironmentCheckTest {
    private static final AscendEnvironmentCheck CHECK = new AscendEnvironmentCheck();

    @TempDir
    Path root;

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private List<Finding> check() {
        return CHECK.check(HostFiles.captured(root));
    }

    private List<Finding> check(String option, Path file) {
        return CHECK.check(HostFiles.captured(root), Map.of(option, List.of(file)));
    }

    private static boolean says(List<Finding> findings, Severity severity, String... words) {
        return findings.stream()
                .filter(finding -> finding.severity() == severity)
                .anyMatch(finding -> List.of(words).stream()
                        .allMatch(word -> (finding.seen() + " " + finding.fix()).contains(word)));
    }

    private static void assertSays(List<Finding> findings, Severity severity, String... words) {
        assertTrue(says(findings, severity, words), () -> severity + " " + List.of(words) + " not in " + findings);
    }

    private static void assertQuiet(List<Finding> findings, String check) {
        assertTrue(
                findings.stream()
                        .filter(finding -> finding.check().equals(check))
                        .allMatch(
                                finding -> finding.severity() == Severity.GOOD || finding.severity() == Severity.NOTE),
                findings::toString);
    }

    @Test
    void theExampleHostsFaultsAreAllFound() {
        List<Finding> findings = CHECK.check(HostFiles.captured(Examples.ours("captured")));
        assertSays(findings, Severity.PROBLEM, "torch_npu 2.5.1 needs CANN 8.1.RC1, and 8.0.0 is installed");
        assertSays(findings, Severity.PROBLEM, "16666 by");
        assertSays(findings, Severity.PROBLEM, "HCCL_CONNECT_TIMEOUT=60", "120 to 7200");
        assertSays(findings, Severity.PROBLEM, "HCCL_RDMA_TC=130", "multiple of 4");
        assertSays(findings, Severity.PROBLEM, "no legal pair");
        assertSays(findings, Severity.WARNING, "device 1 went down 2 times", "08:12:29");
        assertSays(findings, Severity.GOOD, "4 x 910B3, all OK");
    }

    // Versions.

    @ParameterizedTest
    @CsvSource({
        "2.1.0.post10, 8.0.0,  GOOD,    as published",
        "2.1.0.post10, 8.0.RC3, PROBLEM, needs CANN 8.0.0",
        "2.5.1,        8.2.RC1, WARNING, released for CANN 8.1.RC1",
        "9.9.9,        8.2.RC1, NOTE,    not in the table of",
    })
    void torchNpuIsHeldAgainstCann(String plugin, String cann, Severity severity, String words) throws IOException {
        write("usr/local/lib/python3.11/site-packages/torch_npu-" + plugin + ".dist-info/METADATA", "");
        write("usr/local/Ascend/cann/x86_64-linux/ascend_toolkit_install.info", "version=" + cann + "\n");
        assertSays(check(), severity, words);
    }

    @Test
    void anotherPyTorchThanTorchNpuIsBuiltForIsAProblem() throws IOException {
        write("usr/local/lib/python3.11/site-packages/torch_npu-2.5.1.dist-info/METADATA", "");
        write("usr/local/lib/python3.11/site-packages/torch-2.6.0+cpu.dist-info/METADATA", "");
        assertSays(check(), Severity.PROBLEM, "is for PyTorch 2.5.1, and 2.6.0+cpu is installed");
    }

    @Test
    void theShippedTableIsThePublishedOne() throws IOException {
        Path real = Examples.real("cann_torch_npu_versions.csv");
        assertEquals(
                Files.readAllLines(real).stream()
                        .filter(line -> !line.startsWith("torch_npu,"))
                        .toList()
                        .size(),
                Versions.TABLE.size());
        for (String line : Files.readAllLines(real)) {
            String[] cells = line.split(",", -1);
            if (!cells[0].equals("torch_npu")) {
                assertEquals(cells[3], Versions.row(cells[0]).orElseThrow().cann());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "8.0.RC3, 8.0.0,  -1",
        "8.0.0,   8.0.RC3, 1",
        "8.1.RC1, 8.0.0,   1",
        "8.0.RC2, 8.0.RC3, -1",
        "24.1.rc1, 25.0.RC1, -1",
        "25.2.0,  25.0.RC1, 1",
        "9.1.0,   9.1.0,   0"
    })
    void releasesComeAfterTheirCandidates(String a, String b, int order) {
        assertEquals(order, Integer.signum(Versions.compare(a, b)));
    }

    // Links.

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "link status: DOWN | PROBLEM | is down",
                "net health status: Socket failed | PROBLEM | net health is Socket failed",
                "Get ipconf failed, because no ip was preset there! | PROBLEM | no ip was preset",
                "link down count : 3 | WARNING | went down 3 times",
                "roce_qp_status_err_num:4 | WARNING | 4 packets for queue pairs in error",
            })
    void anUnhealthyPortIsTold(String line, Severity severity, String words) throws IOException {
        write("hccn-0.txt", "hccn_tool -i 5 -x -g\n" + line.strip() + "\n");
        assertSays(check(), severity, words.strip(), "device 5");
    }

    @ParameterizedTest
    @CsvSource({"999, false", "1000, true", "20000, true"})
    void retransmissionsAreWellBelowOneInAThousand(long again, boolean bad) throws IOException {
        write("hccn.txt", "roce_tx_all_pkt_num:1000000\nroce_new_pkt_rty_num:" + again + "\nmac_tx_pfc_pkt_num:1\n");
        List<Finding> findings = check();
        assertEquals(bad, says(findings, Severity.PROBLEM, "of its packets again"), findings::toString);
    }

    @Test
    void packetsLostWithoutFlowControlHintAtTheWrongQueue() throws IOException {
        write("hccn.txt", "roce_tx_all_pkt_num:1000000\nroce_new_pkt_rty_num:10\nmac_tx_pfc_pkt_num:0\n");
        assertSays(check(), Severity.NOTE, "no flow-control frame");
    }

    @Test
    void tlsOnOneSideOnlyIsAProblem() throws IOException {
        write("hccn.txt", "dev_id:0, tls switch[0](0:disable)\ndev_id:1, tls switch[1](0:disable)\n");
        assertSays(check(), Severity.PROBLEM, "TLS is not alike", "0 off, 1 on");
    }

    // Ports.

    private static String listening(int port, int inode) {
        return String.format(
                Locale.ROOT,
                "   0: 00000000:%04X 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 %d 1 x%n",
                port,
                inode);
    }

    @Test
    void whoHoldsAPortIsNamed() throws IOException {
        write("proc/net/tcp", "  sl  local_address\n" + listening(60007, 4242));
        write("proc/31/cmdline", "python3\0train.py\0");
        Files.createDirectories(root.resolve("proc/31/fd"));
        Files.createSymbolicLink(root.resolve("proc/31/fd/9"), Path.of("socket:[4242]"));
        assertSays(check(), Severity.PROBLEM, "60007 by process 31 (python3 train.py)", "HCCL_NPU_SOCKET_PORT_RANGE=");
    }

    @Test
    void aPortThatNobodyWantsIsNoConflict() throws IOException {
        write("proc/net/tcp", "  sl  local_address\n" + listening(8080, 4242));
        assertQuiet(check(), "ports");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HCCL_NPU_SOCKET_PORT_RANGE=65530-65545",
                "HCCL_HOST_SOCKET_PORT_RANGE=x",
                "HCCL_IF_BASE_PORT=65530"
            })
    void aRangeThatRunsPastTheLastPortIsAProblem(String setting) throws IOException {
        write("environment.txt", setting + "\n");
        assertSays(check(), Severity.PROBLEM, setting.substring(0, setting.indexOf('=')));
    }

    @Test
    void twoJobsOnTheDefaultPortAreWarnedOf() throws IOException {
        write("environment-a.txt", "MASTER_ADDR=h\nMASTER_PORT=29500\n");
        write("environment-b.txt", "MASTER_ADDR=h\nMASTER_PORT=29501\n");
        assertSays(check(), Severity.WARNING, "2 jobs on this host", "16666");
    }

    // Variables.

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HCCL_BUFFSIZE=0 | PROBLEM",
                "HCCL_RDMA_SL=8 | PROBLEM",
                "HCCL_RDMA_RETRY_CNT=0 | PROBLEM",
                "HCCL_OP_EXPANSION_MODE=FAST | PROBLEM",
                "HCCL_WHITELIST_DISABLE=0 | PROBLEM",
                "HCCL_INTRA_ROCE_ENABLE=0 | PROBLEM",
                "HCCL_EXEC_TIMEOUT=0 | NOTE",
            })
    void aSettingThatIsRefusedOrSurprisesIsTold(String setting, Severity severity) throws IOException {
        write("environment.txt", setting + "\n");
        assertSays(check(), severity, setting.substring(0, setting.indexOf('=')));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HCCL_INTRA_PCIE_ENABLE=1",
                "HCCL_INTRA_ROCE_ENABLE=1",
                "HCCL_RDMA_TC=132",
                "HCCL_DETERMINISTIC=strict"
            })
    void aSettingThatIsAcceptedIsReportedAsInForce(String setting) throws IOException {
        write("environment.txt", setting + "\n");
        List<Finding> findings = check();
        assertQuiet(findings, "variables");
        assertSays(findings, Severity.GOOD, "in force: " + setting);
    }

    @Test
    void anInterfaceThatIsNotThereIsAProblem() throws IOException {
        write("sys/class/net/eth0/mtu", "1500");
        write("sys/class/net/lo/mtu", "65536");
        write("environment.txt", "HCCL_SOCKET_IFNAME==bond0\n");
        assertSays(check(), Severity.PROBLEM, "matches none of eth0, lo");
    }

    @Test
    void ranksWithDifferentSettingsAreWarnedOf() throws IOException {
        write("environment-0.txt", "HCCL_BUFFSIZE=200\n");
        write("environment-1.txt", "HCCL_BUFFSIZE=400\n");
        assertSays(check(), Severity.WARNING, "HCCL_BUFFSIZE differs", "200, 400");
    }

    // Buffers.

    @Test
    void buffersThatDoNotFitAreToldWithAValueThatDoes() throws IOException {
        write(
                "npu-smi-info.txt",
                Files.readString(Examples.ours("a2-4/npu-smi-info.txt")).replace(" 3400 / 65536", "60000 / 65536"));
        List<Finding> findings = check();
        assertSays(findings, Severity.WARNING, "2 x 200 MB", "5536 MB free", "HCCL_BUFFSIZE=69");
    }

    @Test
    void aDeviceThatIsNotWellIsAProblem() throws IOException {
        write(
                "npu-smi-info.txt",
                Files.readString(Examples.ours("a2-4/npu-smi-info.txt")).replaceFirst("\\| OK   ", "| Alarm"));
        assertSays(check(), Severity.PROBLEM, "NPU 0 chip 0 (910B3) is Alarm");
    }

    @Test
    void theSizeOfABufferIsWorkedOutForAModel() {
        Finding advice = CHECK.explain("HCCL_BUFFSIZE tokens=4096 hidden=7168 experts=8 communicators=5")
                .getFirst();
        assertTrue(advice.seen().startsWith("HCCL_BUFFSIZE=896 "), advice::toString);
        assertTrue(advice.why().contains("5 communicators take 8960 MB"), advice::toString);
        Finding standard = CHECK.explain("HCCL_BUFFSIZE").getFirst();
        assertTrue(standard.why().contains("4 communicators take 1600 MB"), standard::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"HCCL_BUFFSIZE tokens=x hidden=1", "HCCL_BUFFSIZE tokens=1", "HCCL_BUFFSIZE please"})
    void aQuestionThatCannotBeAnsweredSaysWhatIsAccepted(String question) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> CHECK.explain(question));
        assertTrue(refusal.detail().contains("tokens=N hidden=N"), refusal.detail());
    }

    // Reachability.

    @ParameterizedTest
    @CsvSource({
        "255.255.255.0, '',                   true",
        "255.255.255.0, gateway_0=192.0.2.1,  false",
        "255.255.0.0,   '',                   false",
    })
    void devicesOfEqualNumberMustReachEachOther(String mask, String more, boolean warned) throws IOException {
        write("etc/hccn.conf", "netmask_0=" + mask + "\n" + more + "\n");
        write("t.json", """
                {"server_list":[
                 {"server_id":"a","device":[{"device_id":0,"rank_id":0,"device_ip":"192.0.2.10"}]},
                 {"server_id":"b","device":[{"device_id":0,"rank_id":1,"device_ip":"192.0.3.10"}]}]}
                """);
        List<Finding> findings = check("--rank-table", root.resolve("t.json"));
        assertEquals(
                warned,
                says(findings, Severity.WARNING, "device 0 is on 2 subnets: 192.0.2.0 (a), 192.0.3.0 (b)"),
                findings::toString);
    }

    // Rank tables, running jobs, hccl_test.

    @Test
    void anIllegalRankTableIsAProblem() throws IOException {
        write("t.json", "{\"server_list\":[{\"server_id\":\"a\",\"device\":[{\"device_id\":0,\"rank_id\":5}]}]}");
        assertSays(check("--rank-table", root.resolve("t.json")), Severity.PROBLEM, "rank_id 0 is missing");
    }

    @Test
    void aTableThatTheEnvironmentNamesIsChecked() throws IOException {
        write("t.json", "{\"server_list\":[{\"server_id\":\"a\",\"device\":[{\"device_id\":0,\"rank_id\":5}]}]}");
        write("environment.txt", "RANK_TABLE_FILE=/t.json\n");
        assertSays(check(), Severity.PROBLEM, "rank_id 0 is missing");
    }

    @Test
    void aFileThatWasNamedMustBeUsable() {
        assertThrows(AcceleratorException.class, () -> check("--rank-table", root.resolve("no-such")));
    }

    @Test
    void aRunningJobIsJudgedByItsMetrics() throws IOException {
        write("metrics.txt", """
                # HELP weft_communication_buffer_level_ratio x
                weft_communication_buffer_level_ratio{group="dp"} 0.95
                weft_communication_buffer_level_ratio{group="tp"} 0.75
                weft_group_switch_seconds_count 100
                weft_group_switch_seconds_sum 0.002
                weft_link_packets_total 1.0E6
                weft_link_retransmitted_packets_total 5000
                weft_exposed_communication_ratio 0.125
                """);
        List<Finding> findings = check("--metrics", root.resolve("metrics.txt"));
        assertSays(findings, Severity.WARNING, "95 % full", "dp");
        assertSays(findings, Severity.GOOD, "75 % full");
        assertSays(findings, Severity.WARNING, "20.00 us each");
        assertSays(findings, Severity.PROBLEM, "0.5000 % of packets");
        assertSays(findings, Severity.NOTE, "12.5 %");
    }

    @Test
    void metricsOfSomethingElseAreRefused() throws IOException {
        write("metrics.txt", "go_goroutines 5\n");
        assertThrows(AcceleratorException.class, () -> check("--metrics", root.resolve("metrics.txt")));
    }

    @Test
    void theRealTableOfHcclTestReadsAndItsUnitIsCalledByItsName() {
        HcclTest test = HcclTest.read(Examples.real("hccl_test_allreduce_8rank.txt"));
        HcclTest.Row last = test.rows().getLast();
        assertEquals(14, test.rows().size());
        assertEquals(25.5, last.gigabytesPerSecond(), 0.05);
        assertEquals(23.76245, last.gibibytesPerSecond());
        assertEquals(last.gigabytesPerSecond() / 1.073741824, last.gibibytesPerSecond(), 0.01);
    }

    @Test
    void wrongDataInATestRunIsAProblem() throws IOException {
        write(
                "r.txt",
                "data_size(Bytes): | avg |\n8192 | 764.55 | 0.00998 | success\n16384 | 858.80 | 0.01777 | failed\n");
        assertSays(check("--hccl-test", root.resolve("r.txt")), Severity.PROBLEM, "1 of 2 sizes", "16384");
    }

    @Test
    void aBrokenTableOfATestRunIsRefused() throws IOException {
        write("r.txt", "data_size(Bytes): | avg |\n8192 | 764.55 |\n");
        AcceleratorException refusal =
                assertThrows(AcceleratorException.class, () -> check("--hccl-test", root.resolve("r.txt")));
        assertTrue(refusal.detail().contains("line 2"), refusal.detail());
    }

    // Codes.

    @ParameterizedTest
    @CsvSource({
        "507015, AI core exception",
        "ei0006, connect",
        "EJ0003, bound",
        "207008, streams",
        "107030, captured",
        "11, TCP",
        "'[ERROR] ERR02200 DIST call hccl api failed, EI0013', gave up",
    })
    void aCodeIsDecodedWithCauseAndNextStep(String text, String words) {
        List<Finding> meaning = CHECK.explain(text);
        assertEquals(1, meaning.size(), text);
        assertTrue(meaning.getFirst().seen().contains(words), meaning::toString);
        assertFalse(meaning.getFirst().fix().isEmpty());
    }

    @Test
    void everyCodeSaysWhatToDoNext() {
        assertTrue(ErrorCodes.all().size() > 80);
        for (ErrorCodes.Code code : ErrorCodes.all()) {
            assertFalse(
                    code.name().isEmpty()
                            || code.meaning().isEmpty()
                            || code.next().isEmpty(),
                    code::toString);
            assertTrue(code.meaning().endsWith(".") && code.next().endsWith("."), code::toString);
        }
    }

    @Test
    void anUnknownCodeIsNotGuessed() {
        assertEquals(List.of(), CHECK.explain("424242"));
    }
}
