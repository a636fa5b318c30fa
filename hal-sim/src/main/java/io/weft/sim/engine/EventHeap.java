// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import java.util.Arrays;

/**
 * Pending instants in a 4-ary heap of primitives, ordered by (time, age of the handle).
 *
 * <p>A handle is created once, may be set, moved and removed any number of times, and is released at the end. Its age
 * is its order of creation, and decides between equal times; moving a handle does not change its age. So the order of
 * delivery depends on nothing but what the caller asked for. Nothing is allocated once the arrays have grown to the
 * greatest number of handles.
 *
 * <p>Layout: each heap place is a pair of neighbouring longs, the time and a word with the age in the upper and the
 * handle in the lower {@value #HANDLE_BITS} bits. The four children of a place are 64 consecutive bytes. The root taken
 * by {@link #poll()} stays a hole until the next call: mostly the next event is set at once and sinks from there, which
 * halves the work.
 *
 * <p>Devices that work in step have many events at one instant. When those are a good part of all that is pending, they are taken out of the heap together, in one pass, and handed out one by one from a sorted row; what is left becomes a heap
 * again. So each costs a few steps instead of a way down the heap. Not safe for use by several threads.
 */
public final class EventHeap {
    private static final int HANDLE_BITS = 24;
    private static final int MAX_HANDLES = 1 << HANDLE_BITS;
    private static final long HANDLE_MASK = MAX_HANDLES - 1;
    private static final long FREE = -1L;
    private static final int ABSENT = -1;
    /** Places in the row of events of one instant are kept as {@code IN_ROW - index}. */
    private static final int IN_ROW = -2;
    /** A row is made when it takes at least one in so many of all pending events. */
    private static final int ROW_SHARE = 4;
    /** Below this a way down the heap is as short as a pass over it. */
    private static final int SMALLEST_ROW = 8;
    /** Longer rows are made only of what is sorted already: the JDK's sort takes memory for longer ones. */
    private static final int LARGEST_SORT = 4096;

    private final long lastAge;
    private long[] heap;
    /** Places in use, the hole included. */
    private int size;
    /** The root has been taken and not yet replaced. */
    private boolean hole;
    /** Place in the heap by handle, ABSENT, or IN_ROW less the place in the row. */
    private int[] place;
    /** Age and handle packed, by handle; FREE when the handle is not in use. */
    private long[] word;

    private int[] freeHandles;
    private int freeCount;
    private int handles;
    private long nextAge;

    /** Events of one instant, by age: words from {@code rowHead} on, FREE where one was withdrawn. */
    private long[] row;

    private long rowTime;
    private int rowHead;
    /** Of them, those that are still pending. */
    private int rowLiving;
    /** An instant with too few events for a row. */
    private long thinTime;

    /** An empty heap. */
    public EventHeap() {
        this((1L << (63 - HANDLE_BITS)) - 1);
    }

    /** An empty heap that renumbers ages after {@code lastAge}; tests use a small one. */
    EventHeap(long lastAge) {
        this.lastAge = lastAge;
        heap = new long[2 * 64];
        place = new int[64];
        word = new long[64];
        freeHandles = new int[64];
        row = new long[64];
        thinTime = -1;
    }

    /**
     * A new handle, younger than all before it and not yet pending.
     *
     * @return the handle, 0 or more; numbers of released handles are used again
     * @throws IllegalStateException if 16,777,216 handles are in use
     */
    public int create() {
        if (nextAge > lastAge) {
            renumber();
        }
        int handle;
        if (freeCount > 0) {
            handle = freeHandles[--freeCount];
        } else {
            handle = handles;
            if (handle == word.length) {
                grow();
            }
            handles++;
        }
        word[handle] = nextAge++ << HANDLE_BITS | handle;
        place[handle] = ABSENT;
        return handle;
    }

    /**
     * Creates a handle which is due at a time.
     *
     * @param time the instant
     * @return the handle
     */
    public int push(long time) {
        int handle = create();
        set(handle, time);
        return handle;
    }

    /**
     * Makes a handle due at a time, whether it was pending or not.
     *
     * @param handle a created handle
     * @param time the instant
     */
    public void set(int handle, long time) {
        if (time < 0) {
            throw new IllegalArgumentException("an event cannot be due before 0, at " + time);
        }
        long w = word[handle];
        int at = place[handle];
        if (at < 0) {
            if (at != ABSENT) {
                withdraw(handle, at);
            }
            if (hole) {
                hole = false;
                down(0, time, w);
            } else {
                up(size++, time, w);
            }
            return;
        }
        if (hole) {
            fillHole();
            at = place[handle];
        }
        if (time <= heap[2 * at]) {
            up(at, time, w);
        } else {
            down(at, time, w);
        }
    }

