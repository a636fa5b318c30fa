// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;
import java.util.Comparator;

/**
 * Searches for a layout within a capacity. Blocks are placed from low to high offsets, each at the lowest place above those it meets in time; a branch ends where
 * some moment's remaining blocks cannot fit above what stands there. The idea of placing in order of offsets with bounds by moment is MiniMalloc's (Moffitt,
 * ASPLOS 2023); the code is our own.
 */
final class PlanSearch {
    private final LayoutProblem problem;
    private final long capacity;
    private final int count;
    /** Moments at which the set of living blocks is largest in itself, and the blocks that live then. */
    private final int[][] sections;

    private final int[] firstSection;
    private final int[] lastSection;
    private final int[][] neighbours;
    private final long[] total;

    private int[] order;
    private int[] rank;
    private final long[] offset;
    private final boolean[] placed;
    private final long[] remaining;
    private int[] trailBlock = new int[1024];
    private long[] trailOffset = new long[1024];
    private int trail;
    private long nodes;
    private long nodeLimit;
    private long deadline;

    PlanSearch(LayoutProblem problem, long capacity) {
        this.problem = problem;
        this.capacity = capacity;
        this.count = problem.count();
        this.offset = new long[count];
        this.placed = new boolean[count];
        this.firstSection = new int[count];
        this.lastSection = new int[count];
        this.sections = sections();
        this.neighbours = new int[count][];
        for (int block = 0; block < count; block++) {
            int[] met = new int[count];
            int found = 0;
            for (int other = 0; other < count; other++) {
                if (other != block && problem.overlap(block, other)) {
                    met[found++] = other;
                }
            }
            neighbours[block] = Arrays.copyOf(met, found);
        }
        this.total = new long[sections.length];
        for (int section = 0; section < sections.length; section++) {
            for (int block : sections[section]) {
                total[section] += problem.size(block);
            }
        }
        this.remaining = total.clone();
    }

    private int[][] sections() {
        long[] times = new long[count];
        for (int block = 0; block < count; block++) {
            times[block] = problem.lower(block);
        }
        times = withoutSubsets(Arrays.stream(times).sorted().distinct().toArray());
        int[][] all = new int[times.length][];
        Arrays.fill(firstSection, -1);
        for (int section = 0; section < times.length; section++) {
            int[] living = new int[count];
            int found = 0;
            for (int block = 0; block < count; block++) {
                if (problem.lower(block) <= times[section] && times[section] < problem.upper(block)) {
                    living[found++] = block;
                    if (firstSection[block] < 0) {
                        firstSection[block] = section;
                    }
                    lastSection[block] = section;
                }
            }
            all[section] = Arrays.copyOf(living, found);
        }
        return all;
    }

    /** A start after which nothing ends before the next start has all its blocks in that one's set, too. */
    private long[] withoutSubsets(long[] starts) {
        long[] kept = new long[starts.length];
        int found = 0;
        for (int i = 0; i < starts.length; i++) {
            boolean ends = i == starts.length - 1;
            for (int block = 0; block < count && !ends; block++) {
                ends = problem.upper(block) > starts[i] && problem.upper(block) <= starts[i + 1];
            }
            if (ends) {
                kept[found++] = starts[i];
            }
        }
        return Arrays.copyOf(kept, found);
    }

    /** Nodes visited so far. */
    long nodes() {
        return nodes;
    }

    /** A layout, or null when none was found in time. */
    long[] run(long deadlineNanos) {
        deadline = deadlineNanos;
        long[] width = new long[count];
        long[] area = new long[count];
        long[] crowd = new long[count];
        for (int block = 0; block < count; block++) {
            width[block] = problem.upper(block) - problem.lower(block);
            area[block] = width[block] * problem.size(block);
            for (int section = firstSection[block]; section <= lastSection[block]; section++) {
                crowd[block] = Math.max(crowd[block], total[section]);
            }
        }
        long[] size = new long[count];
        for (int block = 0; block < count; block++) {
            size[block] = problem.size(block);
        }
        long[][][] keys = {
            {width, area, crowd},
            {crowd, area, width},
            {crowd, width, area},
            {size, width, area},
            {area, width, crowd},
            {crowd, size, width}
        };
        for (long limit = 20_000; System.nanoTime() - deadline < 0; limit *= 4) {
            for (long[][] key : keys) {
                order(key);
                reset();
                nodeLimit = nodes + limit;
                int found = place(0, 0, -1);
                if (found == FOUND) {
                    return offset.clone();
                }
                if (found == NONE) {
                    return null;
                }
            }
        }
        return null;
    }

