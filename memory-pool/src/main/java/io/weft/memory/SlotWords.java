// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.util.Arrays;

/**
 * The words of all slots of a pool, by number: one chunk after the other, so that growing moves none. A span's words lie in one chunk. A magazine keeps a slot's number
 * beside its address, and so reaches its word without looking for its span. Grown under the arena's lock; a word is guarded by the lock of its span's stripe.
 */
final class SlotWords {
    /** Bits of a number: 134 million slots, 16 GiB in the smallest class. */
    static final int NUMBER_BITS = 27;

    static final int NUMBER_MASK = (1 << NUMBER_BITS) - 1;
    /** 2^13 words, 32 KiB; the largest span has 512 slots. */
    private static final int CHUNK_SHIFT = 13;

    private static final int CHUNK = 1 << CHUNK_SHIFT;
    private static final int MOST_CHUNKS = 1 << (NUMBER_BITS - CHUNK_SHIFT);

    private int[][] chunks = {new int[CHUNK]};
    private int next;

    /** The number of the first of so many new words, all of which are 0. */
    int reserve(int count) {
        if ((next & (CHUNK - 1)) + count > CHUNK || next == chunks.length << CHUNK_SHIFT) {
            int length = chunks.length;
            if (length == MOST_CHUNKS) {
                throw new AcceleratorException(
                        ErrorCode.OUT_OF_MEMORY, "allocate", "a pool has at most " + (1 << NUMBER_BITS) + " slots");
            }
            int[][] more = Arrays.copyOf(chunks, length + 1);
            more[length] = new int[CHUNK];
            chunks = more;
            next = length << CHUNK_SHIFT;
        }
        int first = next;
        next += count;
        return first;
    }

    /** The chunk of a word, in which it is at {@link #offset}. */
    int[] chunk(int number) {
        return chunks[number >>> CHUNK_SHIFT];
    }

    /** The place of a word in its chunk. */
    static int offset(int number) {
        return number & (CHUNK - 1);
    }
}
