// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

/**
 * Which rows go from which rank to which, for all patterns in one form. In gathering patterns rows of A travel to where they are multiplied; in the others rows of the product travel
 * from where they were multiplied. A rank's rows to itself are its own block.
 */
final class RowPlan {
    /** Rows from source to destination. */
    final long[][] rows;
    /** First row of that block among the source's rows. */
    final long[][] from;
    /** First row of that block among the destination's rows. */
    final long[][] to;
    /** Rows that a source has: of A when rows of A travel, of the product otherwise. */
    final long[] held;
    /** Rows that a destination has in the end. */
    final long[] received;

    private RowPlan(long[][] rows, long[][] from, long[][] to, long[] held, long[] received) {
        this.rows = rows;
        this.from = from;
        this.to = to;
        this.held = held;
        this.received = received;
    }

    static RowPlan of(OverlapProblem problem) {
        int ranks = problem.ranks();
        long[][] rows = new long[ranks][ranks];
        long[][] from = new long[ranks][ranks];
        long[][] to = new long[ranks][ranks];
        long[] held = new long[ranks];
        long[] received = new long[ranks];
        switch (problem.pattern()) {
            case ALL_GATHER_GEMM -> {
                for (int s = 0; s < ranks; s++) {
                    held[s] = problem.shardRows(s);
                    received[s] = problem.m();
                    for (int d = 0; d < ranks; d++) {
                        rows[s][d] = held[s];
                        to[s][d] = problem.shardStart(s);
                    }
                }
            }
            case GEMM_REDUCE_SCATTER, GEMM_ALL_REDUCE -> {
                boolean all = problem.pattern() == Pattern.GEMM_ALL_REDUCE;
                for (int d = 0; d < ranks; d++) {
                    held[d] = problem.m();
                    received[d] = all ? problem.m() : problem.shardRows(d);
                    for (int s = 0; s < ranks; s++) {
                        rows[s][d] = problem.shardRows(d);
                        from[s][d] = problem.shardStart(d);
                        to[s][d] = all ? problem.shardStart(d) : 0;
                    }
                }
            }
            case ALL_TO_ALL_GEMM, GEMM_ALL_TO_ALL -> {
                boolean back = problem.pattern() == Pattern.GEMM_ALL_TO_ALL;
                long[][] exchange = problem.exchange();
                for (int s = 0; s < ranks; s++) {
                    for (int d = 0; d < ranks; d++) {
                        rows[s][d] = back ? exchange[d][s] : exchange[s][d];
                    }
                }
                for (int s = 0; s < ranks; s++) {
                    for (int d = 0; d < ranks; d++) {
                        from[s][d] = held[s];
                        to[s][d] = received[d];
                        held[s] += rows[s][d];
                        received[d] += rows[s][d];
                    }
                }
            }
        }
        return new RowPlan(rows, from, to, held, received);
    }

    /** Whether all blocks have the same size, so that a collective with one count does. */
    boolean isEven() {
        for (long[] line : rows) {
            for (long count : line) {
                if (count != rows[0][0]) {
                    return false;
                }
            }
        }
        return true;
    }

    /** First row of a chunk of a block. */
    static long cut(long rows, int chunk, int chunks) {
        return OverlapProblem.cut(rows, chunk, chunks);
    }

    /** Rows of a chunk of a block. */
    static long size(long rows, int chunk, int chunks) {
        return cut(rows, chunk + 1, chunks) - cut(rows, chunk, chunks);
    }

    /** Rows of the largest chunk of a block. */
    static long largest(long rows, int chunks) {
        return (rows + chunks - 1) / chunks;
    }
}
