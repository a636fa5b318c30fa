// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.ascend.hccl.BufferCalculator;
import io.weft.ascend.topology.NpuSmiDevices;
import io.weft.spi.input.FindingReport;
import java.util.List;
import java.util.Locale;

/** Health and memory of the devices, and what communicators' buffers may take of it. */
final class DeviceMemory {
    private static final String CHECK = "hccl-buffer";
    /** Share of free memory that buffers may take before other allocations suffer; a rule of thumb. */
    private static final double SHARE = 0.1;

    private DeviceMemory() {}

    static void look(Node node, FindingReport report) {
        long buffer = node.variable("HCCL_BUFFSIZE")
                .map(String::strip)
                .filter(text -> text.matches("\\d{1,6}"))
                .map(Long::parseLong)
                .filter(mb -> mb > 0)
                .orElse((long) BufferCalculator.DEFAULT_MEGABYTES);
        if (node.devices().isEmpty()) {
            report.note(
                    CHECK,
                    "every communicator keeps " + 2 * buffer + " MB of device memory (2 x " + buffer + " MB)",
                    "World, data, tensor, pipeline and expert groups are a communicator each.",
                    "HCCL documentation, HCCL_BUFFSIZE",
                    "");
            return;
        }
        NpuSmiDevices devices = node.devices().get();
        List<NpuSmiDevices.Chip> ill = devices.chips().stream()
                .filter(chip -> !chip.health().equals("OK"))
                .toList();
        for (NpuSmiDevices.Chip chip : ill) {
            report.problem(
                    "device-health",
                    "NPU " + chip.npu() + " chip " + chip.chip() + " (" + chip.name() + ") is " + chip.health(),
                    "Work on it fails or is slow, and every collective waits for the slowest.",
                    "npu-smi info",
                    "npu-smi info -t health -i " + chip.npu() + "; take it out of service.");
        }
        if (ill.isEmpty()) {
            report.good(
                    "device-health",
                    devices.chips().size() + " x " + devices.chips().getFirst().name() + ", all OK");
        }
        long free = devices.chips().stream()
                .filter(chip -> chip.totalMegabytes() > 0)
                .mapToLong(chip -> chip.totalMegabytes() - chip.usedMegabytes())
                .min()
                .orElse(-1);
        if (free < 0) {
            return;
        }
        long fits = (long) (free * SHARE) / (2 * buffer);
        String seen = String.format(
                Locale.ROOT,
                "2 x %d MB for each communicator: 4 take %d MB of the %d MB free on the fullest device, 8 take %d MB",
                buffer,
                8 * buffer,
                free,
                16 * buffer);
        if (fits < 4) {
            report.warning(
                    CHECK,
                    seen,
                    "World, data, tensor, pipeline and expert groups are a communicator each; running out is EI0011 or"
                            + " 207018.",
                    "HCCL documentation, HCCL_BUFFSIZE; vllm-project/vllm-ascend#2674, #16835",
                    "HCCL_BUFFSIZE=" + Math.max(1, (long) (free * SHARE) / 8)
                            + " keeps four communicators below a tenth of what is free; not below the largest message"
                            + " of a fused all-to-all, which names what it needs when it fails.");
        } else {
            report.good(CHECK, seen + "; " + fits + " fit into a tenth of it");
        }
    }
}
