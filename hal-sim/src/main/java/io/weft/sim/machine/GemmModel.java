// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.ElementType;
import java.util.List;
import java.util.Map;

/**
 * How a device multiplies matrices.
 *
 * @param peakFlops FLOP/s of the whole device by input element type, dense, a fused multiply-add being two
 * @param tiles the library's macro-tiles; the model takes the fastest for each product
 * @param prologueK length of the inner loop, in elements of K, whose time a tile spends outside its main loop (filling the pipeline, writing C)
 * @param maxSplitK most parts into which the library cuts K when there are too few tiles, 1 for never
 * @param splitKExposed share of the time for adding the partial sums of a product whose K is cut (their traffic and one kernel's start) that comes after its multiplications: 0 where all of it hides behind them, 1 where none does
 * @param waveQuantisation how much of a last wave that is not full is paid: 1 for all of it, as with the tiles listed alone; less where the library has more tiles than are listed, cuts the last wave along K, or the clock rises
 *     while units idle
 * @param accumulateNanosPerKib ns that a compute unit spends on reading each KiB of C at the end of a tile where the product adds to what is there (beta is not 0): nothing is multiplied meanwhile. 0 where that hides behind the multiplication
 * @param concurrencyEfficiency share of the compute units' work that is left when several products run at once and contend for caches, above 0, at most 1
 */
public record GemmModel(
        Map<ElementType, Double> peakFlops,
        List<TileModel> tiles,
        int prologueK,
        int maxSplitK,
        double splitKExposed,
        double waveQuantisation,
        double accumulateNanosPerKib,
        double concurrencyEfficiency) {
    public GemmModel {
        peakFlops = Map.copyOf(peakFlops);
        tiles = List.copyOf(tiles);
    }

    /** A library that pays a last wave in full, and hides partial sums and what it reads of C. */
    public GemmModel(
            Map<ElementType, Double> peakFlops,
            List<TileModel> tiles,
            int prologueK,
            int maxSplitK,
            double concurrencyEfficiency) {
        this(peakFlops, tiles, prologueK, maxSplitK, 0, 1, 0, concurrencyEfficiency);
    }

    /** The same with other tiles. */
    public GemmModel withTiles(List<TileModel> other) {
        return new GemmModel(
                peakFlops,
                other,
                prologueK,
                maxSplitK,
                splitKExposed,
                waveQuantisation,
                accumulateNanosPerKib,
                concurrencyEfficiency);
    }

    /** The same with another length outside the main loop. */
    public GemmModel withPrologueK(int length) {
        return new GemmModel(
                peakFlops,
                tiles,
                length,
                maxSplitK,
                splitKExposed,
                waveQuantisation,
                accumulateNanosPerKib,
                concurrencyEfficiency);
    }

    /** The same with another share of the last wave. */
    public GemmModel withWaveQuantisation(double share) {
        return new GemmModel(
                peakFlops,
                tiles,
                prologueK,
                maxSplitK,
                splitKExposed,
                share,
                accumulateNanosPerKib,
                concurrencyEfficiency);
    }

    /** The same with another time for reading C. */
    public GemmModel withAccumulateNanosPerKib(double nanos) {
        return new GemmModel(
                peakFlops, tiles, prologueK, maxSplitK, splitKExposed, waveQuantisation, nanos, concurrencyEfficiency);
    }

    /** The same with another share that is left of products side by side. */
    public GemmModel withConcurrencyEfficiency(double share) {
        return new GemmModel(
                peakFlops, tiles, prologueK, maxSplitK, splitKExposed, waveQuantisation, accumulateNanosPerKib, share);
    }

    /** The same with another share of partial sums that are added at the end. */
    public GemmModel withSplitKExposed(double share) {
        return new GemmModel(
                peakFlops,
                tiles,
                prologueK,
                maxSplitK,
                share,
                waveQuantisation,
                accumulateNanosPerKib,
                concurrencyEfficiency);
    }
}
