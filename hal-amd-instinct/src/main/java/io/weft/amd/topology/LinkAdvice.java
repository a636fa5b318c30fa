// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.api.Finding;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What a finished graph shows about the machine itself: stale constants, slow, narrow or missing links. */
final class LinkAdvice {
    /** Chips of which every node joins all GPUs with one another. */
    private static final Set<String> FULL_MESH = Set.of("gfx942", "gfx950");

    private LinkAdvice() {}

    static void add(List<GpuGraph.Gpu> gpus, List<List<GpuGraph.Pair>> pairs, List<Finding> findings) {
        int stale = 0;
        int perhaps = 0;
        List<String> slow = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (GpuGraph.Gpu from : gpus) {
            long nominal = Chip.xgmiMegabytesPerSecond(from.gfx());
            for (GpuGraph.Gpu to : gpus) {
                GpuGraph.Pair pair = pairs.get(from.ordinal()).get(to.ordinal());
                if (pair == null || pair.linkClass() != LinkClass.XGMI) {
                    continue;
                }
                String at = from.name() + " to " + to.name();
                if (pair.direct() && from.gfx().isEmpty() && pair.stated().equals("50000-50000")) {
                    perhaps++;
                }
                if (pair.direct() && nominal > 50_000 && pair.stated().startsWith("50000-")) {
                    stale++;
                } else if (pair.direct() && pair.linkMegabytes() > 0 && pair.linkMegabytes() < nominal) {
                    slow.add(at + " " + pair.linkMegabytes());
                }
                if (!pair.direct() && FULL_MESH.contains(from.gfx()) && from.hive() == to.hive()) {
                    missing.add(at);
                }
            }
        }
        if (stale > 0) {
            findings.add(new Finding(
                    Finding.Severity.WARNING,
                    "stale-bandwidth",
                    stale + " links state 50000 MB/s on a chip whose links run at "
                            + Chip.xgmiMegabytesPerSecond(gpus.getFirst().gfx()),
                    "Older drivers print the constant of the MI200 (25 GT/s) on every chip. The data sheet's figure is "
                            + "used here; the width is not touched by it.",
                    "kernel drm/amdgpu: amdgpu_xgmi.c; AMD Instinct MI300X data sheet",
                    "Update amdgpu; until then believe no tool's xGMI bandwidth on this node."));
        }
        // Six and more, each joined with all others by single links: only MI300 and MI350 are built so.
        if (gpus.size() >= 6 && perhaps == gpus.size() * (gpus.size() - 1)) {
            findings.add(new Finding(
                    Finding.Severity.NOTE,
                    "stale-bandwidth",
                    "all " + perhaps + " pairs state 50000-50000, and the sources do not name the chip",
                    "A full mesh of single links is an MI300X's or a later one's, whose links run at 64000 MB/s or more; "
                            + "older drivers print the MI200's 50000 there.",
                    "kernel drm/amdgpu: amdgpu_xgmi.c; AMD Instinct MI300X data sheet",
                    "Give --kfd or --amd-xml as well, which name the chip."));
        }
        if (!slow.isEmpty()) {
            findings.add(new Finding(
                    Finding.Severity.WARNING,
                    "slow-xgmi",
                    slow.size() + " xGMI links state less MB/s than the chip's "
                            + Chip.xgmiMegabytesPerSecond(gpus.getFirst().gfx()) + ": " + examples(slow),
                    "A link that trained at a lower rate holds up every collective, which runs at its slowest link's "
                            + "speed.",
                    "AMD data sheets",
                    "Look for xGMI training messages in the kernel log; reset or reseat the module."));
        }
        if (!missing.isEmpty()) {
            findings.add(new Finding(
                    Finding.Severity.WARNING,
                    "missing-xgmi",
                    missing.size()
                            + " directed pairs have no xGMI link of their own on a chip that joins all with all: "
                            + examples(missing),
                    "RCCL recognises such nodes by their full mesh and falls back to slower rings without it.",
                    "RCCL topology models (tools/topo_expl)",
                    "Look for a link that is down in the kernel log; reset or reseat the module."));
        }
        pcie(gpus, findings);
    }

    private static void pcie(List<GpuGraph.Gpu> gpus, List<Finding> findings) {
        List<String> narrow = new ArrayList<>();
        List<String> below = new ArrayList<>();
        double best = gpus.stream()
                .mapToDouble(GpuGraph.Gpu::pcieSpeed)
                .filter(speed -> !Double.isNaN(speed))
                .max()
                .orElse(0);
        for (GpuGraph.Gpu gpu : gpus) {
            if (gpu.pcieLanes() > 0 && gpu.pcieLanes() < 16) {
                narrow.add(gpu.name() + " x" + gpu.pcieLanes());
            }
            if (gpu.pcieSpeed() < best) {
                below.add(gpu.name() + " " + gpu.pcieSpeed() + " GT/s");
            }
        }
        if (!narrow.isEmpty()) {
            findings.add(new Finding(
                    Finding.Severity.WARNING,
                    "pcie-width",
                    narrow.size() + " GPUs have fewer than 16 PCIe lanes: " + examples(narrow),
                    "Host copies and network traffic of that GPU slow down in proportion.",
                    "AMD Instinct GPUs are x16 devices",
                    "Reseat the card or riser; check the slot's bifurcation in the firmware."));
        }
        if (!below.isEmpty()) {
            findings.add(new Finding(
                    Finding.Severity.WARNING,
                    "pcie-speed",
                    below.size() + " GPUs run PCIe below the others' " + best + " GT/s: " + examples(below),
                    "Idle GPUs may lower their link; under load it halves host and network bandwidth.",
                    "",
                    "Read it again under load; if it stays, reseat the card or riser."));
        }
    }

    private static String examples(List<String> all) {
        return String.join(", ", all.subList(0, Math.min(3, all.size())))
                + (all.size() > 3 ? " and " + (all.size() - 3) + " more" : "");
    }
}
