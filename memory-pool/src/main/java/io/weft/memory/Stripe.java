// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.ArrayList;
import java.util.List;

/**
 * The share of a pool that the threads of one remainder of thread ids use: it stands for a per-thread cache, needs no thread-local, and dies with no thread.
 * Everything in it is guarded by its own lock.
 */
final class Stripe extends SpinLock {
    /** Spans that hold nothing are not worth a look below this, 4 MiB. */
    static final long FEW_SPANS = 4 << 20;

    // Keeps two stripes off one cache line whatever their order in the heap.
    @SuppressWarnings("unused")
    long pad0, pad1, pad2, pad3, pad4, pad5, pad6, pad7;

    /** Its place among the stripes. */
    final int number;

    /** Its heaps, one for each stream that it has served. */
    final List<Heap> heaps = new ArrayList<>();

    long allocations;
    long frees;
    /** Bytes asked for through this stripe and out. May be negative: what one stripe allocated, another may free. */
    long live;
    /** The most that {@code live} has been since the arena last took note. */
    long maxLive;
    /** What the arena has taken note of. */
    long noted;
    /** Allocations at the last upkeep. */
    long allocationsAtUpkeep;
    /** Bytes of its spans. */
    long spanBytes;
    /** Bytes of spans from which on those are given up that hold nothing, before another one is opened. */
    long flushAt = FEW_SPANS;

    @SuppressWarnings("unused")
    long pad8, pad9, pad10, pad11, pad12, pad13, pad14, pad15;

    Stripe(int number) {
        this.number = number;
    }
}
