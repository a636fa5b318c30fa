// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** So many of a thing that a device has, and how many are taken. Safe for any thread; nothing waits. */
public final class Budget {
    private final String what;
    private final int limit;
    private final AtomicInteger used = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();
    private final AtomicLong refused = new AtomicLong();

    Budget(String what, int limit) {
        this.what = what;
        this.limit = limit;
    }

    /** Takes some, all or none; a refusal is counted. */
    boolean take(int count) {
        while (true) {
            int now = used.get();
            if (count > limit - now) {
                refused.incrementAndGet();
                return false;
            }
            if (used.compareAndSet(now, now + count)) {
                peak.accumulateAndGet(now + count, Math::max);
                return true;
            }
        }
    }

    /** Gives some back. */
    void give(int count) {
        used.addAndGet(-count);
    }

    /** What is counted, such as {@code streams}. */
    public String what() {
        return what;
    }

    /** How many there are. */
    public int limit() {
        return limit;
    }

    /** How many are taken. */
    public int used() {
        return used.get();
    }

    /** Most that were taken at once. */
    public int peak() {
        return peak.get();
    }

    /** How often there were not enough. */
    public long refused() {
        return refused.get();
    }
}
