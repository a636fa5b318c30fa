// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import io.weft.amd.topology.AmdTopologyReader;
import io.weft.amd.topology.Chip;
import io.weft.amd.topology.GpuGraph;
import io.weft.amd.topology.HsaLinkType;
import io.weft.amd.topology.LinkClass;
import io.weft.api.AcceleratorException;
import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.nativehal.driver.NativeMachine;
import io.weft.spi.input.PciAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What HIP and the kernel driver tell about this machine. Links come from the driver's tree first, where devices are found by PCI address, never by number: the masks of HSA and HIP renumber them. Without the tree only HIP's own word about a pair
 * is left, which knows neither width nor bandwidth.
 */
final class HipMachine {
    /** Time that one message needs over xGMI, ns; measured figures come from calibration. Source: 0.8 to 1.5 us that RCCL's model gives to a hop with its lightest protocol. */
    private static final double XGMI_LATENCY_NANOS = 1000;

    private static final double PCIE_LATENCY_NANOS = 1800;
    /** Bandwidth of one PCIe 4.0 x16 direction, GB/s, where nothing tells more. */
    private static final double PCIE_BANDWIDTH = 25;
    /** Share of an xGMI link's nominal rate that one engine's copy gets; 47.6 to 49.4 of 64 GB/s are published for MI300X. */
    private static final double LINK_SHARE = 0.75;

    private final HipRuntime runtime;
    private final List<Integer> ordinals;
    private final List<HipProperties> properties = new ArrayList<>();
    private final List<Optional<PciAddress>> addresses = new ArrayList<>();
    private final Optional<GpuGraph> tree;

    private HipMachine(HipRuntime runtime, List<Integer> ordinals, Path driverTree) {
        this.runtime = runtime;
        this.ordinals = ordinals;
        for (int ordinal : ordinals) {
            HipProperties device = runtime.properties(ordinal);
            properties.add(device);
            Optional<PciAddress> told = PciAddress.parse(runtime.busId(ordinal));
            addresses.add(told.isPresent() ? told : ofProperties(device));
        }
        tree = read(driverTree);
    }

    /**
     * Reads it.
     *
     * @param driverTree {@code /sys/class/kfd}; need not exist
     */
    static NativeMachine read(HipRuntime runtime, List<Integer> ordinals, Path driverTree) {
        return new HipMachine(runtime, ordinals, driverTree).machine();
    }

    /** The chips of the devices, such as {@code gfx942}, each once. */
    static Set<String> architectures(HipRuntime runtime, List<Integer> ordinals) {
        Set<String> found = new java.util.TreeSet<>();
        for (int ordinal : ordinals) {
            found.add(runtime.properties(ordinal).architecture());
        }
        return found;
    }

    private static Optional<PciAddress> ofProperties(HipProperties device) {
        boolean possible = device.domain() >= 0
                && device.bus() >= 0
                && device.bus() < 256
                && device.device() >= 0
                && device.device() < 32;
        return possible
                ? Optional.of(new PciAddress(device.domain(), device.bus(), device.device(), 0))
                : Optional.empty();
    }

    /** A tree that is not there, or not readable, is a source less. */
    private static Optional<GpuGraph> read(Path driverTree) {
        if (!Files.isDirectory(driverTree)) {
            return Optional.empty();
        }
        try {
            return Optional.of(AmdTopologyReader.ofKfd(driverTree));
        } catch (AcceleratorException unreadable) {
            return Optional.empty();
        }
    }

    private Optional<GpuGraph.Gpu> inTree(int device) {
        Optional<PciAddress> address = addresses.get(device);
        if (tree.isEmpty() || address.isEmpty()) {
            return Optional.empty();
        }
        return tree.get().gpus().stream()
                .filter(gpu -> address.get().equals(gpu.address()))
                .findFirst();
    }

