// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import java.util.List;

/** An allocator, or a model of one, that a trace is replayed through. Used by one thread. */
public interface ReplayTarget extends AutoCloseable {
    /** What reports call it. */
    String name();

    /**
     * Allocates.
     *
     * @param bytes 1 or more
     * @return an address that {@link #free} takes, or a negative number when there is no memory
     */
    long allocate(long bytes, int stream);

    /** Frees. */
    void free(long address, int stream);

    /** Another stream uses memory. */
    void recordUse(long address, int stream);

    /** An iteration ends. */
    void nextIteration();

    /** Bytes held from the device now. */
    long reservedBytes();

    /** The most bytes that were held from the device. */
    long peakReservedBytes();

    /** Bytes in use by the target's own count, -1 when it has none. */
    long peakAllocatedBytes();

    /** Calls of the device's allocator so far, returns included. */
    long deviceCalls();

    /** Allocations which succeeded only after giving memory back or waiting. */
    long retries();

    /** What it holds from the device, in address order. */
    List<ReplayPiece> pieces();

    /** Allocations served from a learned layout so far; 0 for targets that learn nothing. */
    default long plannedAllocations() {
        return 0;
    }

    /** The clock of its times, ns. */
    default long nanoTime() {
        return System.nanoTime();
    }

    /** Hands back what it holds. */
    @Override
    default void close() {}
}
