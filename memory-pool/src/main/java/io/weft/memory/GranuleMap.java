// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;

/**
 * What lies at a granule, as one number: the block that starts there, a block of a learned layout, or the span that covers it with all that a free has to know of
 * it. One lookup thus tells what an address belongs to, without a look at any object. Two levels, so that growing copies a table of one entry for 128 MiB.
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
    private static final int STRIPE_SHIFT = 14;
    private static final int STRIPE_MASK = (1 << 4) - 1;
    private static final int STREAM_SHIFT = 18;
    private static final int STREAM_MASK = (1 << 16) - 1;
    private static final int WORD_SHIFT = 34;

    private static final int ROW_SHIFT = 13;
    private static final int ROW = 1 << ROW_SHIFT;

    private long[][] rows = new long[4][];

    /** The number at a granule, 0 for none. */
    long at(long granule) {
        long[][] all = rows;
        if (granule < 0 || granule >= (long) all.length << ROW_SHIFT) {
            return 0;
        }
        long[] row = all[(int) (granule >>> ROW_SHIFT)];
        return row == null ? 0 : row[(int) granule & (ROW - 1)];
    }

    void set(int granule, long number) {
        row(granule)[granule & (ROW - 1)] = number;
    }

    /** Puts a number over a run of granules. */
    void set(int from, int granules, long number) {
        int end = from + granules;
        for (int at = from; at < end; ) {
            int next = Math.min(end, (at | (ROW - 1)) + 1);
            int place = at & (ROW - 1);
            Arrays.fill(row(at), place, place + next - at, number);
            at = next;
        }
    }

    /** Puts a span's entry over its granules. */
    void set(Span span) {
        long entry = SPAN
                | (long) span.number << WORD_SHIFT
                | (long) span.stream << STREAM_SHIFT
                | (long) span.stripe.number << STRIPE_SHIFT
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

    /** The number of a span's stripe. */
    static int stripe(long entry) {
        return (int) (entry >>> STRIPE_SHIFT) & STRIPE_MASK;
    }

    /** A span's stream. */
    static int stream(long entry) {
        return (int) (entry >>> STREAM_SHIFT) & STREAM_MASK;
    }

    /** The number of the word of a span's first slot. */
    static int word(long entry) {
        return (int) (entry >>> WORD_SHIFT) & SlotWords.NUMBER_MASK;
    }

    private long[] row(int granule) {
        long[] row = rows[granule >>> ROW_SHIFT];
        if (row == null) {
            row = new long[ROW];
            rows[granule >>> ROW_SHIFT] = row;
        }
        return row;
    }

    /** Makes room for granules below this one. */
    void ensure(int granules) {
        int length = (granules + ROW - 1) >> ROW_SHIFT;
        if (length > rows.length) {
            rows = Arrays.copyOf(rows, Math.max(length, 2 * rows.length));
        }
    }
}
