// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;

/**
 * What lies at a granule, as one number: the block that starts there, a block of a learned layout, or the span that covers it with all that a free has to know of
 * it. One lookup thus tells what an address belongs to, without a look at any object.
 *
 * <p>Written under the arena's lock, and for spans under their stripe's, too; {@link #at} may be asked without one, where an old answer can only be met by who frees
 * what is not out.
 */
final class GranuleMap {
    /** From here on a number is a span's entry. */
    static final long SPAN = 1L << 62;
    /** What is there where the last block or span was freed. */
    static final long FREED = Long.MIN_VALUE;

    /** Most granules of a span, for which an entry has room. */
    static final int MOST_GRANULES = 1 << 6;

    private static final int CLASS_SHIFT = 6;
    private static final int CLASS_MASK = (1 << 8) - 1;
    private static final int PLACE_SHIFT = 14;
    private static final int WORD_SHIFT = 34;

    private long[] entries = new long[1 << 10];

    /** The number at a granule, 0 for none. */
    long at(long granule) {
        long[] all = entries;
        return granule >= 0 && granule < all.length ? all[(int) granule] : 0;
    }

    void set(int granule, long number) {
        entries[granule] = number;
    }

    /** Puts a number over a run of granules. */
    void set(int from, int granules, long number) {
        Arrays.fill(entries, from, from + granules, number);
    }

    /** Puts a span's entry over its granules. */
    void set(Span span) {
        long entry = SPAN
                | (long) span.number << WORD_SHIFT
                | (long) PoolCore.place(span.stream, span.stripe) << PLACE_SHIFT
                | (long) span.sizeClass << CLASS_SHIFT;
        int from = (int) (span.start >> SizeClasses.GRANULE_SHIFT);
        for (int i = 0; i < span.granules; i++) {
            set(from + i, entry + i);
        }
    }

    /** Granules of a span before this one. */
    static int before(long entry) {
        return (int) entry & (MOST_GRANULES - 1);
    }

    /** The size class of a span. */
    static int sizeClass(long entry) {
        return (int) (entry >>> CLASS_SHIFT) & CLASS_MASK;
    }

    /** The place of a span's heap, {@link PoolCore#place}. */
    static int place(long entry) {
        return (int) (entry >>> PLACE_SHIFT) & (PoolCore.PLACES - 1);
    }

    /** The number of the word of a span's first slot. */
    static int word(long entry) {
        return (int) (entry >>> WORD_SHIFT) & SlotWords.NUMBER_MASK;
    }

    /** Makes room for granules below this one. */
    void ensure(int granules) {
        if (granules > entries.length) {
            entries = Arrays.copyOf(entries, Math.max(granules, 2 * entries.length));
        }
    }
}
