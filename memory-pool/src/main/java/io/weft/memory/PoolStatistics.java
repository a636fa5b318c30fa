// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/**
 * A pool at one moment. Bytes as asked for are the caller's sizes; bytes in use include what size classes round up.
 *
 * @param allocations allocations so far
 * @param frees frees so far
 * @param liveBuffers buffers out now
 * @param allocatedBytes bytes asked for and out now
 * @param peakAllocatedBytes the most that {@code allocatedBytes} has been
 * @param usedBytes bytes out now with rounding
 * @param reservedBytes bytes held from the device now
 * @param peakReservedBytes the most that {@code reservedBytes} has been
 * @param deviceAllocations segments or page ranges asked for so far
 * @param deviceFrees segments or page ranges handed back so far
 * @param eventsRecorded events recorded to order reuse across streams
 * @param waitsInserted waits put on streams to reuse memory across streams
 * @param deferredFrees frees that had to wait for another stream
 * @param retries allocations which succeeded only after trimming or waiting
 * @param refusals allocations refused
 * @param hot bytes and hits by tier
 * @param warm bytes and hits by tier
 * @param cold bytes and hits by tier
 * @param tierMisses allocations that no idle memory could serve, so that the pool grew
 * @param plannedAllocations allocations served from the learned layout, without search
 * @param planDeviations iterations that left the learned layout
 */
public record PoolStatistics(
        long allocations,
        long frees,
        long liveBuffers,
        long allocatedBytes,
        long peakAllocatedBytes,
        long usedBytes,
        long reservedBytes,
        long peakReservedBytes,
        long deviceAllocations,
        long deviceFrees,
        long eventsRecorded,
        long waitsInserted,
        long deferredFrees,
        long retries,
        long refusals,
        Tier hot,
        Tier warm,
        Tier cold,
        long tierMisses,
        long plannedAllocations,
        long planDeviations) {
    /**
     * One tier of idle memory.
     *
     * @param bytes idle bytes in it now
     * @param hits requests it served so far
     */
    public record Tier(long bytes, long hits) {}

    /** {@code 1 - peak allocated / peak reserved}; 0 when nothing was reserved. */
    public double fragmentation() {
        return peakReservedBytes == 0 ? 0 : 1 - (double) peakAllocatedBytes / peakReservedBytes;
    }

    /** Share of the bytes in use that nobody asked for. */
    public double internalWaste() {
        return usedBytes == 0 ? 0 : 1 - (double) allocatedBytes / usedBytes;
    }
}
