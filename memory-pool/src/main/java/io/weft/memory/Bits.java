// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;

/** A growing bit set with fast ranges. */
final class Bits {
    long[] words = new long[16];

    void ensure(int bits) {
        if (bits > words.length << 6) {
            words = Arrays.copyOf(words, Math.max((bits + 63) >> 6, 2 * words.length));
        }
    }

    boolean get(int bit) {
        return bit >> 6 < words.length && (words[bit >> 6] & (1L << bit)) != 0;
    }

    /** Sets bits {@code from..to}, both included. */
    void set(int from, int to) {
        ensure(to + 1);
        int first = from >> 6;
        int last = to >> 6;
        long head = -1L << from;
        long tail = -1L >>> (63 - (to & 63));
        if (first == last) {
            set(first, head & tail);
            return;
        }
        set(first, head);
        for (int i = first + 1; i < last; i++) {
            set(i, -1L);
        }
        set(last, tail);
    }

    /** Most bits are set again and again; a write less leaves the line of the cache with every thread that reads it. */
    private void set(int word, long mask) {
        if ((words[word] & mask) != mask) {
            words[word] |= mask;
        }
    }

    /** Clears bits {@code from..to}, both included. */
    void clear(int from, int to) {
        for (int bit = from; bit <= to && bit >> 6 < words.length; bit++) {
            words[bit >> 6] &= ~(1L << bit);
        }
    }

    void clear() {
        Arrays.fill(words, 0);
    }
}
