// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

/**
 * A device's memory.
 *
 * @param bytes size
 * @param bandwidth peak bytes/s, read and write together
 * @param efficiency share of the peak that real traffic reaches
 * @param cacheBytes last-level cache that serves repeated reads of a GEMM's operands
 * @param allocationAlignment bytes, a power of two, at least 128
 */
public record MemoryModel(long bytes, double bandwidth, double efficiency, long cacheBytes, long allocationAlignment) {
    /** Bytes/s that traffic can reach. */
    public double reachableBandwidth() {
        return bandwidth * efficiency;
    }
}
