// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.ElementType;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.TileModel;

/**
 * How one device carries out one product, and what that takes when it is alone.
 *
 * <p><b>Model.</b> C is cut into macro-tiles; each compute unit works on one at a time, so the tiles run in {@code ceil(tiles / units)} waves, and one tile more than
 * a full wave costs a whole wave. A tile takes {@code 2 * rows * columns * (K + prologue) / (unit peak * efficiency)}. When there are few tiles, K may
 * be cut into parts, whose fp32 partial sums travel through memory, at the end and by a kernel of their own as far as {@link io.weft.sim.machine.GemmModel#splitKExposed()} says. A product that adds to C reads a tile of it at the tile's end, while its unit multiplies nothing ({@link io.weft.sim.machine.GemmModel#accumulateNanosPerKib()}). The fastest tile and split are taken, as a tuned library does. Over its waves the
 * product holds {@code tiles / waves} compute units on average: a last wave that is half empty leaves room for others. Where a library pays less of its last wave ({@link io.weft.sim.machine.GemmModel#waveQuantisation()}), waves are counted in between.
 *
 * <p>Memory traffic: the tiles of one wave form a block as square as the matrix allows; A is read once for each column of blocks and B once for each row of
 * blocks, unless all of A and B fits into the last-level cache, in which case each is read once. C is written once, and read once when beta is not 0.
 *
 * @param tile the chosen macro-tile
 * @param splitK parts into which K is cut
 * @param tiles macro-tiles over the whole batch and all parts
 * @param waves waves
 * @param waveSeconds seconds for all waves, memory apart
 * @param units compute units held on average
 * @param readA bytes of A from memory
 * @param readB bytes of B from memory
 * @param trafficC bytes of C to and from memory, partial sums included
 */
record GemmPlan(
        TileModel tile,
        int splitK,
        long tiles,
        long waves,
        double waveSeconds,
        double units,
        double readA,
        double readB,
        double trafficC) {

    private static final int BYTES_OF_PARTIAL_SUM = 4;
    private static final int BYTES_OF_KIB = 1024;
    private static final double SECONDS_PER_NANO = 1e-9;

    /** Bytes to and from memory. */
    double bytes() {
        return readA + readB + trafficC;
    }

    static GemmPlan choose(
            DeviceModel device, ElementType type, int bytesC, long m, long n, long k, int batch, boolean readsC) {
        double unitPeak = device.gemm().peakFlops().get(type) / device.computeUnits();
        double bandwidth = device.memory().reachableBandwidth();
        double accumulate = device.gemm().accumulateNanosPerKib() * SECONDS_PER_NANO / BYTES_OF_KIB;
        double exposed = device.gemm().splitKExposed();
        double start = device.kernels().startNanos() * SECONDS_PER_NANO;
        GemmPlan best = null;
        double bestSeconds = Double.POSITIVE_INFINITY;
        for (TileModel tile : device.gemm().tiles()) {
            long grid = ceil(m, tile.rows()) * ceil(n, tile.columns()) * batch;
            for (int split = 1; split <= device.gemm().maxSplitK(); split *= 2) {
                if (split > 1
                        && (grid * split > 2L * device.computeUnits()
                                || k / split < 2L * device.gemm().prologueK())) {
                    break;
                }
                long tiles = grid * split;
                long waves = ceil(tiles, device.computeUnits());
                double depth = Math.ceil((double) k / split) + device.gemm().prologueK();
                double perTile = 2.0 * tile.rows() * tile.columns() * depth / (unitPeak * tile.efficiency());
                if (readsC) {
                    perTile += (double) tile.rows() * tile.columns() * bytesC / split * accumulate;
                }
                double paid = device.gemm().waveQuantisation();
                double seconds =
                        perTile * (paid * waves + (1 - paid) * Math.max(1, (double) tiles / device.computeUnits()));
                if (split > 1) {
                    // Partial sums can be added only once the last of them is there.
                    double sums = 2.0 * m * n * batch * split * BYTES_OF_PARTIAL_SUM / bandwidth;
                    seconds += exposed * (sums + start);
                }
                if (seconds >= bestSeconds) {
                    continue;
                }
                GemmPlan plan =
                        withTraffic(device, type, bytesC, m, n, k, batch, readsC, tile, split, tiles, waves, seconds);
                double bound = Math.max(seconds, plan.bytes() / bandwidth);
                if (bound < bestSeconds) {
                    bestSeconds = bound;
                    best = plan;
                }
            }
        }
        return best;
    }

    private static GemmPlan withTraffic(
            DeviceModel device,
            ElementType type,
            int bytesC,
            long m,
            long n,
            long k,
            int batch,
            boolean readsC,
            TileModel tile,
            int split,
            long tiles,
            long waves,
            double seconds) {
        double a = (double) m * k * type.bytes() * batch;
        double b = (double) n * k * type.bytes() * batch;
        double c = (double) m * n * bytesC * batch;
        double readA = a;
        double readB = b;
        if (a + b > device.memory().cacheBytes()) {
            long gridRows = ceil(m, tile.rows());
            long gridColumns = ceil(n, tile.columns());
            long inWave = Math.min(gridRows * gridColumns, device.computeUnits());
            // A block of tiles as square as can be, in elements, inside the grid.
            double side = Math.sqrt((double) inWave * tile.rows() * tile.columns());
            double blockRows = Math.clamp(Math.rint(side / tile.rows()), 1.0, (double) gridRows);
            double blockColumns = Math.clamp(inWave / blockRows, 1.0, (double) gridColumns);
            blockRows = Math.clamp(inWave / blockColumns, 1.0, (double) gridRows);
            readA = a * Math.ceil(gridColumns / blockColumns);
            readB = b * Math.ceil(gridRows / blockRows);
        }
        double trafficC = readsC ? 2 * c : c;
        if (split > 1) {
            trafficC += 2.0 * m * n * batch * split * BYTES_OF_PARTIAL_SUM;
        }
        // What is paid of the last wave is held; with all of it paid this is tiles / waves.
        double paid = device.gemm().waveQuantisation();
        double held = tiles / (paid * waves + (1 - paid) * Math.max(1, (double) tiles / device.computeUnits()));
        return new GemmPlan(tile, split, tiles, waves, seconds, held, readA, readB, trafficC);
    }

    private static long ceil(long a, long b) {
        return (a + b - 1) / b;
    }
}
