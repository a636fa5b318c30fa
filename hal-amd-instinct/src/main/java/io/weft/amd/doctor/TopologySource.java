// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.doctor;

import io.weft.amd.topology.AmdTopologyReader;
import io.weft.amd.topology.GpuGraph;
import io.weft.api.AcceleratorException;
import io.weft.api.Finding;
import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Where RCCL takes the topology from, and whether a file that it is told to use fits this node. */
final class TopologySource {
    private static final String CHECK = "rccl-topology";

    private TopologySource() {}

    static void look(Node node, FindingReport report) {
        Set<String> files = new LinkedHashSet<>();
        boolean smi = false;
        for (HostFiles.Environment environment : node.environments()) {
            environment.value("NCCL_TOPO_FILE").filter(text -> !text.isBlank()).ifPresent(files::add);
            smi |= environment
                    .value("RCCL_USE_ROCM_SMI_LIB")
                    .filter("1"::equals)
                    .isPresent();
        }
        for (String file : files) {
            file(node, file, report);
        }
        if (smi) {
            report.note(
                    CHECK,
                    "RCCL_USE_ROCM_SMI_LIB=1: RCCL asks the SMI library in place of the driver's sysfs tree",
                    "The two may differ, and PCI addresses or link types read wrongly there have cost 70-90 % of the "
                            + "bandwidth.",
                    "RCCL 2.21.5 parameters; ROCm/rocm-systems PR 3272, PR 5297");
        } else if (files.isEmpty() && !node.environments().isEmpty()) {
            report.good(CHECK, "RCCL reads the driver's sysfs tree, which is its default");
        }
    }

    private static void file(Node node, String file, FindingReport report) {
        String below = file.startsWith("/") ? file.substring(1) : file;
        Optional<Path> place =
                node.host().isLive() ? Optional.of(Path.of(file)) : node.host().real(below);
        GpuGraph graph;
        try {
            if (place.isEmpty()) {
                report.note(CHECK, "NCCL_TOPO_FILE=" + file + " is not in the capture", "", "");
                return;
            }
            graph = AmdTopologyReader.ofXml(place.get());
            if (node.graph() != null) {
                graph = AmdTopologyReader.graph(
                        Map.of("--kfd", List.of(node.host().root()), "--amd-xml", List.of(place.get())));
            }
        } catch (AcceleratorException unusable) {
            report.problem(
                    CHECK,
                    "NCCL_TOPO_FILE=" + file + " cannot be used: " + unusable.detail(),
                    "RCCL stops, or goes on without it.",
                    "RCCL: NCCL_TOPO_FILE",
                    "Unset it, or make the file anew with NCCL_TOPO_DUMP_FILE on this node.");
            return;
        }
        boolean contradicts = false;
        for (Finding finding : graph.findings()) {
            if (finding.check().equals("sources-contradict") && finding.severity() == Finding.Severity.PROBLEM) {
                contradicts = true;
                report.problem(
                        CHECK,
                        "NCCL_TOPO_FILE=" + file + ": " + finding.seen(),
                        "RCCL believes the file and builds its rings for a machine that is not this one.",
                        "RCCL: NCCL_TOPO_FILE",
                        "Unset it, or make the file anew with NCCL_TOPO_DUMP_FILE on this node.");
            }
        }
        if (!contradicts) {
            report.note(
                    CHECK,
                    "RCCL reads " + file + (node.graph() == null ? "" : ", which agrees with the driver"),
                    "It will not notice when the machine changes.",
                    "RCCL: NCCL_TOPO_FILE");
        }
    }
}
