// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import java.util.Locale;
import java.util.Objects;

/**
 * One GEMM and the communication that it waits for, or that waits for it.
 *
 * <p>{@code m} counts the rows over all ranks; {@code n} and {@code k} are what one device multiplies (a column-parallel weight's N and a row-parallel
 * weight's K are divided already). All matrices are row-major. With P ranks and shard(r) = rows {@code [r*m/P, (r+1)*m/P)}:
 *
 * <ul>
 *   <li>all-gather-gemm: rank r has A[shard(r), k] and its own B[k, n]; every rank gets C[m, n] = A x B.
 *   <li>gemm-reduce-scatter: rank r has its own A[m, k] and B[k, n]; rank r gets rows shard(r) of the sum over ranks of A x B.
 *   <li>gemm-all-reduce: the same, and every rank gets all rows of the sum.
 *   <li>all-to-all-gemm: rank r has A[shard(r), k], sorted by destination, {@link #rowsBetween(int, int)} rows for each; rank d multiplies the rows that it
 *       receives, in the order of their sources, by its own B[k, n].
 *   <li>gemm-all-to-all: rank d has the rows that it received above, [received(d), k], multiplies them by its own B[k, n] and sends every row of the
 *       product back to its source, which gets [shard(r), n] in its old order.
 * </ul>
 *
 * <p>Sizes need not divide evenly. Immutable.
 *
 * @param pattern how GEMM and communication hang together
 * @param m rows over all ranks, 1 or more
 * @param n columns of the result on one device, 1 or more
 * @param k inner length on one device, 1 or more
 * @param elementType type of A and B
 * @param ranks number of ranks, 1 or more
 * @param skew 0: destinations are loaded evenly; s: rank 0 receives (1 + s) times the mean and the others share the rest evenly; patterns that exchange rows only
 * @param groups experts on each rank, each with a weight of its own; more than 1 is meant for estimates, as the split of rows over experts is not known ahead
 * @param inPlace all-gather-gemm only: A of each rank is all of [m, k], of which the own shard's rows hold its data and the others are overwritten with what arrives, as in an in-place collective; spares a copy of own rows
 */
