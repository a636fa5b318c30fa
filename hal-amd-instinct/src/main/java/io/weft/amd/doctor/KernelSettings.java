// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.doctor;

import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** NUMA balancing, IOMMU, locked memory and shared memory. */
final class KernelSettings {
    private static final Pattern LOCKED = Pattern.compile("(?m)^Max locked memory\\s+(\\S+)");
    /** Far above the 64 MiB of a container that was not told otherwise, far below what a host gives itself (half its memory). */
    private static final long LEAST_SHARED_MEMORY = 1L << 30;

    private KernelSettings() {}

    static void look(Node node, FindingReport report) {
        numaBalancing(node.host(), report);
        iommu(node.host(), report);
        lockedMemory(node.host(), report);
        if (node.host().isLive()) {
            sharedMemory(report);
        }
    }

    private static void numaBalancing(HostFiles host, FindingReport report) {
        Optional<String> value = host.text("proc/sys/kernel/numa_balancing");
        if (value.isEmpty()) {
            unknown(report, "numa-balancing", "proc/sys/kernel/numa_balancing");
        } else if (value.get().equals("0")) {
            report.good("numa-balancing", "off");
        } else {
            report.warning(
                    "numa-balancing",
                    "proc/sys/kernel/numa_balancing is " + value.get(),
                    "The kernel unmaps pages to see who uses them; GPU accesses then fault and stall. RCCL warns of it "
                            + "at every start.",
                    "RCCL init.cc; AMD Instinct MI300X system optimization, 'NUMA balancing'",
                    "sysctl kernel.numa_balancing=0, and in /etc/sysctl.d to keep it.");
        }
    }

    private static void iommu(HostFiles host, FindingReport report) {
        Optional<String> line = host.text("proc/cmdline");
        if (line.isEmpty()) {
            unknown(report, "iommu", "proc/cmdline");
            return;
        }
        List<String> words = List.of(line.get().split("\\s+", -1));
        List<String> groups = host.list("sys/kernel/iommu_groups");
        if (words.contains("iommu=pt")) {
            report.good("iommu", "iommu=pt: pass-through");
            return;
        }
        if (words.contains("iommu=off") || words.contains("amd_iommu=off") || words.contains("intel_iommu=off")) {
            report.note(
                    "iommu",
                    "the IOMMU is off by the kernel's command line",
                    "Peer-to-peer works; passing devices to virtual machines does not, and with more than 255 logical "
                            + "processors interrupts may need the IOMMU.",
                    "AMD Instinct MI300X system optimization, 'IOMMU'");
            return;
        }
        boolean identity = !groups.isEmpty()
                && groups.stream()
                        .map(group -> host.text("sys/kernel/iommu_groups/" + group + "/type"))
                        .allMatch(type -> type.isPresent() && type.get().equals("identity"));
        if (identity) {
            report.good("iommu", "all " + groups.size() + " groups are identity-mapped");
        } else if (groups.isEmpty() && host.exists("sys/kernel")) {
            report.good("iommu", "no IOMMU groups: it is not in use");
        } else {
            report.warning(
                    "iommu",
                    "the kernel's command line lacks iommu=pt"
                            + (groups.isEmpty() ? "" : ", with IOMMU groups: " + groups.size()),
                    "Translated addresses slow peer-to-peer and RDMA down, or hang them. RCCL warns of it at every start.",
                    "RCCL init.cc; AMD Instinct MI300X system optimization, 'IOMMU'",
                    "Add iommu=pt (and amd_iommu=on on older kernels) to the command line, and reboot.");
        }
    }

    private static void lockedMemory(HostFiles host, FindingReport report) {
        Optional<Matcher> limit =
                host.text("proc/self/limits").map(LOCKED::matcher).filter(Matcher::find);
        if (limit.isEmpty()) {
            return;
        }
        String value = limit.get().group(1);
        if (value.equals("unlimited")) {
            report.good("locked-memory", "unlimited");
        } else {
            report.warning(
                    "locked-memory",
                    "at most " + value + " bytes may be locked",
                    "RDMA registers its buffers by locking them; beyond the limit RCCL fails when it reaches the network.",
                    "AMD: multi-node RCCL guide; ulimit -l",
                    "ulimit -l unlimited, or --ulimit memlock=-1 for a container.");
        }
    }

    private static void sharedMemory(FindingReport report) {
        try {
            Path place = Path.of("/dev/shm");
            if (!Files.isDirectory(place)) {
                return;
            }
            long bytes = Files.getFileStore(place).getTotalSpace();
            if (bytes < LEAST_SHARED_MEMORY) {
                report.warning(
                        "shared-memory",
                        "/dev/shm has " + (bytes >> 20) + " MiB",
                        "RCCL and data loaders share buffers there; containers get 64 MiB unless told otherwise.",
                        "RCCL troubleshooting; docker run --shm-size",
                        "docker run --shm-size=16g, or --ipc=host.");
            } else {
                report.good("shared-memory", (bytes >> 20) + " MiB in /dev/shm");
            }
        } catch (IOException unreadable) {
            unknown(report, "shared-memory", "/dev/shm");
        }
    }

    private static void unknown(FindingReport report, String check, String file) {
        report.note(check, file + " cannot be read, so this was not checked", "", "");
    }
}
