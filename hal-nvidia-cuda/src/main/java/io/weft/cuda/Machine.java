// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.cuda.ffi.CudaLibraries;
import io.weft.cuda.ffi.CudaRuntime;
import io.weft.cuda.ffi.CudaRuntime.Attribute;
import io.weft.cuda.ffi.Nvml;
import io.weft.nativehal.driver.NativeMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the vendor's libraries tell about this machine. Without NVML, links are known only as far as the runtime knows who reaches whom. */
final class Machine {
    /** Starts of the time that one message needs over NVLink; measured figures come from calibration. Source: order of magnitude of published peer latencies on Hopper. */
    private static final double LINK_LATENCY_NANOS = 700;

    private static final double PCIE_LATENCY_NANOS = 1500;
    /** Bandwidth of one PCIe 4.0 x16 direction, GB/s, where nothing tells more. */
    private static final double PCIE_BANDWIDTH = 25;
    /** Share of the raw rate of NVLink that data gets; 382 of 478 GB/s were measured on two H200 by copy engines. */
    private static final double LINK_SHARE = 0.8;

    private Machine() {}

    static NativeMachine read(CudaLibraries libraries, Nvml nvml, List<Integer> ordinals) {
        List<DeviceProperties> devices = new ArrayList<>();
        List<String> buses = new ArrayList<>();
        for (int i = 0; i < ordinals.size(); i++) {
            String bus = Nvml.normalBusId(libraries.runtime().busId(ordinals.get(i)));
            buses.add(bus);
            devices.add(device(libraries, nvml, i, ordinals.get(i), bus));
        }
        int[] numa = devices.stream().mapToInt(DeviceProperties::numaNode).toArray();
        List<Link> links = new ArrayList<>();
        for (int from = 0; from < devices.size(); from++) {
            for (int to = 0; to < devices.size(); to++) {
                links.add(link(libraries, nvml, ordinals, buses, from, to));
            }
        }
        return new NativeMachine(
                NativeMachine.nameOf(devices), ordinals, devices, new Topology(devices.size(), links, numa));
    }

    private static DeviceProperties device(
            CudaLibraries libraries, Nvml nvml, int ordinal, int runtimeOrdinal, String bus) {
        CudaRuntime runtime = libraries.runtime();
        int major = runtime.attribute(Attribute.CAPABILITY_MAJOR, runtimeOrdinal, 0);
        int minor = runtime.attribute(Attribute.CAPABILITY_MINOR, runtimeOrdinal, 0);
        int units = runtime.attribute(Attribute.COMPUTE_UNITS, runtimeOrdinal, 1);
        long handle = nvml == null ? 0 : nvml.device(bus);
        double clockHertz = runtime.attribute(Attribute.CLOCK_KHZ, runtimeOrdinal, 0) * 1e3;
        double memoryHertz = runtime.attribute(Attribute.MEMORY_CLOCK_KHZ, runtimeOrdinal, 0) * 1e3;
        Map<String, String> extra = new LinkedHashMap<>();
        if (handle != 0) {
            clockHertz = Math.max(clockHertz, nvml.maxComputeMegahertz(handle) * 1e6);
            memoryHertz = Math.max(memoryHertz, nvml.maxMemoryMegahertz(handle) * 1e6);
            int power = nvml.powerLimitMilliwatts(handle);
            if (power > 0) {
                extra.put("power limit", power / 1000 + " W");
            }
        }
        // Two transfers in each clock: all memories of these devices are of double data rate.
        double bandwidth = 2 * memoryHertz * runtime.attribute(Attribute.MEMORY_BUS_BITS, runtimeOrdinal, 0) / 8;
        extra.put("clock", Math.round(clockHertz / 1e6) + " MHz");
        extra.put("L2", runtime.attribute(Attribute.L2_BYTES, runtimeOrdinal, 0) / (1 << 20) + " MiB");
        extra.put("ECC", runtime.attribute(Attribute.ECC, runtimeOrdinal, 0) == 1 ? "on" : "off");
        String name = libraries.driver().name(runtimeOrdinal);
        return new DeviceProperties(
                ordinal,
                name.isEmpty() ? "NVIDIA GPU" : name,
                "sm_" + major + minor,
                units,
                libraries.driver().memoryBytes(runtimeOrdinal),
                bandwidth,
                peaks(major, minor, units, clockHertz),
                gemmTypes(major, minor),
                runtime.attribute(Attribute.COPY_ENGINES, runtimeOrdinal, 0),
                hardwareQueues(),
                priorities(runtime, runtimeOrdinal),
                256,
                bus,
                numaNode(runtime, runtimeOrdinal, bus),
                extra);
    }

    private static int priorities(CudaRuntime runtime, int runtimeOrdinal) {
        runtime.device(runtimeOrdinal);
        int[] range = runtime.priorities();
        return Math.min(3, Math.abs(range[0] - range[1]) + 1);
    }

    /** CUDA_DEVICE_MAX_CONNECTIONS, 8 unless the user says otherwise: CUDA C programming guide, environment variables. */
    private static int hardwareQueues() {
        try {
            int wished = Integer.parseInt(System.getenv().getOrDefault("CUDA_DEVICE_MAX_CONNECTIONS", "8"));
            return Math.clamp(wished, 1, 32);
        } catch (NumberFormatException notANumber) {
            return 8;
        }
    }

