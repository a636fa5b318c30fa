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
            words[first] |= head & tail;
            return;
        }
        words[first] |= head;
        for (int i = first + 1; i < last; i++) {
            words[i] = -1L;
        }
        words[last] |= tail;
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