public record OverlapProblem(
        Pattern pattern,
        long m,
        long n,
        long k,
        ElementType elementType,
        int ranks,
        double skew,
        int groups,
        boolean inPlace) {
    /** Largest total size of one matrix over all ranks, bytes; keeps every offset well inside a long. */
    private static final long LARGEST_BYTES = 1L << 62;

    public OverlapProblem {
        Objects.requireNonNull(pattern, "pattern");
        Objects.requireNonNull(elementType, "elementType");
        if (m < 1 || n < 1 || k < 1) {
            throw invalid("M " + m + ", N " + n + " and K " + k + " must be at least 1");
        }
        if (ranks < 1) {
            throw invalid("ranks must be at least 1, not " + ranks);
        }
        if (groups < 1) {
            throw invalid("groups (experts per rank) must be at least 1, not " + groups);
        }
        if (groups > 1 && !pattern.exchanges()) {
            throw invalid("groups need all-to-all-gemm or gemm-all-to-all; " + pattern + " has one weight per rank");
        }
        if (!(skew >= 0) || skew > ranks - 1) {
            throw invalid("skew " + skew + " must lie in 0.." + (ranks - 1) + ": rank 0 gets (1 + skew) / " + ranks
                    + " of all rows");
        }
        if (skew != 0 && !pattern.exchanges()) {
            throw invalid("skew needs all-to-all-gemm or gemm-all-to-all; " + pattern + " loads ranks evenly");
        }
        if (inPlace && pattern != Pattern.ALL_GATHER_GEMM) {
            throw invalid("only all-gather-gemm gathers in place, not " + pattern);
        }
        if (elementType == ElementType.INT32) {
            throw invalid("int32 is no GEMM operand; use int8, which gives int32");
        }
        fits("A", m, k, ranks);
        fits("B", k, n, (long) ranks * groups);
        fits("C", m, n, ranks);
    }

    /** The same with A's shard in memory of its own. */
    public OverlapProblem(
            Pattern pattern, long m, long n, long k, ElementType elementType, int ranks, double skew, int groups) {
        this(pattern, m, n, k, elementType, ranks, skew, groups, false);
    }

    /** An even problem with one weight per rank. */
    public static OverlapProblem of(Pattern pattern, long m, long n, long k, ElementType elementType, int ranks) {
        return new OverlapProblem(pattern, m, n, k, elementType, ranks, 0, 1);
    }

    private static void fits(String matrix, long rows, long columns, long copies) {
        try {
            // 4 bytes: the widest element, which accumulators have.
            long bytes = Math.multiplyExact(Math.multiplyExact(Math.multiplyExact(rows, columns), copies), 4L);
            if (bytes <= LARGEST_BYTES) {
                return;
            }
        } catch (ArithmeticException overflow) {
            // Told below.
        }
        throw invalid("matrix " + matrix + " of [" + rows + ", " + columns + "] on " + copies
                + " ranks is larger than 2^62 bytes");
    }

    private static AcceleratorException invalid(String message) {
        return AcceleratorException.invalid("problem", message);
    }

    /** The same problem with another load of rank 0. */
    public OverlapProblem withSkew(double wanted) {
        return new OverlapProblem(pattern, m, n, k, elementType, ranks, wanted, groups, inPlace);
    }

    /** The same problem with other rows. */
    public OverlapProblem withM(long wanted) {
        return new OverlapProblem(pattern, wanted, n, k, elementType, ranks, skew, groups, inPlace);
    }

    /** The same problem with several experts on each rank. */
    public OverlapProblem withGroups(int wanted) {
        return new OverlapProblem(pattern, m, n, k, elementType, ranks, skew, wanted, inPlace);
    }

    /** The same problem with A gathered where the shards lie, or not; see {@link #inPlace()}. */
    public OverlapProblem withInPlace(boolean wanted) {
        return new OverlapProblem(pattern, m, n, k, elementType, ranks, skew, groups, wanted);
    }

    /**
     * Type of C: int32 for int8 operands; bf16 for 8-bit floats, whose range is too small for unscaled sums (libraries give 16-bit results as well); otherwise the operands' type.
     */
    public ElementType outputType() {
        if (elementType == ElementType.INT8) {
            return ElementType.INT32;
        }
        return elementType.isFp8() ? ElementType.BF16 : elementType;
    }

    /** Where part {@code i} of {@code length} over {@code parts} starts: {@code i * length / parts}. */
    static long cut(long length, long i, long parts) {
        return i * length / parts;
    }

    /** First row of a rank's shard. */
    public long shardStart(int rank) {
        return cut(m, rank, ranks);
    }

    /** Rows of a rank's shard. */
    public long shardRows(int rank) {
        return cut(m, rank + 1L, ranks) - cut(m, rank, ranks);
    }

    /**
     * Rows that go from each source to each destination, {@code [source][destination]}; patterns that exchange rows only.
     *
     * <p>Sums over destinations are exact shards. Rank 0 receives {@code floor((1 + skew) / ranks * m)} rows, spread over sources in proportion; what is left of a source is
     * dealt evenly to the other ranks, single rows going round from source to source, so that destinations differ by one row at most.
     */
    public long[][] exchange() {
        if (!pattern.exchanges()) {
            throw invalid(pattern + " exchanges no rows");
        }
        long[][] rows = new long[ranks][ranks];
        int first = skew == 0 ? 0 : 1;
        double loaded = (1 + skew) / ranks;
        long next = 0;
        for (int source = 0; source < ranks; source++) {
            long left = shardRows(source);
            if (first == 1) {
                long heavy = loadedBefore(source + 1, loaded) - loadedBefore(source, loaded);
                rows[source][0] = ranks == 1 ? left : Math.min(heavy, left);
                left -= rows[source][0];
            }
            int others = ranks - first;
            for (int i = 0; i < others; i++) {
                rows[source][first + i] = left / others;
            }
            for (long extra = left % Math.max(others, 1); extra > 0; extra--) {
                rows[source][first + (int) (next++ % others)]++;
            }
        }
        return rows;
    }

    private long loadedBefore(int source, double share) {
        return (long) (cut(m, source, ranks) * share);
    }

    /** Rows that go from one rank to another; patterns that exchange rows only. Use {@link #exchange()} for all of them. */
    public long rowsBetween(int source, int destination) {
        return exchange()[source][destination];
    }

    /** Rows that the GEMM of the most loaded rank multiplies. */
    public long largestRows() {
        if (!pattern.exchanges()) {
            return m;
        }
        long largest = 0;
        long[][] rows = exchange();
        for (int destination = 0; destination < ranks; destination++) {
            long sum = 0;
            for (int source = 0; source < ranks; source++) {
                sum += rows[source][destination];
            }
            largest = Math.max(largest, sum);
        }
        return largest;
    }

    /** Floating-point operations of the most loaded device, a fused multiply-add being two. */
    public double flops() {
        return 2.0 * largestRows() * n * k;
    }

    /** Such as {@code all-gather-gemm m=8192 n=1280 k=8192 bf16 ranks=8}. */
    @Override
    public String toString() {
        return pattern + " m=" + m + " n=" + n + " k=" + k + " " + elementType + " ranks=" + ranks
                + (skew == 0 ? "" : String.format(Locale.ROOT, " skew=%s", skew))
                + (groups == 1 ? "" : " groups=" + groups) + (inPlace ? " in-place" : "");
    }
}
