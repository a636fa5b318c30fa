// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.calibrate;

import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.sim.machine.CollectiveAlgorithm;
import io.weft.sim.machine.CollectiveModel;
import io.weft.sim.machine.CollectiveRange;
import io.weft.sim.machine.CopyEngineModel;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.Fp8Encoding;
import io.weft.sim.machine.GemmModel;
import io.weft.sim.machine.HostLinkModel;
import io.weft.sim.machine.KernelModel;
import io.weft.sim.machine.LaunchModel;
import io.weft.sim.machine.LinkModel;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MemoryModel;
import io.weft.sim.machine.TileModel;
import io.weft.spi.ModelFitter;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A machine from what a platform says of itself, with guesses for all that it does not say; a start for a fit, and no prediction. Guesses are magnitudes of current data-centre accelerators: microseconds for launches and copies, a share of 0.6 to
 * 0.8 of peaks.
 */
final class StartMachine {
    private static final double GIGA = 1e9;
    private static final long SMALL = 1 << 20;
    private static final long MIDDLE = 32L << 20;

    private StartMachine() {}

    static Machine of(ModelFitter.Request request) {
        Machine.Builder builder = Machine.builder(request.name());
        request.devices().forEach(properties -> builder.device(device(properties)));
        links(builder, request.topology());
        builder.collective(new CollectiveModel(
                Set.of(),
                List.of(
                        new CollectiveRange(0, SMALL, CollectiveAlgorithm.RING, "", 1, 10_000, 1000, 8, 0.5),
                        new CollectiveRange(SMALL, MIDDLE, CollectiveAlgorithm.RING, "", 1, 12_000, 1000, 16, 0.8),
                        new CollectiveRange(
                                MIDDLE, Long.MAX_VALUE, CollectiveAlgorithm.RING, "", 1, 15_000, 1000, 16, 0.9))));
        return builder.build();
    }

    private static DeviceModel device(DeviceProperties d) {
        boolean ocp = d.gemmTypes().contains(ElementType.FP8_E4M3);
        boolean fnuz = d.gemmTypes().contains(ElementType.FP8_E4M3_FNUZ);
        Fp8Encoding fp8 =
                ocp && fnuz ? Fp8Encoding.BOTH : ocp ? Fp8Encoding.OCP : fnuz ? Fp8Encoding.FNUZ : Fp8Encoding.NONE;
        int units = Math.max(1, d.computeUnits());
        double bandwidth = d.memoryBandwidth() > 0 ? d.memoryBandwidth() : 1000 * GIGA;
        Map<ElementType, Double> peaks =
                d.peakFlops().isEmpty() ? Map.of(ElementType.BF16, 1e14, ElementType.FP32, 1e13) : d.peakFlops();
        return new DeviceModel(
                d.name(),
                d.architecture().isEmpty() ? "unknown" : d.architecture(),
                0,
                d.numaNode(),
                d.busId(),
                units,
                1,
                new GemmModel(
                        peaks,
                        List.of(
                                new TileModel(256, 128, 0.75),
                                new TileModel(128, 256, 0.75),
                                new TileModel(128, 320, 0.75),
                                new TileModel(192, 192, 0.75),
                                new TileModel(192, 128, 0.7),
                                new TileModel(128, 192, 0.7),
                                new TileModel(160, 128, 0.7),
                                new TileModel(96, 256, 0.7),
                                new TileModel(128, 128, 0.65),
                                new TileModel(128, 96, 0.6),
                                new TileModel(128, 64, 0.5),
                                new TileModel(64, 64, 0.4),
                                new TileModel(64, 32, 0.25),
                                new TileModel(16, 64, 0.12)),
                        128,
                        8,
                        0.95),
                new MemoryModel(d.memoryBytes(), bandwidth, 0.85, 50L << 20, Math.max(128, d.allocationAlignment())),
                new CopyEngineModel(d.copyEngines(), 0, 1000 * GIGA, 2000, 0, 64, List.of()),
                new KernelModel(
                        Math.max(1, d.hardwareQueues()),
                        Math.clamp(d.priorities(), 1, 3),
                        1500,
                        1.5 * bandwidth / units,
                        1 << 18,
                        units,
                        Math.min(16, units),
                        32,
                        1,
                        0),
                new LaunchModel(8000, 3000, 1000, 3500, 1000, 2500, 3000, 500),
                new HostLinkModel(50 * GIGA, 50 * GIGA, 1000),
                fp8,
                Map.of());
    }

    private static void links(Machine.Builder builder, Topology topology) {
        int n = topology.devices();
        boolean direct = true;
        for (int from = 0; from < n; from++) {
            for (int to = from + 1; to < n; to++) {
                Link link = topology.link(from, to);
                boolean own =
                        link.hops() == 1 && (link.kind() == LinkKind.FABRIC || link.kind() == LinkKind.IN_PACKAGE);
                direct &= own;
                if (own) {
                    builder.link(model(link, topology.link(to, from), from, to, 1));
                }
            }
        }
        if (direct || n == 1) {
            return;
        }
        // Whatever has no link of its own meets at one switch.
        int hub = builder.switchNode("hub");
        for (int device = 0; device < n; device++) {
            int peer = device == 0 ? n - 1 : 0;
            builder.link(model(topology.link(device, peer), topology.link(peer, device), device, hub, 2));
        }
    }

    private static LinkModel model(Link link, Link back, int from, int to, int parts) {
        LinkKind kind = link.kind() == LinkKind.SWITCHED_FABRIC || link.kind() == LinkKind.SELF
                ? LinkKind.FABRIC
                : link.kind() == LinkKind.NONE ? LinkKind.HOST : link.kind();
        int width = Math.max(1, link.width());
        // What one flow reaches now; a nominal bandwidth above it leaves room for the fit.
        double one = Math.max(link.bandwidth(), 1) * GIGA / width / 0.8;
        double reverse = Math.max(back.bandwidth(), 1) * GIGA / width / 0.8;
        return new LinkModel(
                kind,
                link.name().isEmpty() ? "link" : link.name(),
                from,
                to,
                one,
                reverse,
                0.8,
                1,
                Math.max(100, link.latencyNanos() / parts),
                width,
                link.copyable() || link.kind() == LinkKind.NONE,
                link.addressable());
    }
}
