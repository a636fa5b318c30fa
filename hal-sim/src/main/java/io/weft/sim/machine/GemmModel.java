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
 * @param waveQuantisation how much of a last wave that is not full is paid: 1 for all of it, as with the tiles listed alone; less where the library has more tiles than are listed, cuts the last wave along K, or the clock rises
 *     while units idle
 * @param concurrencyEfficiency share of the compute units' work that is left when several products run at once and contend for caches, above 0, at most 1
 */
public record GemmModel(
        Map<ElementType, Double> peakFlops,
        List<TileModel> tiles,
        int prologueK,
        int maxSplitK,
        double waveQuantisation,
        double concurrencyEfficiency) {
    public GemmModel {
        peakFlops = Map.copyOf(peakFlops);
        tiles = List.copyOf(tiles);
    }

    /** A library that pays a last wave in full. */
    public GemmModel(
            Map<ElementType, Double> peakFlops,
            List<TileModel> tiles,
            int prologueK,
            int maxSplitK,
            double concurrencyEfficiency) {
        this(peakFlops, tiles, prologueK, maxSplitK, 1, concurrencyEfficiency);
    }
}
