// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/**
 * How much the steps of a pool's memory were used of late, one bit for each step and iteration. HOT was used in each of the last 10 iterations, WARM in one of
 * the last 3, COLD in none of them. Before the first iteration ends everything counts as COLD, so that a pool whose user tells of no iterations still gives
 * idle memory back by time. Guarded by the arena's lock.
 */
final class Tiers {
    static final int HOT = 0;
    static final int WARM = 1;
    static final int COLD = 2;
    private static final int HOT_ITERATIONS = 10;
    private static final int WARM_ITERATIONS = 3;

    private final Bits[] used = new Bits[HOT_ITERATIONS];
    private final Bits hot = new Bits();
    private final Bits warm = new Bits();
    private final Bits touched = new Bits();
    private Bits current;
    private long[] idleSince = new long[1024];
    private int iterations;
    /** By tier, how often a request was served from its free memory. */
    final long[] hits = new long[3];

    Tiers() {
        for (int i = 0; i < HOT_ITERATIONS; i++) {
            used[i] = new Bits();
        }
        current = used[0];
    }

    /** Iterations ended so far. */
    int iterations() {
        return iterations;
    }

    /** Notes a use of steps {@code from..to}, both included. */
    void touch(int from, int to) {
        current.set(from, to);
        touched.set(from, to);
    }

    int tier(int step) {
        if (iterations == 0) {
            return COLD;
        }
        if (hot.get(step)) {
            return HOT;
        }
        return warm.get(step) || current.get(step) ? WARM : COLD;
    }

    /** Ends an iteration; what is out then was noted with {@link #touch} just before. */
    void nextIteration() {
        iterations++;
        int length = 0;
        for (Bits bits : used) {
            length = Math.max(length, bits.words.length);
        }
        hot.ensure(length << 6);
        warm.ensure(length << 6);
        for (int word = 0; word < length; word++) {
            long all = iterations >= HOT_ITERATIONS ? -1L : 0;
            long some = 0;
            for (int back = 0; back < HOT_ITERATIONS; back++) {
                long[] words = used[Math.floorMod(iterations - 1 - back, HOT_ITERATIONS)].words;
                long bits = word < words.length ? words[word] : 0;
                all &= bits;
                if (back < WARM_ITERATIONS) {
                    some |= bits;
                }
            }
            hot.words[word] = all;
            warm.words[word] = some;
        }
        current = used[iterations % HOT_ITERATIONS];
        current.clear();
    }

    /** Since when a step is idle, given that no block on it is out: since it was first asked for after its last use. */
    long idleSince(int step, long now) {
        if (step >= idleSince.length) {
            idleSince = java.util.Arrays.copyOf(idleSince, Math.max(step + 1, 2 * idleSince.length));
        }
        if (touched.get(step)) {
            touched.clear(step, step);
            idleSince[step] = now;
        }
        return idleSince[step];
    }
}
