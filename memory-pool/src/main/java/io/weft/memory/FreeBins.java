// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;

/**
 * Free blocks of one owner by exact length: a bin for each length below 4096 granules (64 MiB), found through two levels of bit maps, and a sorted array above,
 * which has few entries. Finds the best fit in constant time below and logarithmic time above. Guarded by the arena's lock.
 */
final class FreeBins {
    private static final int EXACT = 4096;
    private static final int MOST_LOOKED = 32;

    private final Blocks blocks;
    private final int[] head = new int[EXACT];
    private final long[] words = new long[EXACT / 64];
    private long summary;
    /** Sorted: length in the high half, block in the low half. */
    private long[] big = new long[16];

    private int bigCount;

    FreeBins(Blocks blocks) {
        this.blocks = blocks;
    }

    void add(int block) {
        int length = blocks.length(block);
        if (length >= EXACT) {
            long key = ((long) length << 32) | block;
            int at = -Arrays.binarySearch(big, 0, bigCount, key) - 1;
            if (bigCount == big.length) {
                big = Arrays.copyOf(big, 2 * bigCount);
            }
            System.arraycopy(big, at, big, at + 1, bigCount - at);
            big[at] = key;
            bigCount++;
            return;
        }
        int next = head[length];
        int previous = 0;
        int start = blocks.start(block);
        // Lowest address first, since that fragments least; in a long list only nearly, to stay in constant time.
        for (int looked = 0; next != 0 && looked < MOST_LOOKED && blocks.start(next) < start; looked++) {
            previous = next;
            next = blocks.nextFree(next);
        }
        blocks.link(block, previous, next);
        if (previous == 0) {
            head[length] = block;
        }
        if (previous == 0 && next == 0) {
            words[length >>> 6] |= 1L << length;
            summary |= 1L << (length >>> 6);
        }
    }

    void remove(int block) {
        int length = blocks.length(block);
        if (length >= EXACT) {
            int at = Arrays.binarySearch(big, 0, bigCount, ((long) length << 32) | block);
            bigCount--;
            System.arraycopy(big, at + 1, big, at, bigCount - at);
            return;
        }
        if (blocks.unlink(block)) {
            int next = blocks.nextFree(block);
            head[length] = next;
            if (next == 0) {
                long word = words[length >>> 6] & ~(1L << length);
                words[length >>> 6] = word;
                if (word == 0) {
                    summary &= ~(1L << (length >>> 6));
                }
            }
        }
    }

    /** The smallest block of at least this length, or 0. */
    int find(int length) {
        if (length < EXACT) {
            int word = length >>> 6;
            long bits = words[word] & (-1L << length);
            if (bits == 0) {
                long more = word == 63 ? 0 : summary & (-1L << (word + 1));
                if (more == 0) {
                    return bigCount == 0 ? 0 : (int) big[0];
                }
                word = Long.numberOfTrailingZeros(more);
                bits = words[word];
            }
            return head[(word << 6) + Long.numberOfTrailingZeros(bits)];
        }
        int at = Arrays.binarySearch(big, 0, bigCount, (long) length << 32);
        at = at < 0 ? -at - 1 : at;
        return at == bigCount ? 0 : (int) big[at];
    }

    /** The next block, one of the same length or a longer one; 0 behind the last. */
    int after(int block) {
        int length = blocks.length(block);
        if (length < EXACT) {
            int next = blocks.nextFree(block);
            return next != 0 ? next : find(length + 1);
        }
        int at = Arrays.binarySearch(big, 0, bigCount, ((long) length << 32) | block) + 1;
        return at == bigCount ? 0 : (int) big[at];
    }

    /** The largest block, or 0. */
    int largest() {
        return largestOutside(0, 0);
    }

    /** The largest block that does not start in a range of granules, or 0. */
    int largestOutside(int from, int to) {
        for (int i = bigCount - 1; i >= 0; i--) {
            if (isOutside((int) big[i], from, to)) {
                return (int) big[i];
            }
        }
        for (long left = summary; left != 0; left ^= Long.highestOneBit(left)) {
            int word = 63 - Long.numberOfLeadingZeros(left);
            for (long bits = words[word]; bits != 0; bits ^= Long.highestOneBit(bits)) {
                int block = head[(word << 6) + 63 - Long.numberOfLeadingZeros(bits)];
                while (block != 0 && !isOutside(block, from, to)) {
                    block = blocks.nextFree(block);
                }
                if (block != 0) {
                    return block;
                }
            }
        }
        return 0;
    }

    private boolean isOutside(int block, int from, int to) {
        int start = blocks.start(block);
        return start < from || start >= to;
    }
}