    private NativeMachine machine() {
        List<DeviceProperties> devices = new ArrayList<>();
        for (int device = 0; device < ordinals.size(); device++) {
            devices.add(device(device));
        }
        List<Link> links = new ArrayList<>();
        for (int from = 0; from < devices.size(); from++) {
            for (int to = 0; to < devices.size(); to++) {
                links.add(link(from, to));
            }
        }
        int[] numa = devices.stream().mapToInt(DeviceProperties::numaNode).toArray();
        return new NativeMachine(
                NativeMachine.nameOf(devices), ordinals, devices, new Topology(devices.size(), links, numa));
    }

    private DeviceProperties device(int device) {
        int ordinal = ordinals.get(device);
        HipProperties told = properties.get(device);
        Optional<GpuGraph.Gpu> gpu = inTree(device);
        String architecture = told.architecture();
        double clockHertz = told.clockKilohertz() * 1e3;
        Map<String, String> extra = new LinkedHashMap<>();
        extra.put("clock", Math.round(clockHertz / 1e6) + " MHz");
        extra.put("L2", told.l2Bytes() / (1 << 20) + " MiB");
        extra.put("ECC", told.ecc() ? "on" : "off");
        extra.put("chip", told.gcnArchitecture());
        gpu.filter(known -> known.fabricEngines() >= 0)
                .ifPresent(known -> extra.put(
                        "copy engines", known.hostEngines() + " for the host, " + known.fabricEngines() + " for xGMI"));
        // Two transfers in each clock: all memories of these devices are of double data rate.
        double bandwidth = 2.0 * told.memoryKilohertz() * 1e3 * told.memoryBits() / 8;
        String name = told.name().isBlank()
                ? gpu.map(GpuGraph.Gpu::product)
                        .filter(product -> !product.isEmpty())
                        .orElse("AMD GPU")
                : told.name();
        return new DeviceProperties(
                device,
                name,
                architecture,
                Math.max(1, told.computeUnits()),
                told.memoryBytes(),
                bandwidth,
                peaks(architecture, told.computeUnits() * clockHertz),
                gemmTypes(architecture),
                copyEngines(ordinal, gpu),
                hardwareQueues(),
                priorities(ordinal),
                256,
                addresses.get(device).map(PciAddress::toString).orElse(""),
                numaNode(addresses.get(device), gpu),
                extra);
    }

    /** The driver's count of engines, else the runtime's; a chip has at least the two for its host. */
    private int copyEngines(int ordinal, Optional<GpuGraph.Gpu> gpu) {
        if (gpu.isPresent() && gpu.get().hostEngines() >= 0) {
            return gpu.get().hostEngines() + Math.max(0, gpu.get().fabricEngines());
        }
        int told = runtime.copyEngines(ordinal);
        return told > 0 ? told : 2;
    }

    /** GPU_MAX_HW_QUEUES, 4 unless the user says otherwise: clr source, flags.hpp. */
    private static int hardwareQueues() {
        try {
            return Math.clamp(Integer.parseInt(System.getenv().getOrDefault("GPU_MAX_HW_QUEUES", "4")), 1, 32);
        } catch (NumberFormatException notANumber) {
            return 4;
        }
    }

    private int priorities(int ordinal) {
        runtime.device(ordinal);
        int[] range = runtime.priorities();
        return Math.min(3, Math.abs(range[0] - range[1]) + 1);
    }

    private static Set<ElementType> gemmTypes(String architecture) {
        Set<ElementType> types = EnumSet.of(ElementType.FP32, ElementType.FP16, ElementType.BF16, ElementType.INT8);
        types.addAll(Float8.of(architecture).types());
        return types;
    }