    /**
     * Makes a handle not pending; it stays usable. Does nothing if it was not pending.
     *
     * @param handle a created handle
     */
    public void remove(int handle) {
        int at = place[handle];
        if (at < 0) {
            if (at != ABSENT) {
                withdraw(handle, at);
            }
            return;
        }
        if (hole) {
            fillHole();
            at = place[handle];
        }
        place[handle] = ABSENT;
        int last = --size;
        if (at == last) {
            return;
        }
        long time = heap[2 * last];
        long w = heap[2 * last + 1];
        if (at > 0 && before(time, w, (at - 1) >>> 2)) {
            up(at, time, w);
        } else {
            down(at, time, w);
        }
    }

    /**
     * Gives a handle back; it must not be used afterwards.
     *
     * @param handle a created handle
     */
    public void release(int handle) {
        remove(handle);
        word[handle] = FREE;
        freeHandles[freeCount++] = handle;
    }

    /**
     * Takes the first handle out. It stays created: set it again or release it.
     *
     * @return the handle with the least (time, age)
     * @throws IllegalStateException if nothing is pending
     */
    public int poll() {
        if (hole) {
            fillHole();
        }
        // A child of equal time is the sign of an instant with many events. What follows is kept short, so that it is
        // compiled into the callers.
        if (rowLiving != 0 || (size >= SMALLEST_ROW && heap[2] == heap[0])) {
            return pollCrowded();
        }
        if (size == 0) {
            throw new IllegalStateException("no event is pending");
        }
        return pollHeap();
    }

    private int pollCrowded() {
        if (rowLiving == 0) {
            if (heap[4] != heap[0] || !makeRow(heap[0])) {
                return pollHeap();
            }
        } else if (size > 0 && (heap[0] < rowTime || (heap[0] == rowTime && heap[1] < firstOfRow()))) {
            return pollHeap();
        }
        int handle = (int) (firstOfRow() & HANDLE_MASK);
        rowHead++;
        rowLiving--;
        place[handle] = ABSENT;
        return handle;
    }

    private int pollHeap() {
        int handle = (int) (heap[1] & HANDLE_MASK);
        place[handle] = ABSENT;
        hole = true;
        return handle;
    }

    /** The word of the first event of a row that has one. */
    private long firstOfRow() {
        while (row[rowHead] == FREE) {
            rowHead++;
        }
        return row[rowHead];
    }

    private void withdraw(int handle, int at) {
        row[IN_ROW - at] = FREE;
        rowLiving--;
        place[handle] = ABSENT;
    }

    /** Takes the events of the earliest instant out of the heap into the empty row, if they are many. */
    private boolean makeRow(long time) {
        if (time == thinTime || !isCrowded(time)) {
            thinTime = time;
            return false;
        }
        long[] h = heap;
        int n = size;
        int found = 0;
        boolean sorted = true;
        long last = -1;
        for (int i = 0; i < n; i++) {
            if (h[2 * i] == time) {
                long w = h[2 * i + 1];
                sorted &= w > last;
                last = w;
                row[found++] = w;
            }
        }
        if (!sorted) {
            if (found > LARGEST_SORT) {
                thinTime = time;
                return false;
            }
            Arrays.sort(row, 0, found);
        }
        for (int i = 0; i < found; i++) {
            place[(int) (row[i] & HANDLE_MASK)] = IN_ROW - i;
        }
        int left = 0;
        for (int i = 0; i < n; i++) {
            if (h[2 * i] != time) {
                h[2 * left] = h[2 * i];
                h[2 * left + 1] = h[2 * i + 1];
                place[(int) (h[2 * left + 1] & HANDLE_MASK)] = left;
                left++;
            }
        }
        size = left;
        for (int i = (left - 2) >> 2; i >= 0; i--) {
            down(i, h[2 * i], h[2 * i + 1]);
        }
        rowTime = time;
        rowHead = 0;
        rowLiving = found;
        return true;
    }

    /** Whether enough events of the earliest instant are pending. They hang together at the top of the heap, so it takes no more steps than there are of them. */
    private boolean isCrowded(long time) {
        long[] h = heap;
        long[] queue = row;
        int n = size;
        int needed = (n + ROW_SHARE - 1) / ROW_SHARE;
        int found = 1;
        queue[0] = 0;
        for (int i = 0; i < found && found < needed; i++) {
            int first = 4 * (int) queue[i] + 1;
            for (int child = first; child < Math.min(first + 4, n); child++) {
                if (h[2 * child] == time) {
                    queue[found++] = child;
                }
            }
        }
        return found >= needed;
    }

    /**
     * The earliest time.
     *
     * @return the time of the handle that {@link #poll()} would return, or {@link VirtualTime#NEVER} if none is pending
     */
    public long minTime() {
        if (hole) {
            fillHole();
        }
        long first = size == 0 ? VirtualTime.NEVER : heap[0];
        return rowLiving == 0 ? first : Math.min(rowTime, first);
    }

