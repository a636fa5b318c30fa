// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler.verify;

import io.weft.api.ElementType;
import io.weft.api.numeric.Elements;
import io.weft.api.numeric.Expected;
import io.weft.api.numeric.HostMatrix;
import io.weft.api.numeric.Reference;
import io.weft.scheduler.OverlapProblem;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * What each rank should get, in double precision, straight from the pattern's meaning, with the slack that rounding explains. Knows nothing of schedules.
 *
 * <p>Slack of an element: what {@link Expected} allows for fp32 sums of K terms in any order; and where n partial products of p mantissa bits are summed, half a unit for each, {@code 2^-(p+1) |partial|}, and n fp32 roundings
 * of the sum.
 */
final class ExpectedResult {
    private static final double FP32_ROUNDING = 0x1p-24;

    final int rows;
    final int columns;
    final double[] values;
    final double[] slack;

    private ExpectedResult(int rows, int columns) {
        this.rows = rows;
        this.columns = columns;
        this.values = new double[Math.multiplyExact(rows, columns)];
        this.slack = new double[values.length];
    }

    static ExpectedResult[] of(OverlapProblem problem, List<MemorySegment> a, List<MemorySegment> b) {
        return switch (problem.pattern()) {
            case ALL_GATHER_GEMM -> gathered(problem, a, b);
            case GEMM_REDUCE_SCATTER, GEMM_ALL_REDUCE -> reduced(problem, a, b);
            case ALL_TO_ALL_GEMM -> dispatched(problem, a, b);
            case GEMM_ALL_TO_ALL -> combined(problem, a, b);
        };
    }

    private static ExpectedResult[] gathered(OverlapProblem problem, List<MemorySegment> a, List<MemorySegment> b) {
        ExpectedResult[] results = new ExpectedResult[problem.ranks()];
        try (Arena arena = Arena.ofShared()) {
            long bytes = problem.m() * problem.k() * problem.elementType().bytes();
            MemorySegment all = arena.allocate(bytes, Long.BYTES);
            long at = 0;
            for (MemorySegment shard : a) {
                all.asSlice(at, shard.byteSize()).copyFrom(shard);
                at += shard.byteSize();
            }
            for (int rank = 0; rank < results.length; rank++) {
                results[rank] = new ExpectedResult(size(problem.m()), size(problem.n()));
                results[rank].take(0, product(problem, all, b.get(rank), problem.m()), 0, problem.m());
            }
        }
        return results;
    }

    private static ExpectedResult[] reduced(OverlapProblem problem, List<MemorySegment> a, List<MemorySegment> b) {
        int ranks = problem.ranks();
        ExpectedResult sum = new ExpectedResult(size(problem.m()), size(problem.n()));
        ElementType type = problem.outputType();
        double[] magnitude = new double[sum.values.length];
        double half = type.isFloating() ? Math.scalb(1.0, -type.mantissaBits() - 1) : 0;
        for (int rank = 0; rank < ranks; rank++) {
            Expected partial = product(problem, a.get(rank), b.get(rank), problem.m());
            for (int row = 0; row < sum.rows; row++) {
                for (int column = 0; column < sum.columns; column++) {
                    int i = row * sum.columns + column;
                    double value = partial.value(0, row, column);
                    double slack = partial.slack(0, row, column);
                    double size = Math.abs(value) + slack;
                    sum.values[i] += value;
                    sum.slack[i] += slack + (ranks > 1 ? half * size : 0);
                    magnitude[i] += size;
                }
            }
        }
        for (int i = 0; i < magnitude.length; i++) {
            if (type == ElementType.INT32) {
                sum.values[i] = (int) (long) sum.values[i];
                sum.slack[i] = 0;
            } else {
                sum.slack[i] += ranks * FP32_ROUNDING * magnitude[i];
            }
        }
        ExpectedResult[] results = new ExpectedResult[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            boolean all = problem.pattern() == io.weft.scheduler.Pattern.GEMM_ALL_REDUCE;
            results[rank] = all ? sum : sum.part(problem.shardStart(rank), problem.shardRows(rank));
        }
        return results;
    }

