// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.amd.topology.Examples;
import io.weft.api.Finding;
import io.weft.spi.HostFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A captured node, put right first and then spoilt in one place at a time. */
class AmdEnvironmentCheckTest {
    @TempDir
    Path node;

    @BeforeEach
    void captureAHealthyNode() throws IOException {
        Path from = Examples.ours("");
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path to = node.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(to);
                } else {
                    Files.copy(file, to);
                }
            }
        }
        put("proc/sys/kernel/numa_balancing", "0\n");
        put("proc/cmdline", "root=/dev/sda1 iommu=pt\n");
        put("opt/rocm/.info/version", "7.0.1\n");
        put("dev.txt", Files.readString(node.resolve("dev.txt")).replace("crw-rw----", "crw-rw-rw-"));
        Files.delete(node.resolve("environment-rank0.txt"));
        Files.delete(node.resolve("environment-rank1.txt"));
        put("environment.txt", "PATH=/bin\n");
    }

    private void put(String name, String text) throws IOException {
        Path file = node.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private List<Finding> bad() {
        return new AmdEnvironmentCheck()
                .check(HostFiles.captured(node)).stream()
                        .filter(finding -> finding.severity() != Finding.Severity.GOOD)
                        .toList();
    }

    private Finding only() {
        List<Finding> bad = bad();
        assertEquals(1, bad.size(), bad::toString);
        return bad.getFirst();
    }

    private void expect(Finding.Severity severity, String check, String words) {
        Finding found = only();
        assertEquals(severity, found.severity(), found::toString);
        assertEquals(check, found.check(), found::toString);
        assertTrue((found.seen() + " " + found.why()).contains(words), found::toString);
    }

    @Test
    void aHealthyNodeHasNothingToComplainOf() {
        assertEquals(List.of(), bad());
    }

    @Test
    void whatMattersHasAReasonASourceAndAFix() throws IOException {
        put("proc/sys/kernel/numa_balancing", "1\n");
        put("proc/cmdline", "quiet\n");
        put("environment.txt", "ROCR_VISIBLE_DEVICES=2,3\nHIP_VISIBLE_DEVICES=2,3\nNCCL_P2P_DISABLE=1\n");
        for (Finding finding : bad()) {
            assertFalse(finding.why().isEmpty(), finding::toString);
            assertFalse(finding.source().isEmpty(), finding::toString);
            assertFalse(finding.fix().isEmpty(), finding::toString);
        }
        assertEquals(4, bad().size(), () -> bad().toString());
    }

    @Test
    void numaBalancingIsFound() throws IOException {
        put("proc/sys/kernel/numa_balancing", "1\n");
        expect(Finding.Severity.WARNING, "numa-balancing", "is 1");
    }

    @Test
    void aTranslatingIommuIsFoundAndIdentityMappedGroupsAreNot() throws IOException {
        put("proc/cmdline", "quiet\n");
        expect(Finding.Severity.WARNING, "iommu", "lacks iommu=pt");
        put("sys/kernel/iommu_groups/0/type", "identity\n");
        assertEquals(List.of(), bad());
    }

    @Test
    void missingAndForbiddenDevicesAreFound() throws IOException {
        put("dev.txt", "ls: cannot access '/dev/kfd': No such file or directory\n");
        expect(Finding.Severity.PROBLEM, "device-nodes", "folklore");
        put(
                "dev.txt",
                "crw-rw-rw- 1 root render 235, 0 Nov 29 12:00 /dev/kfd\ncrw-rw-rw- 1 root render 226, 128 Nov 29 12:00 renderD128\n");
        expect(Finding.Severity.PROBLEM, "device-nodes", "1 render nodes in /dev/dri for 4 GPUs");
        put("dev.txt", Files.readString(Examples.ours("dev.txt")).replaceFirst("crw-rw-rw-", "crw-------"));
        assertTrue(
                bad().stream()
                        .anyMatch(f -> f.severity() == Finding.Severity.PROBLEM
                                && f.seen().contains("/dev/kfd may not")),
                () -> bad().toString());
    }

    @Test
    void aMissingTreeIsAProblem() throws IOException {
        Files.move(node.resolve("sys"), node.resolve("elsewhere"));
        assertTrue(bad().stream().anyMatch(f -> f.check().equals("gpus")), () -> bad().toString());
    }

    @Test
    void degradedPcieIsFound() throws IOException {
        put("sys/bus/pci/devices/0000:c6:00.0/current_link_width", "8\n");
        assertTrue(
                bad().stream().anyMatch(f -> f.seen().contains("0000:c6:00.0 runs with 8 of 16")),
                () -> bad().toString());
    }

    @Test
    void aStaleBandwidthAndASlowLinkAreFound() throws IOException {
        Path link = node.resolve("sys/class/kfd/kfd/topology/nodes/2/io_links/3/properties");
        String text = Files.readString(link);
        assertTrue(text.contains("min_bandwidth 0"), text);
        for (int gpu = 2; gpu < 6; gpu++) {
            Path properties = node.resolve("sys/class/kfd/kfd/topology/nodes/" + gpu + "/properties");
            Files.writeString(
                    properties,
                    Files.readString(properties)
                            .replace("90010", "90402")
                            .replace("device_id 29704", "device_id 29857"));
        }
        assertTrue(bad().stream().anyMatch(f -> f.check().equals("stale-bandwidth")), () -> bad().toString());
        // On a chip that joins all with all the missing pairs are seen as well.
        assertTrue(bad().stream().anyMatch(f -> f.check().equals("missing-xgmi")), () -> bad().toString());
    }

    @Test
    void twoMasksThatLookAlikeHideEverything() throws IOException {
        put("environment.txt", "ROCR_VISIBLE_DEVICES=2,3\nHIP_VISIBLE_DEVICES=2,3\n");
        expect(Finding.Severity.PROBLEM, "visible-devices", "no device is visible");
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "'0,1', '0,1'", "GPU-03e8, 0", "'', ''"})
    void goodMasksAreGoodAndAnEmptyRocrMaskIsNone(String rocr, String hip) throws IOException {
        put("environment.txt", "ROCR_VISIBLE_DEVICES=" + rocr + "\nHIP_VISIBLE_DEVICES=" + hip + "\n");
        assertEquals(rocr.isEmpty() ? 1 : 0, bad().size(), () -> bad().toString());
    }

    @Test
    void ranksWithMasksOfTheirOwnAndRanksThatShareADeviceAreFound() throws IOException {
        put("environment-a.txt", "LOCAL_RANK=0\nHIP_VISIBLE_DEVICES=0\n");
        put("environment-b.txt", "LOCAL_RANK=1\nHIP_VISIBLE_DEVICES=1\n");
        expect(Finding.Severity.WARNING, "visible-devices", "2 different masks");
        put("environment-b.txt", "LOCAL_RANK=1\nHIP_VISIBLE_DEVICES=0\n");
        expect(Finding.Severity.PROBLEM, "visible-devices", "2 local ranks share 1 visible devices");
    }

    @Test
    void aRankFarFromItsGpuIsFound() throws IOException {
        put("proc/4711/environ", "LOCAL_RANK=3\0PATH=/bin\0");
        put("proc/4711/status", "Name:\tpython\nCpus_allowed_list:\t0-7\n");
        expect(Finding.Severity.WARNING, "numa-placement", "rank 3");
        put("proc/4711/status", "Name:\tpython\nCpus_allowed_list:\t16-23\n");
        assertEquals(List.of(), bad());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HSA_ENABLE_SDMA=0|WARNING|neither enables RDMA",
                "HSA_FORCE_FINE_GRAIN_PCIE=1|NOTE|Folklore",
                "HSA_FORCE_FINE_GRAIN_PCIE=yes|WARNING|Only the value 1",
                "HSA_OVERRIDE_GFX_VERSION=9.0.0|PROBLEM|9.0.10",
                "HSA_OVERRIDE_GFX_VERSION=9.0.10|NOTE|does nothing",
                "HCC_AMDGPU_TARGET=gfx90a|NOTE|Folklore",
                "GPU_MAX_HW_QUEUES=1|WARNING|nothing overlaps",
                "GPU_MAX_HW_QUEUES=2|NOTE|AMD advises 2",
                "NCCL_PROTO=LL128|WARNING|Folklore",
                "NCCL_ALGO=Tree|WARNING|Folklore",
                "NCCL_NSOCKS_PERTHREAD=4|NOTE|Folklore",
                "NCCL_P2P_DISABLE=1|WARNING|host memory",
                "NCCL_P2P_LEVEL=SYS|WARNING|MI250X",
                "RCCL_MODEL_MATCHING_DISABLE=1|WARNING|built-in rings",
                "HIP_LAUNCH_BLOCKING=1|WARNING|nothing overlaps",
                "UCX_TLS=rc|NOTE|MPI",
                "NCCL_MAX_NCHANNELS=4|WARNING|seven xGMI links",
                "HSA_ENABLE_SDMA_GANG=1|NOTE|several engines",
                "HSA_ENABLE_SDMA_RECOMMENDED_ENG=0|WARNING|share one",
                "ROC_P2P_SDMA_SIZE=64|NOTE|default is 1024",
                "ROC_P2P_SDMA_SIZE=1M|WARNING|no number of KiB",
                "GPU_FORCE_BLIT_COPY_SIZE=16|NOTE|by kernel",
                "RCCL_LL128_FORCE_ENABLE=1|WARNING|gfx90a"
            })
    void aVariableIsJudgedByWhatItDoes(String setting, Finding.Severity severity, String words) throws IOException {
        put("environment.txt", setting + "\n");
        expect(severity, "variables", words);
    }

    @ParameterizedTest
    @CsvSource({"NCCL_P2P_DISABLE=0", "NCCL_DEBUG=INFO", "NCCL_NET_GDR_LEVEL=3", "HSA_XNACK=0", "NCCL_IB_TIMEOUT=22"})
    void aHarmlessVariableIsNotComplainedOf(String setting) throws IOException {
        put("environment.txt", setting + "\n");
        assertEquals(List.of(), bad());
    }

    @Test
    void scratchReclaimMattersOnAnMi200WithANewRuntime() throws IOException {
        put("opt/rocm/.info/version", "7.13.0\n");
        expect(Finding.Severity.WARNING, "variables", "HSA_NO_SCRATCH_RECLAIM");
        put("environment.txt", "HSA_NO_SCRATCH_RECLAIM=1\n");
        assertEquals(List.of(), bad());
    }

    @Test
    void aTopologyFileOfAnotherMachineIsFound() throws IOException {
        put("etc/topo.xml", Files.readString(Examples.ours("rccl-topology.xml")).replace("count=\"2\"", "count=\"1\""));
        put("environment.txt", "NCCL_TOPO_FILE=/etc/topo.xml\n");
        expect(Finding.Severity.PROBLEM, "rccl-topology", "the number of parallel links");
        put("etc/topo.xml", "<system>");
        expect(Finding.Severity.PROBLEM, "rccl-topology", "cannot be used");
        put("etc/topo.xml", Files.readString(Examples.ours("rccl-topology.xml")));
        expect(Finding.Severity.NOTE, "rccl-topology", "agrees with the driver");
    }

    @Test
    void aRuntimeOlderThanTheChipIsFound() throws IOException {
        put("opt/rocm/.info/version", "5.7.1\n");
        for (int gpu = 2; gpu < 6; gpu++) {
            Path properties = node.resolve("sys/class/kfd/kfd/topology/nodes/" + gpu + "/properties");
            Files.writeString(properties, Files.readString(properties).replace("90010", "90402"));
        }
        assertTrue(bad().stream().anyMatch(f -> f.seen().contains("ROCm 5.7 is older")), () -> bad().toString());
    }

    @Test
    void anEmptyCaptureSaysWhatItLacksAndNeverThrows(@TempDir Path empty) {
        List<Finding> found = new AmdEnvironmentCheck().check(HostFiles.captured(empty));
        assertTrue(
                found.stream().anyMatch(f -> f.check().equals("gpus") && f.severity() == Finding.Severity.PROBLEM),
                found::toString);
    }

    @Test
    void thisMachineIsCheckedWithoutOpeningADevice() {
        assertFalse(new AmdEnvironmentCheck().check(HostFiles.live()).isEmpty());
    }
}
