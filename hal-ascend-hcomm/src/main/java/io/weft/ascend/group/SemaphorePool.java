// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.group;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The 32 semaphores of one group. A semaphore is named by a token that carries its group's number, so that one group's pool can tell a token of another.
 *
 * <p>Safe for any thread; nothing waits and nothing is allocated.
 */
public final class SemaphorePool {
    /** Semaphores of a group: one bit each of an {@code int}. */
    public static final int SIZE = 32;

    /** The answer of {@link #acquire()} when there is none. */
    public static final long NONE = -1;

    private final int group;
    /** A set bit is a semaphore that is taken. */
    private final AtomicInteger taken = new AtomicInteger();

    private final AtomicInteger peak = new AtomicInteger();
    private final AtomicLong refused = new AtomicLong();

    SemaphorePool(int group) {
        this.group = group;
    }

    /** A token, or {@link #NONE} when all are taken, which is counted. */
    public long acquire() {
        while (true) {
            int now = taken.get();
            if (now == -1) {
                refused.incrementAndGet();
                return NONE;
            }
            int index = Integer.numberOfTrailingZeros(~now);
            int then = now | 1 << index;
            if (taken.compareAndSet(now, then)) {
                notePeak(Integer.bitCount(then));
                return (long) group << Integer.SIZE | index;
            }
        }
    }

    private void notePeak(int used) {
        int before = peak.get();
        while (used > before && !peak.compareAndSet(before, used)) {
            before = peak.get();
        }
    }

    /** Gives a token back: {@link GroupResult#OK}, {@link GroupResult#FOREIGN} or {@link GroupResult#STALE}. */
    public GroupResult release(long token) {
        if ((int) (token >>> Integer.SIZE) != group) {
            return GroupResult.FOREIGN;
        }
        int index = (int) token;
        if (index < 0 || index >= SIZE) {
            return GroupResult.STALE;
        }
        int bit = 1 << index;
        while (true) {
            int now = taken.get();
            if ((now & bit) == 0) {
                return GroupResult.STALE;
            }
            if (taken.compareAndSet(now, now & ~bit)) {
                return GroupResult.OK;
            }
        }
    }

    /** Semaphores taken now. */
    public int used() {
        return Integer.bitCount(taken.get());
    }

    /** Most that were ever taken at once. */
    public int peak() {
        return peak.get();
    }

    /** How often there was none. */
    public long refused() {
        return refused.get();
    }
}