    private static ExpectedResult[] dispatched(OverlapProblem problem, List<MemorySegment> a, List<MemorySegment> b) {
        int ranks = problem.ranks();
        long[][] rows = problem.exchange();
        long rowBytes = problem.k() * problem.elementType().bytes();
        ExpectedResult[] results = new ExpectedResult[ranks];
        long[] sent = new long[ranks];
        for (int destination = 0; destination < ranks; destination++) {
            long received = 0;
            for (int source = 0; source < ranks; source++) {
                received += rows[source][destination];
            }
            results[destination] = new ExpectedResult(size(received), size(problem.n()));
            try (Arena arena = Arena.ofShared()) {
                MemorySegment all = arena.allocate(Math.max(1, received * rowBytes), Long.BYTES);
                long at = 0;
                for (int source = 0; source < ranks; source++) {
                    long bytes = rows[source][destination] * rowBytes;
                    MemorySegment block = a.get(source).asSlice(sent[source], bytes);
                    all.asSlice(at, bytes).copyFrom(block);
                    sent[source] += bytes;
                    at += bytes;
                }
                if (received > 0) {
                    results[destination].take(0, product(problem, all, b.get(destination), received), 0, received);
                }
            }
        }
        return results;
    }

    private static ExpectedResult[] combined(OverlapProblem problem, List<MemorySegment> a, List<MemorySegment> b) {
        int ranks = problem.ranks();
        long[][] rows = problem.exchange();
        ExpectedResult[] results = new ExpectedResult[ranks];
        long[] filled = new long[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            results[rank] = new ExpectedResult(size(problem.shardRows(rank)), size(problem.n()));
        }
        for (int worker = 0; worker < ranks; worker++) {
            long held = 0;
            for (int home = 0; home < ranks; home++) {
                held += rows[home][worker];
            }
            if (held == 0) {
                continue;
            }
            Expected product = product(problem, a.get(worker), b.get(worker), held);
            long first = 0;
            for (int home = 0; home < ranks; home++) {
                long count = rows[home][worker];
                results[home].take(filled[home], product, first, count);
                filled[home] += count;
                first += count;
            }
        }
        return results;
    }

    private static Expected product(OverlapProblem problem, MemorySegment a, MemorySegment b, long rows) {
        ElementType type = problem.elementType();
        ElementType result = problem.outputType();
        int n = size(problem.n());
        int k = size(problem.k());
        // With beta 0 the result is not read: a matrix of one element, looked at again and again, has the shape and the
        // type.
        MemorySegment shape = MemorySegment.ofArray(new byte[result.bytes()]);
        return Reference.gemm(
                1,
                HostMatrix.rowMajor(a, type, size(rows), k),
                HostMatrix.rowMajor(b, type, k, n),
                0,
                new HostMatrix(shape, 0, result, 1, 0, size(rows), n, 0, 0));
    }

    private static int size(long value) {
        return Math.toIntExact(value);
    }

    private void take(long to, Expected from, long first, long count) {
        for (int row = 0; row < count; row++) {
            for (int column = 0; column < columns; column++) {
                int i = (size(to) + row) * columns + column;
                values[i] = from.value(0, size(first) + row, column);
                slack[i] = from.slack(0, size(first) + row, column);
            }
        }
    }

    private ExpectedResult part(long first, long count) {
        ExpectedResult part = new ExpectedResult(size(count), columns);
        System.arraycopy(values, size(first) * columns, part.values, 0, part.values.length);
        System.arraycopy(slack, size(first) * columns, part.slack, 0, part.slack.length);
        return part;
    }

    /** The bit pattern nearest to an element's value, off by some of its slack. */
    int nearest(ElementType type, int index, double slackShare) {
        return Elements.nearest(type, values[index] + slackShare * slack[index]);
    }
}
