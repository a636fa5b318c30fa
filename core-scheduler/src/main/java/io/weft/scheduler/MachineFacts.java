// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.Device;
import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;

/** The few machine properties that a static rule looks at, and what follows from them. No performance model is asked. */
final class MachineFacts {
    /** What large GEMMs reach of the dense peak: 0.79 on an H200 (786 of 989 TFLOP/s bf16), 0.46 to 0.6 on an MI300X; between them. */
    private static final double ATTAINED = 0.7;

    /** Rows and columns of the GEMM tiles that libraries choose from. */
    private static final long[] TILES = {256, 128, 64};

    /** What each tile reaches of the largest one's rate: small tiles read operands more often. */
    private static final double[] TILE_RATE = {1, 0.9, 0.7};

    /** From the command's start to the first byte by a copy engine: 2 us submission (ROCm/iris, derive_params_copy_engine.py). */
    private static final double COPY_SETUP_NANOS = 2000;

    /** From one GEMM to the next on a stream: a few microseconds on every current device. */
    private static final double LAUNCH_NANOS = 4000;

    private final Platform platform;
    private final DeviceProperties device;

    MachineFacts(Platform platform) {
        this.platform = platform;
        this.device = platform.device(0).properties();
    }

    /** Compute units of a device, 0 when unknown. */
    int computeUnits() {
        return device.computeUnits();
    }

    /** Devices of the platform. */
    int devices() {
        return platform.devices().size();
    }

    boolean copyEngines() {
        for (Device each : platform.devices()) {
            if (each.properties().copyEngines() == 0) {
                return false;
            }
        }
        return true;
    }

    /** Whether devices reach one another through one port each, so that one peer at a time gets all of its bandwidth. */
    boolean sharedPorts() {
        return devices() > 1 && platform.topology().link(0, 1).kind() == LinkKind.SWITCHED_FABRIC;
    }

    /** FLOP per byte of memory traffic at which the device is balanced. */
    double balance(ElementType type) {
        return flops(type) / device.memoryBandwidth();
    }

    private double flops(ElementType type) {
        double peak = device.peakFlops().getOrDefault(type, 0.0);
        if (peak <= 0) {
            // A type that the device does not multiply is refused elsewhere; any rate will do here.
            peak = device.peakFlops().values().stream()
                    .mapToDouble(Double::doubleValue)
                    .max()
                    .orElse(1e12);
        }
        return peak * ATTAINED;
    }

    /** Waves of the smallest tiles over the compute units, not rounded: below 1, no choice of tile fills the device. */
    double waves(double rows, double columns) {
        return tiles(rows, columns, TILES[TILES.length - 1]) / Math.max(1, device.computeUnits());
    }

    private static double tiles(double rows, double columns, long tile) {
        return Math.ceil(rows / tile) * Math.ceil(columns / tile);
    }

    /** One of many equal GEMMs that follow one another on several streams, ns: the others fill what a wave leaves free, and the launch is hidden behind them. */
    double pieceNanos(int streams, double rows, double columns, double depth, ElementType type) {
        double units = Math.max(1, device.computeUnits());
        double compute = Double.POSITIVE_INFINITY;
        for (int i = 0; i < TILES.length; i++) {
            double waves = Math.max(tiles(rows, columns, TILES[i]) / units, 1.0 / streams);
            double perWave = 2.0 * TILES[i] * TILES[i] * depth * units / (flops(type) * TILE_RATE[i]);
            compute = Math.min(compute, waves * perWave);
        }
        double bytes = (rows * depth + depth * columns + rows * columns) * type.bytes();
        return LAUNCH_NANOS / streams + 1e9 * Math.max(compute, bytes / device.memoryBandwidth());
    }

    /**
     * GEMMs of this size, side by side on as many streams, ns: whole waves of the best tile against the memory's roof.
     *
     * @param together how many run at once
     */
    double gemmNanos(int together, double rows, double columns, double depth, ElementType type) {
        if (rows <= 0 || columns <= 0) {
            return 0;
        }
        double units = Math.max(1, device.computeUnits());
        double compute = Double.POSITIVE_INFINITY;
        for (int i = 0; i < TILES.length; i++) {
            double waves = Math.ceil(together * tiles(rows, columns, TILES[i]) / units);
            double perWave = 2.0 * TILES[i] * TILES[i] * depth * units / (flops(type) * TILE_RATE[i]);
            compute = Math.min(compute, waves * perWave);
        }
        double bytes = together * (rows * depth + depth * columns + rows * columns) * type.bytes();
        return LAUNCH_NANOS + 1e9 * Math.max(compute, bytes / device.memoryBandwidth());
    }

    /** The whole exchange, ns: pairs side by side over direct links, one after the other through a shared port. */
    double exchangeNanos(int ranks, double pairBytes, int chunks) {
        Topology topology = platform.topology();
        double slowest = 0;
        for (int to = 0; to < Math.min(ranks, devices()); to++) {
            double shared = 0;
            double direct = 0;
            for (int from = 0; from < Math.min(ranks, devices()); from++) {
                if (from == to) {
                    continue;
                }
                Link link = topology.link(from, to);
                double nanos = link.latencyNanos() + pairBytes / Math.max(link.bandwidth(), 1e-3);
                if (link.kind() == LinkKind.FABRIC && link.hops() == 1) {
                    direct = Math.max(direct, nanos);
                } else {
                    shared += nanos;
                }
            }
            slowest = Math.max(slowest, Math.max(direct, shared));
        }
        return slowest + chunks * COPY_SETUP_NANOS;
    }
}
