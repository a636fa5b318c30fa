// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.doctor;

import io.weft.amd.topology.GpuGraph;
import io.weft.api.Finding;
import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The driver's view of the GPUs and their links: what is degraded, missing, stale, or far from its socket. */
final class DriverTopology {
    private static final String CHECK = "gpus";

    private DriverTopology() {}

    static void look(Node node, FindingReport report) {
        if (node.graph() == null) {
            if (node.graphRefusal().isEmpty()) {
                report.problem(
                        CHECK,
                        Node.KFD + " is not there: the kernel driver shows no topology",
                        "ROCr, and RCCL by default, learn from it which GPUs there are and how they are joined.",
                        "ROCr: libhsakmt topology.c; RCCL: topology from sysfs unless RCCL_USE_ROCM_SMI_LIB=1",
                        node.host().isLive()
                                ? "Load amdgpu; in a container mount /sys."
                                : "Capture /sys/class/kfd as well.");
            } else {
                report.problem(CHECK, node.graphRefusal(), "", "", "");
            }
            return;
        }
        GpuGraph graph = node.graph();
        report.good(CHECK, graph.gpus().size() + " GPUs, " + graph.hives() + " xGMI hives");
        boolean links = false;
        for (Finding finding : graph.findings()) {
            // Whoever asks the doctor wants to hear of notes too, but not of what every tree shows.
            report.add(finding);
            links |= finding.severity() != Finding.Severity.NOTE;
        }
        if (!links && graph.gpus().size() > 1) {
            report.good("links", "widths, speeds and both directions of all links are as they should be");
        }
        numa(node, report);
        pcie(node, report);
    }

    private static void numa(Node node, FindingReport report) {
        long nodes = node.host().list("sys/devices/system/node").stream()
                .filter(name -> name.matches("node\\d+"))
                .count();
        List<String> lost = new ArrayList<>();
        for (GpuGraph.Gpu gpu : node.graph().gpus()) {
            if (gpu.address() != null) {
                Optional<String> numa = node.host().text("sys/bus/pci/devices/" + gpu.address() + "/numa_node");
                if (numa.isPresent() && numa.get().equals("-1")) {
                    lost.add(gpu.name());
                }
            }
        }
        if (!lost.isEmpty() && nodes > 1) {
            report.warning(
                    "numa",
                    "the firmware names no NUMA node for " + String.join(", ", lost) + " on a host with " + nodes,
                    "Nothing can then bind a process near its GPU; the far socket costs 20-25 % of host bandwidth on "
                            + "MI250 nodes.",
                    "huggingface/optimum-amd, rocm_bandwidth_test near and far",
                    "Update the BIOS, or bind by hand with numactl.");
        }
    }

    private static void pcie(Node node, FindingReport report) {
        HostFiles host = node.host();
        int known = 0;
        boolean degraded = false;
        for (GpuGraph.Gpu gpu : node.graph().gpus()) {
            String device = "sys/bus/pci/devices/" + gpu.address() + "/";
            Optional<String> width = host.text(device + "current_link_width");
            Optional<String> most = host.text(device + "max_link_width");
            if (width.isEmpty()
                    || most.isEmpty()
                    || !width.get().matches("\\d{1,3}")
                    || !most.get().matches("\\d{1,3}")) {
                continue;
            }
            known++;
            if (Integer.parseInt(width.get()) < Integer.parseInt(most.get())) {
                degraded = true;
                report.warning(
                        "pcie-width",
                        gpu.name() + " runs with " + width.get() + " of " + most.get() + " PCIe lanes",
                        "Host copies and RDMA of that GPU slow down in proportion, and a collective waits for the "
                                + "slowest rank.",
                        "kernel: current_link_width and max_link_width in sysfs",
                        "Reseat the module or riser; look for PCIe errors in the kernel log.");
            }
        }
        if (known > 0 && !degraded) {
            report.good("pcie-width", known + " GPUs run with all their PCIe lanes");
        }
    }
}
