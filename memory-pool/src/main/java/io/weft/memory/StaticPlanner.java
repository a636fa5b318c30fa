// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/** Lays blocks with known lifetimes out in one range, offline. */
public final class StaticPlanner {
    private static final int MOST_SEARCHED = 2048;
    /** Stack that one block's frames may take, generously. */
    private static final long FRAMES_BYTES = 2048;

    private StaticPlanner() {}

    /** A layout. */
    public static final class Plan {
        private final long[] offsets;
        private final long height;
        private final long nodes;

        Plan(long[] offsets, long height, long nodes) {
            this.offsets = offsets;
            this.height = height;
            this.nodes = nodes;
        }

        /** Units from the range's start to a block of the problem. */
        public long offset(int block) {
            return offsets[block];
        }

        /** All of them, by block. */
        public long[] offsets() {
            return offsets.clone();
        }

        /** Units that the range needs. */
        public long height() {
            return height;
        }

        /** Placements tried by the search, 0 when none was needed. */
        public long nodes() {
            return nodes;
        }
    }

    /** Largest first, each at the lowest place that is free during its life. In time quadratic in the blocks. */
    public static Plan quick(LayoutProblem problem) {
        int count = problem.count();
        Integer[] order = new Integer[count];
        for (int i = 0; i < count; i++) {
            order[i] = i;
        }
        Arrays.sort(order, (a, b) -> {
            int bySize = Long.compare(problem.size(b), problem.size(a));
            return bySize != 0 ? bySize : Long.compare(problem.lower(a), problem.lower(b));
        });
        long[] offsets = new long[count];
        // Placed blocks by offset, so that one pass over those which overlap in time finds the lowest gap.
        int[] placed = new int[count];
        long height = 0;
        for (int n = 0; n < count; n++) {
            int block = order[n];
            long at = 0;
            for (int i = 0; i < n; i++) {
                int other = placed[i];
                if (problem.overlap(block, other)) {
                    if (offsets[other] >= at + problem.size(block)) {
                        break;
                    }
                    at = Math.max(at, offsets[other] + problem.size(other));
                }
            }
            offsets[block] = at;
            height = Math.max(height, at + problem.size(block));
            int place = n;
            while (place > 0 && offsets[placed[place - 1]] > at) {
                placed[place] = placed[place - 1];
                place--;
            }
            placed[place] = block;
        }
        return new Plan(offsets, height, 0);
    }

    /**
     * A layout within a capacity, by bounded search where {@link #quick} does not find one. Problems of more than 2048 blocks are not searched, since the search's
     * memory and depth grow with them.
     *
     * @param capacity units
     * @param nanos ns that the search may take
     * @return the layout; its height is above the capacity when none was found in time, and then it is the quick one
     */
    public static Plan within(LayoutProblem problem, long capacity, long nanos) {
        Plan quick = quick(problem);
        if (quick.height() <= capacity || problem.lowerBound() > capacity) {
            return quick;
        }
        if (problem.count() > MOST_SEARCHED) {
            return quick;
        }
        long deadline = System.nanoTime() + nanos;
        PlanSearch search = new PlanSearch(problem, capacity);
        long[] offsets = onDeepStack(() -> search.run(deadline), problem.count());
        if (offsets == null) {
            return new Plan(quick.offsets, quick.height(), search.nodes());
        }
        long height = 0;
        for (int block = 0; block < problem.count(); block++) {
            height = Math.max(height, offsets[block] + problem.size(block));
        }
        return new Plan(offsets, height, search.nodes());
    }

    /** The search goes a few frames deep for each block, which is more than a thread's usual stack has room for. */
    private static long[] onDeepStack(Supplier<long[]> search, int blocks) {
        AtomicReference<long[]> result = new AtomicReference<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread searcher = new Thread(
                null, () -> result.set(search.get()), "weft-plan-search", (1L << 20) + blocks * FRAMES_BYTES);
        searcher.setDaemon(true);
        searcher.setUncaughtExceptionHandler((_, thrown) -> failure.set(thrown));
        searcher.start();
        boolean interrupted = false;
        while (true) {
            try {
                searcher.join();
                break;
            } catch (InterruptedException again) {
                // The search ends in time by itself.
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (failure.get() != null) {
            throw new IllegalStateException("the search for a layout failed", failure.get());
        }
        return result.get();
    }
}
