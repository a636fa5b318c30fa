// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;

/**
 * What lies at a granule, as one number: the block that starts there, the span that covers it, a block of a learned layout, or nothing. One lookup thus tells what an
 * address belongs to. Two levels, so that growing copies a table of one entry for 2 MiB; numbers and no references, so that covering a span costs no write barrier.
 *
 * <p>Written under the arena's lock, and for spans under their stripe's, too; {@link #span} may be asked without one, where an old answer can only be met by who frees
 * what is not out.
 */
final class GranuleMap {
    /** From here on a number is a span's. */
    static final int SPAN = 1 << 30;
    /** What is there where the last block or span was freed. */
    static final int FREED = Integer.MIN_VALUE;

    private static final int STEP_SHIFT = 7;
    private static final int STEP = 1 << STEP_SHIFT;

    private int[][] steps = new int[64][];
    private Span[] spans = new Span[64];
    private int spanCount;

    /** The number at a granule below the pool's top, 0 for none. */
    int at(int granule) {
        int[] numbers = steps[granule >>> STEP_SHIFT];
        return numbers == null ? 0 : numbers[granule & (STEP - 1)];
    }

    /** The span that covers any granule, null for none. */
    Span span(long granule) {
        int[][] all = steps;
        int step = (int) (granule >>> STEP_SHIFT);
        if (granule < 0 || granule >= (long) all.length << STEP_SHIFT) {
            return null;
        }
        int[] numbers = all[step];
        int number = numbers == null ? 0 : numbers[(int) granule & (STEP - 1)];
        return number >= SPAN ? spans[number - SPAN] : null;
    }

    void set(int granule, int number) {
        row(granule)[granule & (STEP - 1)] = number;
    }

    /** Gives a span its number. */
    int register(Span span) {
        if (spanCount == spans.length) {
            spans = Arrays.copyOf(spans, 2 * spanCount);
        }
        spans[spanCount] = span;
        return SPAN + spanCount++;
    }

    /** Puts a number over a run of granules. */
    void set(int from, int granules, int number) {
        int end = from + granules;
        for (int at = from; at < end; ) {
            int next = Math.min(end, (at | (STEP - 1)) + 1);
            int place = at & (STEP - 1);
            Arrays.fill(row(at), place, place + next - at, number);
            at = next;
        }
    }

    private int[] row(int granule) {
        int[] numbers = steps[granule >>> STEP_SHIFT];
        if (numbers == null) {
            numbers = new int[STEP];
            steps[granule >>> STEP_SHIFT] = numbers;
        }
        return numbers;
    }

    /** Makes room for granules below this one. */
    void ensure(int granules) {
        int length = (granules + STEP - 1) >> STEP_SHIFT;
        if (length > steps.length) {
            steps = Arrays.copyOf(steps, Math.max(length, 2 * steps.length));
        }
    }
}
