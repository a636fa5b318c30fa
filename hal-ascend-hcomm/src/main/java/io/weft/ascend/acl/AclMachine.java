// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.nativehal.driver.NativeMachine;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What the runtime tells about this machine: devices, their memory, and who can reach whom. It does not tell bandwidths; those of the family are used, which come from third-party measurements and are good to 10 %.
 */
final class AclMachine {
    private static final double HCCS_BANDWIDTH = 28e9;
    private static final double PCIE_BANDWIDTH = 25e9;
    private static final double LATENCY_NANOS = 2000;
    private static final double MEMORY_BANDWIDTH = 1.2e12;
    /** FLOP of one cube core in one clock in 16 bits: 16 x 16 x 16 multiply-adds. */
    private static final double FLOP_PER_CLOCK = 8192;

    private AclMachine() {}

    static NativeMachine read(AclRuntime runtime, List<Integer> ordinals) {
        List<DeviceProperties> devices = new ArrayList<>();
        for (int ordinal : ordinals) {
            runtime.device(ordinal);
            devices.add(device(runtime, devices.size()));
        }
        List<Link> links = new ArrayList<>();
        for (int from = 0; from < ordinals.size(); from++) {
            for (int to = 0; to < ordinals.size(); to++) {
                links.add(link(runtime, ordinals, from, to));
            }
        }
        int[] numa = new int[ordinals.size()];
        java.util.Arrays.fill(numa, -1);
        return new NativeMachine(
                NativeMachine.nameOf(devices), ordinals, devices, new Topology(devices.size(), links, numa));
    }

    private static DeviceProperties device(AclRuntime runtime, int index) {
        String chip = runtime.calls().socName();
        int cores = cores(chip);
        double perClock = cores * FLOP_PER_CLOCK * clock(chip);
        Map<ElementType, Double> peaks = new EnumMap<>(ElementType.class);
        peaks.put(ElementType.FP16, perClock);
        peaks.put(ElementType.BF16, perClock);
        peaks.put(ElementType.FP32, perClock / 4);
        return new DeviceProperties(
                index,
                chip.isEmpty() ? "Ascend" : chip.replaceFirst("^Ascend(?=\\d)", "Ascend "),
                chip,
                cores,
                runtime.memoryInfo()[1],
                MEMORY_BANDWIDTH,
                peaks,
                AclProducts.TYPES,
                1,
                8,
                1,
                AclRuntime.ALIGNMENT,
                "",
                -1,
                Map.of());
    }

    /** Cube cores, from the vendor's platform files. */
    private static int cores(String chip) {
        if (chip.matches("Ascend910(B1|B2|_939.|_938.).*")) {
            return 24;
        }
        return chip.matches("Ascend910(B3|B4|_937.|_936.).*") ? 20 : 32;
    }

    /** Clock in Hz, from the vendor's platform files. */
    private static double clock(String chip) {
        if (chip.matches("Ascend910(B1|_939.).*")) {
            return 1.85e9;
        }
        if (chip.matches("Ascend910(B2|B3|_938.|_937.).*")) {
            return 1.8e9;
        }
        return chip.matches("Ascend910(B4|_936.).*") ? 1.5e9 : 1e9;
    }

    private static Link link(AclRuntime runtime, List<Integer> ordinals, int from, int to) {
        if (from == to) {
            return new Link(from, to, LinkKind.SELF, "", MEMORY_BANDWIDTH, 0, 0, 0, true, true);
        }
        boolean reach = runtime.canAccess(ordinals.get(from), ordinals.get(to));
        return reach
                ? new Link(from, to, LinkKind.FABRIC, "HCCS", HCCS_BANDWIDTH, LATENCY_NANOS, 1, 1, true, true)
                : new Link(from, to, LinkKind.PCIE, "PCIe", PCIE_BANDWIDTH, LATENCY_NANOS, 1, 1, true, false);
    }
}