    private void order(long[][] keys) {
        Integer[] sorted = new Integer[count];
        for (int i = 0; i < count; i++) {
            sorted[i] = i;
        }
        Comparator<Integer> compare = Comparator.comparingLong(block -> -keys[0][block]);
        for (int key = 1; key < keys.length; key++) {
            long[] values = keys[key];
            compare = compare.thenComparingLong(block -> -values[block]);
        }
        Arrays.sort(sorted, compare);
        order = new int[count];
        rank = new int[count];
        for (int i = 0; i < count; i++) {
            order[i] = sorted[i];
            rank[sorted[i]] = i;
        }
    }

    private void reset() {
        Arrays.fill(offset, 0);
        Arrays.fill(placed, false);
        System.arraycopy(total, 0, remaining, 0, total.length);
        trail = 0;
    }

    private static final int FOUND = 0;
    /** The whole tree was searched. */
    private static final int NONE = 1;

    private static final int GIVEN_UP = 2;

    private int place(int done, long floor, int lastRank) {
        if (done == count) {
            return FOUND;
        }
        nodes++;
        if (nodes > nodeLimit || ((nodes & 255) == 0 && System.nanoTime() - deadline >= 0)) {
            return GIVEN_UP;
        }
        // A block that starts at or above another one's lowest possible top would leave room for that one below it.
        long lowestTop = Long.MAX_VALUE;
        for (int block : order) {
            if (!placed[block]) {
                lowestTop = Math.min(lowestTop, Math.max(offset[block], floor) + problem.size(block));
            }
        }
        int[] candidates = new int[count];
        int found = 0;
        for (int block : order) {
            long at = offset[block];
            if (!placed[block] && at < lowestTop && (at > floor || (at == floor && rank[block] > lastRank))) {
                int place = found++;
                while (place > 0 && offset[candidates[place - 1]] > at) {
                    candidates[place] = candidates[place - 1];
                    place--;
                }
                candidates[place] = block;
            }
        }
        for (int i = 0; i < found; i++) {
            int block = candidates[i];
            int mark = trail;
            if (put(block)) {
                int result = place(done + 1, offset[block], rank[block]);
                if (result != NONE) {
                    return result;
                }
            }
            takeBack(block, mark);
        }
        return NONE;
    }

    private boolean put(int block) {
        long at = offset[block];
        long top = at + problem.size(block);
        placed[block] = true;
        int from = firstSection[block];
        int to = lastSection[block];
        for (int section = from; section <= to; section++) {
            remaining[section] -= problem.size(block);
        }
        for (int other : neighbours[block]) {
            if (!placed[other] && offset[other] < top) {
                if (top + problem.size(other) > capacity) {
                    return false;
                }
                if (trail == trailBlock.length) {
                    trailBlock = Arrays.copyOf(trailBlock, 2 * trail);
                    trailOffset = Arrays.copyOf(trailOffset, 2 * trail);
                }
                trailBlock[trail] = other;
                trailOffset[trail++] = offset[other];
                offset[other] = top;
                from = Math.min(from, firstSection[other]);
                to = Math.max(to, lastSection[other]);
            }
        }
        for (int section = from; section <= to; section++) {
            if (remaining[section] > 0) {
                long lowest = Long.MAX_VALUE;
                for (int living : sections[section]) {
                    if (!placed[living] && offset[living] < lowest) {
                        lowest = offset[living];
                        if (lowest <= at) {
                            break;
                        }
                    }
                }
                if (Math.max(lowest, at) + remaining[section] > capacity) {
                    return false;
                }
            }
        }
        return true;
    }

    private void takeBack(int block, int mark) {
        while (trail > mark) {
            trail--;
            offset[trailBlock[trail]] = trailOffset[trail];
        }
        placed[block] = false;
        for (int section = firstSection[block]; section <= lastSection[block]; section++) {
            remaining[section] += problem.size(block);
        }
    }
}