    /**
     * The time at which a handle is due.
     *
     * @param handle a created handle
     * @return its time, or {@link VirtualTime#NEVER} if it is not pending
     */
    public long time(int handle) {
        int at = place[handle];
        if (at <= IN_ROW) {
            return rowTime;
        }
        return at == ABSENT ? VirtualTime.NEVER : heap[2 * at];
    }

    /**
     * The number of pending handles.
     *
     * @return 0 or more
     */
    public int size() {
        return (hole ? size - 1 : size) + rowLiving;
    }

    /** Forgets all handles and ages; keeps the memory. */
    public void clear() {
        size = 0;
        hole = false;
        rowLiving = 0;
        thinTime = -1;
        handles = 0;
        freeCount = 0;
        nextAge = 0;
    }

    private void fillHole() {
        hole = false;
        int last = --size;
        if (last > 0) {
            down(0, heap[2 * last], heap[2 * last + 1]);
        }
    }

    private boolean before(long time, long w, int at) {
        long t = heap[2 * at];
        return time < t || (time == t && w < heap[2 * at + 1]);
    }

    private void up(int from, long time, long w) {
        long[] h = heap;
        int[] p = place;
        int at = from;
        while (at > 0) {
            int parent = (at - 1) >>> 2;
            long t = h[2 * parent];
            long x = h[2 * parent + 1];
            if (t < time || (t == time && x < w)) {
                break;
            }
            h[2 * at] = t;
            h[2 * at + 1] = x;
            p[(int) (x & HANDLE_MASK)] = at;
            at = parent;
        }
        h[2 * at] = time;
        h[2 * at + 1] = w;
        p[(int) (w & HANDLE_MASK)] = at;
    }

    private void down(int from, long time, long w) {
        long[] h = heap;
        int[] p = place;
        int n = size;
        int at = from;
        while (true) {
            int child = 4 * at + 1;
            if (child >= n) {
                break;
            }
            int best = child;
            long t = h[2 * child];
            long x = h[2 * child + 1];
            if (child + 3 < n) {
                // Two pairs, then their winners, without branches, which nobody could predict.
                long t1 = h[2 * child + 2];
                long x1 = h[2 * child + 3];
                long t2 = h[2 * child + 4];
                long x2 = h[2 * child + 5];
                long t3 = h[2 * child + 6];
                long x3 = h[2 * child + 7];
                long one = less(t1, x1, t, x);
                long three = less(t3, x3, t2, x2);
                t += (t1 - t) & one;
                x += (x1 - x) & one;
                t2 += (t3 - t2) & three;
                x2 += (x3 - x2) & three;
                long upper = less(t2, x2, t, x);
                t += (t2 - t) & upper;
                x += (x2 - x) & upper;
                best += (int) ((upper & (2 - three)) | (~upper & -one));
            } else {
                for (int i = child + 1; i < n; i++) {
                    if (before(h[2 * i], h[2 * i + 1], best)) {
                        best = i;
                    }
                }
                t = h[2 * best];
                x = h[2 * best + 1];
            }
            if (time < t || (time == t && w < x)) {
                break;
            }
            h[2 * at] = t;
            h[2 * at + 1] = x;
            p[(int) (x & HANDLE_MASK)] = at;
            at = best;
        }
        h[2 * at] = time;
        h[2 * at + 1] = w;
        p[(int) (w & HANDLE_MASK)] = at;
    }

    /** All ones if (t, w) comes before (u, x), else 0; none of them is negative. */
    private static long less(long t, long w, long u, long x) {
        return ((t - u) >> 63) | ((((t ^ u) - 1) >> 63) & ((w - x) >> 63));
    }

    private void grow() {
        if (handles == MAX_HANDLES) {
            throw new IllegalStateException("more than " + MAX_HANDLES + " events pending at once");
        }
        int length = 2 * word.length;
        heap = Arrays.copyOf(heap, 2 * length);
        place = Arrays.copyOf(place, length);
        word = Arrays.copyOf(word, length);
        freeHandles = Arrays.copyOf(freeHandles, length);
        row = Arrays.copyOf(row, length);
    }

    /** Gives living handles the ages 0, 1, 2, ... in their present order, which keeps the heap a heap. */
    private void renumber() {
        long[] living = new long[handles];
        int n = 0;
        for (int handle = 0; handle < handles; handle++) {
            if (word[handle] != FREE) {
                living[n++] = word[handle];
            }
        }
        if (n > lastAge) {
            throw new IllegalStateException("more than " + lastAge + " living events");
        }
        Arrays.sort(living, 0, n);
        for (int i = 0; i < n; i++) {
            int handle = (int) (living[i] & HANDLE_MASK);
            word[handle] = (long) i << HANDLE_BITS | handle;
            int at = place[handle];
            if (at <= IN_ROW) {
                row[IN_ROW - at] = word[handle];
            } else if (at != ABSENT) {
                heap[2 * at + 1] = word[handle];
            }
        }
        nextAge = n;
    }
}