    /** 8-bit floats came with compute capability 8.9. */
    private static Set<ElementType> gemmTypes(int major, int minor) {
        Set<ElementType> types = EnumSet.of(ElementType.FP32, ElementType.FP16, ElementType.BF16, ElementType.INT8);
        if (major * 10 + minor >= 89) {
            types.add(ElementType.FP8_E4M3);
            types.add(ElementType.FP8_E5M2);
        }
        return types;
    }

    /**
     * Dense peaks from units and clock. FLOP for each unit and clock, an FMA being two: of Hopper 4096 in 16 bits (H100 SXM5: 132 units x 1.83 GHz x 4096 = 989 TFLOP/s, NVIDIA's H100 white paper), half
     * of it on Ampere's data-centre device, double in 8 bits; 256 in fp32.
     */
    private static Map<ElementType, Double> peaks(int major, int minor, int units, double clock) {
        Map<ElementType, Double> peaks = new EnumMap<>(ElementType.class);
        double half = switch (major) {
            case 9 -> 4096;
            case 10 -> 8192;
            default -> major == 8 && minor == 0 ? 2048 : 1024;
        };
        double perClock = units * clock;
        peaks.put(ElementType.FP32, 256 * perClock);
        peaks.put(ElementType.FP16, half * perClock);
        peaks.put(ElementType.BF16, half * perClock);
        peaks.put(ElementType.INT8, 2 * half * perClock);
        if (major * 10 + minor >= 89) {
            peaks.put(ElementType.FP8_E4M3, 2 * half * perClock);
            peaks.put(ElementType.FP8_E5M2, 2 * half * perClock);
        }
        return peaks;
    }

    private static int numaNode(CudaRuntime runtime, int runtimeOrdinal, String bus) {
        int node = runtime.attribute(Attribute.HOST_NUMA, runtimeOrdinal, -1);
        if (node >= 0) {
            return node;
        }
        Path file = Path.of("/sys/bus/pci/devices", bus.isEmpty() ? "none" : bus, "numa_node");
        try {
            return Files.isReadable(file)
                    ? Integer.parseInt(Files.readString(file).strip())
                    : -1;
        } catch (IOException | NumberFormatException unknown) {
            return -1;
        }
    }

    private static Link link(
            CudaLibraries libraries, Nvml nvml, List<Integer> ordinals, List<String> buses, int from, int to) {
        if (from == to) {
            return new Link(from, to, LinkKind.SELF, "self", 0, 0, 0, 0, true, true);
        }
        boolean addressable = libraries.runtime().canAccess(ordinals.get(from), ordinals.get(to));
        long source = nvml == null ? 0 : nvml.device(buses.get(from));
        long target = nvml == null ? 0 : nvml.device(buses.get(to));
        if (source != 0 && target != 0) {
            int direct = 0;
            int switched = 0;
            for (int link = 0; link < Nvml.MAX_LINKS; link++) {
                if (!nvml.isLinkActive(source, link)) {
                    continue;
                }
                if (nvml.remoteBusId(source, link).equals(buses.get(to))) {
                    direct++;
                } else if (nvml.remoteType(source, link) != Nvml.REMOTE_DEVICE) {
                    switched++; // a switch, or unknown: virtual machines hide the switches
                }
            }
            double perLink = nvml.linkMegabytesPerSecond(source) / 1e3;
            if (perLink == 0) {
                perLink = rateOfGeneration(nvml.linkVersion(source, 0));
            }
            if (direct > 0) {
                return nvlink(from, to, LinkKind.FABRIC, direct, perLink, addressable);
            }
            int back = switchLinks(nvml, target);
            if (switched > 0 && back > 0) {
                return nvlink(from, to, LinkKind.SWITCHED_FABRIC, Math.min(switched, back), perLink, addressable);
            }
            int level = nvml.commonAncestor(source, target);
            if (level >= 40) {
                return new Link(
                        from,
                        to,
                        LinkKind.HOST,
                        "PCIe and host",
                        PCIE_BANDWIDTH,
                        PCIE_LATENCY_NANOS,
                        2,
                        1,
                        true,
                        addressable);
            }
        }
        return new Link(from, to, LinkKind.PCIE, "PCIe", PCIE_BANDWIDTH, PCIE_LATENCY_NANOS, 1, 1, true, addressable);
    }

    private static Link nvlink(int from, int to, LinkKind kind, int count, double perLink, boolean addressable) {
        return new Link(
                from,
                to,
                kind,
                "NV" + count,
                count * perLink * LINK_SHARE,
                LINK_LATENCY_NANOS,
                kind == LinkKind.FABRIC ? 1 : 2,
                count,
                true,
                addressable);
    }

    private static int switchLinks(Nvml nvml, long device) {
        int count = 0;
        for (int link = 0; link < Nvml.MAX_LINKS; link++) {
            if (nvml.isLinkActive(device, link) && nvml.remoteType(device, link) != Nvml.REMOTE_DEVICE) {
                count++;
            }
        }
        return count;
    }

    /** GB/s of one link in one direction by generation; NVIDIA's NVLink pages: 25 GB/s up to the third, 26.56 with the fourth, 53.1 with the fifth. */
    private static double rateOfGeneration(int generation) {
        return switch (generation) {
            case 1 -> 20;
            case 2, 3 -> 25;
            case 5 -> 53.1;
            default -> 26.56;
        };
    }
}
