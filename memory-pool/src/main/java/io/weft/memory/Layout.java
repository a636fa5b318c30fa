// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;

/**
 * What one stream does with large blocks in one iteration, and the layout learned from it. When two iterations in a row made the same calls in the same order,
 * the blocks that were both allocated and freed in them are laid out in advance, and the next iteration is served by number. The first call that differs ends
 * that. Guarded by the arena's lock.
 */
final class Layout {
    /** Calls above which an iteration is not learned: 2 MiB of record. */
    private static final int MOST_CALLS = 1 << 18;
    /** A free of a block of an earlier iteration is this plus its length; a free of this iteration's is minus the allocation's number minus one. */
    private static final int OLD = Integer.MIN_VALUE;

    private int[] expected = new int[64];
    private int expectedCount = -1;
    private int[] calls = new int[64];
    private int count;
    private boolean same;

    /** Granules from the plan's start by call, -1 for calls without a place. Null while nothing is laid out. */
    private int[] places;
    /** Bytes asked for by call, 0 when the block is not out. */
    private long[] out;

    private int planBlock;
    private int planStart;
    private int liveCount;

    /** Notes an allocation and returns its number. */
    int allocate(int granules) {
        return note(granules);
    }

    /** Notes a free. */
    void free(int operation, boolean thisIteration, int granules) {
        note(thisIteration ? -operation - 1 : OLD + granules);
    }

    private int note(int call) {
        int at = count;
        if (at == calls.length) {
            if (at == MOST_CALLS) {
                same = false;
                return MOST_CALLS;
            }
            calls = Arrays.copyOf(calls, 2 * at);
        }
        calls[at] = call;
        count = at + 1;
        if (same && (at >= expectedCount || expected[at] != call)) {
            same = false;
        }
        return at;
    }

    /** Whether a layout stands. */
    boolean isPlanned() {
        return places != null;
    }

    /** Whether this iteration has been as expected so far. */
    boolean isSame() {
        return same;
    }

    /** The granule for an allocation just noted, or -1 for the arena to serve. */
    int place(int operation, long bytes) {
        int place = places[operation];
        if (place < 0) {
            return -1;
        }
        out[operation] = bytes;
        liveCount++;
        return planStart + place;
    }

    /** Takes a planned block back and returns the bytes asked for, 0 when it is not out. */
    long release(int operation) {
        long bytes = out[operation];
        if (bytes != 0) {
            out[operation] = 0;
            liveCount--;
        }
        return bytes;
    }

    int granules(int operation) {
        return expected[operation];
    }

    int planBlock() {
        return planBlock;
    }

    int start(int operation) {
        return planStart + places[operation];
    }

    long asked(int operation) {
        return out[operation];
    }

    /** Numbers of the planned blocks that are out, by address. */
    int[] live() {
        int[] live = new int[liveCount];
        int found = 0;
        for (int i = 0; i < out.length && found < liveCount; i++) {
            if (out[i] != 0) {
                live[found++] = i;
            }
        }
        Integer[] boxed = Arrays.stream(live).boxed().toArray(Integer[]::new);
        Arrays.sort(boxed, (a, b) -> Integer.compare(places[a], places[b]));
        for (int i = 0; i < found; i++) {
            live[i] = boxed[i];
        }
        return live;
    }

    void dissolve() {
        places = null;
        out = null;
        liveCount = 0;
        same = false;
    }

    /**
     * Whether the iteration that ends now is worth a layout: it did exactly what the one before did. The first one of all is trusted to be repeated, since most
     * programs do; a wrong guess costs one plan.
     */
    boolean repeated() {
        return count > 0 && (expectedCount == -1 || (same && count == expectedCount));
    }

    /** Ends an iteration: what it did is what the next one is expected to do. */
    void nextIteration() {
        if (count == MOST_CALLS) {
            count = 0;
        }
        int[] swap = expected;
        expected = calls;
        expectedCount = count;
        calls = swap;
        count = 0;
        same = true;
    }

    /** A problem for the planner: the blocks that live and die within the expected iteration. */
    LayoutProblem problem() {
        int[] freedAt = new int[expectedCount];
        int transients = 0;
        for (int i = 0; i < expectedCount; i++) {
            int call = expected[i];
            if (call < 0 && call > OLD + (1 << 30)) {
                freedAt[-call - 1] = i;
                transients++;
            }
        }
        LayoutProblem problem = new LayoutProblem(transients);
        for (int i = 0; i < expectedCount; i++) {
            if (expected[i] > 0 && freedAt[i] > 0) {
                problem.add(i, expected[i], i, freedAt[i]);
            }
        }
        return problem;
    }

    /** Starts to serve: {@code offsets[i]} is the place of the problem's block {@code i} from {@code start} on. */
    void plan(LayoutProblem problem, long[] offsets, int block, int start) {
        places = new int[expectedCount];
        Arrays.fill(places, -1);
        for (int i = 0; i < problem.count(); i++) {
            places[problem.id(i)] = (int) offsets[i];
        }
        out = new long[expectedCount];
        planBlock = block;
        planStart = start;
        liveCount = 0;
    }
}
