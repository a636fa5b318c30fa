// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.group;

/**
 * The event ring of one group: every launch claims the next place, and places come free in the order in which they were claimed, as hardware rings do. A launch that ends early leaves its place taken until
 * those before it have ended. A full ring refuses: that is the flow control, and the caller decides whether it waits.
 *
 * <p>Safe for any thread; nothing waits and nothing is allocated.
 */
public final class EventRing {
    /** Places of a ring, a power of two. */
    public static final int DEPTH = 1024;

    /** The answer of {@link #claim()} when the ring is full. */
    public static final long FULL = -1;

    private static final int MASK = DEPTH - 1;

    private final boolean[] ended = new boolean[DEPTH];
    /** Places ever claimed; the next claim gets this number. */
    private long tail;
    /** Places ever freed; the oldest claim that has not ended. */
    private long head;

    private long refused;
    private int peak;

    EventRing() {}

    /** The number of the claim, from 0 and ascending, or {@link #FULL}, which is counted. */
    public synchronized long claim() {
        int used = (int) (tail - head);
        if (used == DEPTH) {
            refused++;
            return FULL;
        }
        peak = Math.max(peak, used + 1);
        ended[(int) tail & MASK] = false;
        return tail++;
    }

    /** The launch of a claim has ended: {@link GroupResult#OK}, or {@link GroupResult#STALE} when it had before or was never claimed. */
    public synchronized GroupResult end(long claim) {
        if (claim < head || claim >= tail || ended[(int) claim & MASK]) {
            return GroupResult.STALE;
        }
        ended[(int) claim & MASK] = true;
        while (head < tail && ended[(int) head & MASK]) {
            head++;
        }
        return GroupResult.OK;
    }

    /** Places taken now, those included whose launch has ended behind one that has not. */
    public synchronized int used() {
        return (int) (tail - head);
    }

    /** Most that were ever taken at once. */
    public synchronized int peak() {
        return peak;
    }

    /** How often the ring was full. */
    public synchronized long refused() {
        return refused;
    }

    /** Launches so far. */
    public synchronized long claims() {
        return tail;
    }
}
