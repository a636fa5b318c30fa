// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;

/**
 * Runs of granules in address order, as records in primitive arrays: half a line of the cache for what a look at a neighbour needs, and apart from it what is told
 * of a block that is out. Numbers start at 1; 0 is none. Guarded by the arena's lock.
 */
final class Blocks {
    static final int FREE = 0;
    static final int LIVE = 1;
    static final int SPAN = 2;
    /** Addresses without memory behind them. */
    static final int VOID = 3;
    /** Held for a learned layout. */
    static final int PLAN = 4;
    /** Freed, waits for other streams. */
    static final int DEFERRED = 5;
    /** A record that stands for nothing. */
    private static final int GONE = 7;

    /** What a look at a neighbour needs, 32 bytes. */
    private static final int SHIFT = 3;

    private static final int START = 0;
    private static final int LENGTH = 1;
    private static final int PREVIOUS = 2;
    private static final int NEXT = 3;
    private static final int FREE_PREVIOUS = 4;
    private static final int FREE_NEXT = 5;
    /** Owner, whether it is of a region for spans, and state, from the highest bits down. */
    private static final int KIND = 6;

    private static final int MARK = 7;

    private static final int STATE_BITS = 3;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;
    private static final int SMALL_BIT = 1 << STATE_BITS;
    private static final int OWNER_SHIFT = STATE_BITS + 1;

    /** What is told of a block that is out. */
    private static final int OUT_SHIFT = 3;

    private static final int OPERATION = 0;
    private static final int ITERATION = 1;
    private static final int ELSEWHERE = 2;
    private static final int ASKED_LOW = 3;
    private static final int ASKED_HIGH = 4;

    private int[] fields = new int[1024 << SHIFT];
    private int[] outs = new int[1024 << OUT_SHIFT];
    private int count = 1;
    private int spare;

    int create(int start, int length, int state, int owner, int mark) {
        int block = spare;
        if (block != 0) {
            spare = fields[(block << SHIFT) + FREE_NEXT];
        } else {
            block = count++;
            if (block << SHIFT == fields.length) {
                fields = Arrays.copyOf(fields, 2 * fields.length);
                outs = Arrays.copyOf(outs, 2 * outs.length);
            }
        }
        int at = block << SHIFT;
        fields[at + START] = start;
        fields[at + LENGTH] = length;
        fields[at + PREVIOUS] = 0;
        fields[at + NEXT] = 0;
        fields[at + KIND] = (owner << OWNER_SHIFT) | state;
        fields[at + MARK] = mark;
        return block;
    }

    void destroy(int block) {
        int at = block << SHIFT;
        fields[at + KIND] |= GONE;
        fields[at + FREE_NEXT] = spare;
        spare = block;
    }

    int start(int block) {
        return fields[(block << SHIFT) + START];
    }

    int length(int block) {
        return fields[(block << SHIFT) + LENGTH];
    }

    int end(int block) {
        int at = block << SHIFT;
        return fields[at + START] + fields[at + LENGTH];
    }

    int previous(int block) {
        return fields[(block << SHIFT) + PREVIOUS];
    }

    int next(int block) {
        return fields[(block << SHIFT) + NEXT];
    }

    int state(int block) {
        return fields[(block << SHIFT) + KIND] & STATE_MASK;
    }

    void state(int block, int state) {
        int at = (block << SHIFT) + KIND;
        fields[at] = (fields[at] & ~STATE_MASK) | state;
    }

    /** 0 for memory that any stream may have, else the stream plus one on which it was freed or is out. */
    int owner(int block) {
        return fields[(block << SHIFT) + KIND] >>> OWNER_SHIFT;
    }

    void owner(int block, int owner, int mark) {
        int at = block << SHIFT;
        fields[at + KIND] = (owner << OWNER_SHIFT) | (fields[at + KIND] & (SMALL_BIT | STATE_MASK));
        fields[at + MARK] = mark;
    }

    /** The mark of its owner's stream after which other streams may have it. */
    int mark(int block) {
        return fields[(block << SHIFT) + MARK];
    }

    /** Frees a block in the order of a stream. */
    void free(int block, int owner, int mark) {
        int at = block << SHIFT;
        fields[at + KIND] = (owner << OWNER_SHIFT) | (fields[at + KIND] & SMALL_BIT) | FREE;
        fields[at + MARK] = mark;
    }

