// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;

/**
 * Blocks with lifetimes to be laid out in one range: block {@code i} needs {@code size(i)} units from time {@code lower(i)}, included, to {@code upper(i)},
 * excluded.
 */
public final class LayoutProblem {
    private int[] ids;
    private long[] sizes;
    private long[] lowers;
    private long[] uppers;
    private int count;

    /** A problem without blocks yet. */
    public LayoutProblem(int expected) {
        int length = Math.max(4, expected);
        ids = new int[length];
        sizes = new long[length];
        lowers = new long[length];
        uppers = new long[length];
    }

    /**
     * Adds a block.
     *
     * @param id the caller's number for it
     * @param size units, 0 or more
     * @param lower first time at which it lives
     * @param upper first time at which it does not live any more, greater than {@code lower}
     */
    public void add(int id, long size, long lower, long upper) {
        if (size < 0 || upper <= lower) {
            throw new IllegalArgumentException(
                    "block " + id + ": size " + size + " and lifetime " + lower + ".." + upper + " make no sense");
        }
        if (count == ids.length) {
            ids = Arrays.copyOf(ids, 2 * count);
            sizes = Arrays.copyOf(sizes, 2 * count);
            lowers = Arrays.copyOf(lowers, 2 * count);
            uppers = Arrays.copyOf(uppers, 2 * count);
        }
        ids[count] = id;
        sizes[count] = size;
        lowers[count] = lower;
        uppers[count++] = upper;
    }

    /** Blocks. */
    public int count() {
        return count;
    }

    /** The caller's number. */
    public int id(int block) {
        return ids[block];
    }

    /** Units. */
    public long size(int block) {
        return sizes[block];
    }

    /** First time at which it lives. */
    public long lower(int block) {
        return lowers[block];
    }

    /** First time at which it does not live any more. */
    public long upper(int block) {
        return uppers[block];
    }

    /** Whether two blocks live at one time. */
    public boolean overlap(int a, int b) {
        return lowers[a] < uppers[b] && lowers[b] < uppers[a];
    }

    /** The most units that live at one time: no layout is lower. */
    public long lowerBound() {
        long[] starts = Arrays.copyOf(lowers, count);
        Integer[] byLower = new Integer[count];
        Integer[] byUpper = new Integer[count];
        for (int i = 0; i < count; i++) {
            byLower[i] = i;
            byUpper[i] = i;
        }
        Arrays.sort(byLower, (a, b) -> Long.compare(starts[a], starts[b]));
        Arrays.sort(byUpper, (a, b) -> Long.compare(uppers[a], uppers[b]));
        long live = 0;
        long most = 0;
        int ended = 0;
        for (int block : byLower) {
            while (ended < count && uppers[byUpper[ended]] <= lowers[block]) {
                live -= sizes[byUpper[ended++]];
            }
            live += sizes[block];
            most = Math.max(most, live);
        }
        return most;
    }

    /**
     * Says what is wrong with a layout, if anything.
     *
     * @param offsets units from the range's start, by block
     * @return null when no two blocks that live at one time overlap and all lie in {@code 0..height}
     */
    public String faultOf(long[] offsets, long height) {
        for (int a = 0; a < count; a++) {
            if (offsets[a] < 0 || offsets[a] + sizes[a] > height) {
                return "block " + ids[a] + " at " + offsets[a] + " does not lie in 0.." + height;
            }
            for (int b = a + 1; b < count; b++) {
                if (overlap(a, b) && offsets[a] < offsets[b] + sizes[b] && offsets[b] < offsets[a] + sizes[a]) {
                    return "blocks " + ids[a] + " and " + ids[b] + " overlap";
                }
            }
        }
        return null;
    }
}
