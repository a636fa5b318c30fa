// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.util.Arrays;

/**
 * The words of all slots of a pool, by number: one chunk after the other, so that growing moves none. A span's words lie in one chunk, and no two spans' on one cache
 * line, since their threads would take it from each other. A magazine keeps a slot's number beside its address, and so reaches its word without looking for its span.
 * Grown under the arena's lock; a word is guarded by the lock of its span's stripe.
 */
final class SlotWords {
    /** Bits of a number: 134 million slots, 16 GiB in the smallest class. */
    static final int NUMBER_BITS = 27;

    static final int NUMBER_MASK = (1 << NUMBER_BITS) - 1;
    /** 2^13 words, 32 KiB; the largest span has 512 slots. */
    private static final int CHUNK_SHIFT = 13;

    private static final int CHUNK = 1 << CHUNK_SHIFT;
    private static final int MOST_CHUNKS = 1 << (NUMBER_BITS - CHUNK_SHIFT);
    /** Words of a cache line of 64 bytes. */
    private static final int LINE_SHIFT = 4;

    private static final int LINE = 1 << LINE_SHIFT;

    private int[][] chunks = {new int[CHUNK]};
    /** By line: the span of its words. */
    private Span[] spans = new Span[CHUNK >> LINE_SHIFT];

    /** The first line of a chunk is left out, for all threads read the array's length beside it. */
    private int next = LINE;

    /** The number of the first of a span's words, all of which are 0. */
    int reserve(Span span, int count) {
        // Arrays need not start on a line, hence one more.
        int lines = ((count + LINE - 1) >> LINE_SHIFT) + 1;
        if ((next & (CHUNK - 1)) + (lines << LINE_SHIFT) > CHUNK || next == chunks.length << CHUNK_SHIFT) {
            int length = chunks.length;
            if (length == MOST_CHUNKS) {
                throw new AcceleratorException(
                        ErrorCode.OUT_OF_MEMORY, "allocate", "a pool has at most " + (1 << NUMBER_BITS) + " slots");
            }
            int[][] more = Arrays.copyOf(chunks, length + 1);
            more[length] = new int[CHUNK];
            spans = Arrays.copyOf(spans, (length + 1) << (CHUNK_SHIFT - LINE_SHIFT));
            chunks = more;
            next = (length << CHUNK_SHIFT) + LINE;
        }
        int first = next;
        Arrays.fill(spans, first >> LINE_SHIFT, (first >> LINE_SHIFT) + lines, span);
        next += lines << LINE_SHIFT;
        return first;
    }

    /** The span to which a word belongs. The caller holds the lock of the span's stripe, or the arena's. */
    Span span(int number) {
        return spans[number >>> LINE_SHIFT];
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