    void handOut(int block, int state, long bytes, int owner, int operation, int iteration) {
        int kind = (block << SHIFT) + KIND;
        fields[kind] = (owner << OWNER_SHIFT) | (fields[kind] & SMALL_BIT) | state;
        int at = block << OUT_SHIFT;
        outs[at + OPERATION] = operation;
        outs[at + ITERATION] = iteration;
        outs[at + ELSEWHERE] = 0;
        outs[at + ASKED_LOW] = (int) bytes;
        outs[at + ASKED_HIGH] = (int) (bytes >>> 32);
    }

    /** Bytes asked for. */
    long asked(int block) {
        int at = block << OUT_SHIFT;
        return ((long) outs[at + ASKED_HIGH] << 32) | (outs[at + ASKED_LOW] & 0xffff_ffffL);
    }

    int operation(int block) {
        return outs[(block << OUT_SHIFT) + OPERATION];
    }

    int iteration(int block) {
        return outs[(block << OUT_SHIFT) + ITERATION];
    }

    boolean usedElsewhere(int block) {
        return outs[(block << OUT_SHIFT) + ELSEWHERE] != 0;
    }

    void usedElsewhere(int block, boolean used) {
        outs[(block << OUT_SHIFT) + ELSEWHERE] = used ? 1 : 0;
    }

    /** 1 for a block of a region that is kept for spans, 0 for others. */
    int small(int block) {
        return fields[(block << SHIFT) + KIND] >>> STATE_BITS & 1;
    }

    void small(int block, int small) {
        int at = (block << SHIFT) + KIND;
        fields[at] = (fields[at] & ~SMALL_BIT) | (small << STATE_BITS);
    }

    /** Puts {@code added} behind {@code block} in address order; 0 puts it first. */
    void insertAfter(int block, int added) {
        int next = block == 0 ? 0 : next(block);
        fields[(added << SHIFT) + PREVIOUS] = block;
        fields[(added << SHIFT) + NEXT] = next;
        if (block != 0) {
            fields[(block << SHIFT) + NEXT] = added;
        }
        if (next != 0) {
            fields[(next << SHIFT) + PREVIOUS] = added;
        }
    }

    /** Cuts a block after so many granules and returns the rest, which has the same state, owner and mark. */
    int split(int block, int length) {
        int rest = create(start(block) + length, length(block) - length, state(block), owner(block), mark(block));
        fields[(block << SHIFT) + LENGTH] = length;
        fields[(rest << SHIFT) + KIND] = fields[(block << SHIFT) + KIND];
        insertAfter(block, rest);
        return rest;
    }

    /** Adds the following block to this one. */
    void absorbNext(int block) {
        int gone = next(block);
        int after = next(gone);
        fields[(block << SHIFT) + LENGTH] += length(gone);
        fields[(block << SHIFT) + NEXT] = after;
        if (after != 0) {
            fields[(after << SHIFT) + PREVIOUS] = block;
        }
        destroy(gone);
    }

    /** Removes the last block in address order and returns the one before it. */
    int removeLast(int block) {
        int previous = previous(block);
        if (previous != 0) {
            fields[(previous << SHIFT) + NEXT] = 0;
        }
        destroy(block);
        return previous;
    }

    void link(int block, int previous, int next) {
        fields[(block << SHIFT) + FREE_PREVIOUS] = previous;
        fields[(block << SHIFT) + FREE_NEXT] = next;
        if (previous != 0) {
            fields[(previous << SHIFT) + FREE_NEXT] = block;
        }
        if (next != 0) {
            fields[(next << SHIFT) + FREE_PREVIOUS] = block;
        }
    }

    int nextFree(int block) {
        return fields[(block << SHIFT) + FREE_NEXT];
    }

    /** Takes a block out of its bin and says whether it was the first. */
    boolean unlink(int block) {
        int previous = fields[(block << SHIFT) + FREE_PREVIOUS];
        int next = fields[(block << SHIFT) + FREE_NEXT];
        if (next != 0) {
            fields[(next << SHIFT) + FREE_PREVIOUS] = previous;
        }
        if (previous == 0) {
            return true;
        }
        fields[(previous << SHIFT) + FREE_NEXT] = next;
        return false;
    }
}