    /**
     * Dense peaks from units and clock: FLOP of one unit in one clock, an FMA being two. From data sheets: MI300X 1307.4 TFLOP/s in 16 bits of 304 units at 2.1 GHz is 2048, double in 8 bits, 163.4 in fp32 is 256; MI250X 383 of 220 at 1.7 GHz is
     * 1024, 95.7 in fp32 is 256; MI100 184.6 of 120 at 1.502 GHz is 1024 (bf16 half of it); MI355X 2516.6 of 256 at 2.4 GHz is 4096.
     */
    private static Map<ElementType, Double> peaks(String architecture, double perClock) {
        Map<ElementType, Double> peaks = new EnumMap<>(ElementType.class);
        double half = switch (architecture) {
            case "gfx950" -> 4096;
            case "gfx940", "gfx941", "gfx942" -> 2048;
            default -> 1024;
        };
        peaks.put(ElementType.FP32, 256 * perClock);
        peaks.put(ElementType.FP16, half * perClock);
        peaks.put(ElementType.BF16, (architecture.equals("gfx908") ? half / 2 : half) * perClock);
        peaks.put(ElementType.INT8, (half > 1024 ? 2 * half : half) * perClock);
        for (ElementType type : Float8.of(architecture).types()) {
            peaks.put(type, 2 * half * perClock);
        }
        return peaks;
    }

    private static int numaNode(Optional<PciAddress> address, Optional<GpuGraph.Gpu> gpu) {
        if (gpu.isPresent() && gpu.get().numa() >= 0) {
            return gpu.get().numa();
        }
        Path file = Path.of(
                "/sys/bus/pci/devices", address.map(PciAddress::toString).orElse("none"), "numa_node");
        try {
            return Files.isReadable(file)
                    ? Integer.parseInt(Files.readString(file).strip())
                    : -1;
        } catch (IOException | NumberFormatException unknown) {
            return -1;
        }
    }

    private Link link(int from, int to) {
        if (from == to) {
            return new Link(from, to, LinkKind.SELF, "self", 0, 0, 0, 0, true, true);
        }
        boolean addressable = runtime.canAccess(ordinals.get(from), ordinals.get(to));
        Optional<GpuGraph.Gpu> source = inTree(from);
        Optional<GpuGraph.Gpu> target = inTree(to);
        if (source.isPresent() && target.isPresent()) {
            GpuGraph.Pair pair =
                    tree.get().pair(source.get().ordinal(), target.get().ordinal());
            if (pair.linkClass() == LinkClass.XGMI) {
                return xgmi(from, to, pair.direct(), pair.hops(), pair.width(), pair.linkMegabytes(), addressable);
            }
            if (pair.linkClass() == LinkClass.PCIE) {
                return pcie(from, to, pair.hops() > 2, addressable);
            }
        }
        Optional<HipRuntime.Joint> joint = runtime.joint(ordinals.get(from), ordinals.get(to));
        if (joint.isPresent() && HsaLinkType.of(joint.get().hsaType()) == HsaLinkType.XGMI) {
            // The runtime counts one hop for every pair, so it cannot tell direct from routed; one link is what is
            // sure.
            return xgmi(from, to, true, joint.get().hops(), 1, 0, addressable);
        }
        return pcie(from, to, joint.isPresent() && joint.get().hops() > 2, addressable);
    }

    private Link xgmi(int from, int to, boolean direct, int hops, int width, long linkMegabytes, boolean addressable) {
        String architecture = properties.get(from).architecture();
        long each = linkMegabytes > 0 ? linkMegabytes : Chip.xgmiMegabytesPerSecond(architecture);
        int links = Math.max(1, width);
        int steps = Math.max(1, hops);
        LinkKind kind = architecture.equals("gfx90a") && direct && links == 4 ? LinkKind.IN_PACKAGE : LinkKind.FABRIC;
        return new Link(
                from,
                to,
                kind,
                direct ? "xGMI" : "xGMI over " + (steps - 1) + " device" + (steps == 2 ? "" : "s"),
                links * each * LINK_SHARE / 1e3,
                XGMI_LATENCY_NANOS * steps,
                steps,
                links,
                true,
                addressable);
    }

    private static Link pcie(int from, int to, boolean acrossSockets, boolean addressable) {
        return acrossSockets
                ? new Link(
                        from,
                        to,
                        LinkKind.HOST,
                        "PCIe and host",
                        PCIE_BANDWIDTH,
                        PCIE_LATENCY_NANOS,
                        2,
                        1,
                        true,
                        addressable)
                : new Link(
                        from, to, LinkKind.PCIE, "PCIe", PCIE_BANDWIDTH, PCIE_LATENCY_NANOS, 1, 1, true, addressable);
    }
}
