// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;

/**
 * Which span covers a granule. Two levels, so that growing copies a table of one entry for 2 MiB and memory without spans costs nothing more. Written under the
 * arena's lock and the span's stripe's; read without one, where an old answer can only be met by who frees what is not out.
 */
final class SpanMap {
    private static final int STEP_SHIFT = 7;
    private static final int STEP = 1 << STEP_SHIFT;

    private Span[][] steps = new Span[64][];

    /** The span, or null for none. */
    Span at(long granule) {
        Span[][] all = steps;
        int step = (int) (granule >>> STEP_SHIFT);
        if (granule < 0 || granule >= (long) all.length << STEP_SHIFT) {
            return null;
        }
        Span[] spans = all[step];
        return spans == null ? null : spans[(int) granule & (STEP - 1)];
    }

    /** The same where there is one. */
    Span covering(long address) {
        return steps[(int) (address >>> (SizeClasses.GRANULE_SHIFT + STEP_SHIFT))][
                (int) (address >>> SizeClasses.GRANULE_SHIFT) & (STEP - 1)];
    }

    /** Makes room for granules below this one. */
    void ensure(int granules) {
        int length = (granules + STEP - 1) >> STEP_SHIFT;
        if (length > steps.length) {
            steps = Arrays.copyOf(steps, Math.max(length, 2 * steps.length));
        }
    }

    /** Puts a span over granules, or takes it away with null. */
    void set(int from, int granules, Span span) {
        for (int granule = from; granule < from + granules; granule++) {
            Span[] spans = steps[granule >>> STEP_SHIFT];
            if (spans == null) {
                spans = new Span[STEP];
                steps[granule >>> STEP_SHIFT] = spans;
            }
            spans[granule & (STEP - 1)] = span;
        }
    }
}
