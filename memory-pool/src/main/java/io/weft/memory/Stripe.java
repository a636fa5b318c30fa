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

    // The lock keeps off what lies before; this keeps off what lies behind.
    @SuppressWarnings("unused")
    long after0, after1, after2, after3, after4, after5, after6, after7;

    Stripe(int number) {
        this.number = number;
    }
}
