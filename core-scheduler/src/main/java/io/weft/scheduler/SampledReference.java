// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.numeric.Elements;
import io.weft.api.numeric.Poison;
import io.weft.api.numeric.RandomData;
import io.weft.api.numeric.Ulp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Chosen elements of the right result, in double precision and straight from the pattern's meaning: all of them where that is little work, otherwise some of each part of the rows, the first and the last row among them. Of every chosen row
 * all columns must have been written.
 *
 * <p>An element is right when it is at most one unit in the last place from the interval around its value which rounding explains. Partial products that are summed were each rounded once, {@code 2^-(p+1)} of their size with p mantissa bits. fp32
 * sums of K terms are off by {@code 8 sqrt(2 K) 2^-24} of the sum of absolute values except with a probability below 1e-13 (Higham and Mary, A new approach to probabilistic rounding error analysis, 2019, theorem 2.4); for short sums
 * the certain bound {@code 2 K 2^-24} is smaller and is taken.
 *
 * <p>Immutable; data are made anew from the seed, so nothing of a large matrix is kept.
 */
public final class SampledReference {
    /** Multiply-adds up to which every element is computed: about a second on two cores. */
    private static final double ALL_UP_TO = 3e8;

    /** Parts of the rows, of each of which one is looked at; schedules cut shards into far fewer pieces. */
    private static final int ROW_PARTS = 48;

    private static final int COLUMNS = 48;

    private static final double FP32_ROUNDING = 0x1p-24;
    private static final double CONFIDENCE = 8;

    /**
     * What was found.
     *
     * @param verified whether all is right
     * @param elements elements compared, over all ranks
     * @param complete whether these are all elements of the result
     * @param maxUlp largest distance beyond the interval, units in the last place
     * @param difference the first wrong element, in words
     */
    public record Outcome(
            boolean verified, long elements, boolean complete, long maxUlp, Optional<String> difference) {}

    private record Part(int source, long row) {}

    private final OverlapProblem problem;
    private final long seed;
    private final boolean complete;
    private final long[][] rows;
    private final int[] columns;
    private final double[][][] values;
    private final double[][][] slack;

    private SampledReference(OverlapProblem problem, long seed, boolean complete, long[][] rows, int[] columns) {
        this.problem = problem;
        this.seed = seed;
        this.complete = complete;
        this.rows = rows;
        this.columns = columns;
        this.values = new double[rows.length][][];
        this.slack = new double[rows.length][][];
    }

    /** The reference of a problem whose data come from this seed, as {@link OverlapTimer} makes them. */
    public static SampledReference of(OverlapProblem problem, long seed) {
        RowPlan plan = RowPlan.of(problem);
        double work = 0;
        for (long received : plan.received) {
            work += (double) received * problem.n() * problem.k();
        }
        boolean complete = work * (problem.pattern().reduces() ? problem.ranks() : 1) <= ALL_UP_TO;
        SplittableRandom random = new SplittableRandom(seed);
        int[] columns = Arrays.stream(pick(problem.n(), complete ? Integer.MAX_VALUE : COLUMNS, random))
                .mapToInt(Math::toIntExact)
                .toArray();
        long[][] rows = new long[problem.ranks()][];
        for (int rank = 0; rank < rows.length; rank++) {
            rows[rank] = pick(plan.received[rank], complete ? Integer.MAX_VALUE : ROW_PARTS, random);
        }
        SampledReference reference = new SampledReference(problem, seed, complete, rows, columns);
        reference.compute(plan);
        return reference;
    }

    /** One of each part of {@code 0..count-1}, ascending, the first and the last among them. */
    private static long[] pick(long count, int parts, SplittableRandom random) {
        if (count <= parts) {
            return java.util.stream.LongStream.range(0, count).toArray();
        }
        long[] picked = new long[parts];
        for (int i = 0; i < parts; i++) {
            picked[i] = random.nextLong(i * count / parts, (i + 1L) * count / parts);
        }
        picked[0] = 0;
        picked[parts - 1] = count - 1;
        return picked;
    }

    private void compute(RowPlan plan) {
        double[][][] weights = new double[problem.ranks()][][];
        for (int rank = 0; rank < weights.length; rank++) {
            weights[rank] = weight(rank);
        }
        for (int rank = 0; rank < rows.length; rank++) {
            int d = rank;
            values[d] = new double[rows[d].length][columns.length];
            slack[d] = new double[rows[d].length][columns.length];
            IntStream.range(0, rows[d].length).parallel().forEach(i -> row(plan, weights, d, i));
        }
    }

    /** The chosen columns of a rank's weight. */
    private double[][] weight(int rank) {
        int k = Math.toIntExact(problem.k());
        ElementType type = problem.elementType();
        double[][] chosen = new double[columns.length][k];
        IntStream.range(0, columns.length).parallel().forEach(j -> {
            for (int i = 0; i < k; i++) {
                chosen[j][i] =
                        Elements.value(type, RandomData.bits(type, seed, 2L * rank + 1, i * problem.n() + columns[j]));
            }
        });
        return chosen;
    }

    private void row(RowPlan plan, double[][][] weights, int d, int i) {
        int k = Math.toIntExact(problem.k());
        ElementType type = problem.elementType();
        ElementType result = problem.outputType();
        List<Part> parts = parts(plan, d, rows[d][i]);
        double half = result.isFloating() && parts.size() > 1 ? Math.scalb(1.0, -result.mantissaBits() - 1) : 0;
        double terms = Math.min(2.0 * k + 3, CONFIDENCE * Math.sqrt(2.0 * k + 3));
        double[] left = new double[k];
        double[] magnitude = new double[columns.length];
        for (Part part : parts) {
            for (int x = 0; x < k; x++) {
                left[x] = Elements.value(
                        type, RandomData.bits(type, seed, 2L * part.source(), part.row() * problem.k() + x));
            }
            double[][] right = weights[problem.pattern().gathers() ? d : part.source()];
            for (int j = 0; j < columns.length; j++) {
                double sum = 0;
                double size = 0;
                for (int x = 0; x < k; x++) {
                    double product = left[x] * right[j][x];
                    sum += product;
                    size += Math.abs(product);
                }
                double off = type.isFloating() ? terms * FP32_ROUNDING * size : 0;
                values[d][i][j] += sum;
                slack[d][i][j] += off + half * (Math.abs(sum) + off);
                magnitude[j] += Math.abs(sum) + off;
            }
        }
        for (int j = 0; j < columns.length && parts.size() > 1 && result.isFloating(); j++) {
            slack[d][i][j] += parts.size() * FP32_ROUNDING * magnitude[j];
        }
    }

    /** Whose rows of A stand behind a row of a rank's result. */
    private List<Part> parts(RowPlan plan, int d, long row) {
        if (problem.pattern().reduces()) {
            boolean all = problem.pattern() == Pattern.GEMM_ALL_REDUCE;
            long at = all ? row : problem.shardStart(d) + row;
            return IntStream.range(0, problem.ranks())
                    .mapToObj(source -> new Part(source, at))
                    .toList();
        }
        for (int s = 0; s < problem.ranks(); s++) {
            long inside = row - plan.to[s][d];
            if (inside >= 0 && inside < plan.rows[s][d]) {
                return List.of(new Part(s, plan.from[s][d] + inside));
            }
        }
        throw new IllegalStateException("no source for row " + row + " of rank " + d);
    }

    /** Compares results on the devices, on which nothing is at work. */
    Outcome compare(List<BufferView> results) {
        ElementType type = problem.outputType();
        long bytes = problem.n() * type.bytes();
        long elements = 0;
        long worst = 0;
        List<String> wrong = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment line = arena.allocate(bytes, ValueLayout.JAVA_LONG.byteAlignment());
            for (int d = 0; d < rows.length; d++) {
                for (int i = 0; i < rows[d].length; i++) {
                    ((Buffer) results.get(d).memory()).read(line, rows[d][i] * bytes);
                    long left = Poison.firstLeft(line, 0, type, problem.n());
                    if (left >= 0) {
                        wrong.add(place(d, i, left) + " was never written");
                        worst = Ulp.INCOMPARABLE;
                    }
                    for (int j = 0; j < columns.length; j++) {
                        int bits = Elements.bits(line, (long) columns[j] * type.bytes(), type);
                        long ulps = distance(type, d, i, j, bits);
                        worst = Math.max(worst, ulps);
                        elements++;
                        if (ulps > 1) {
                            wrong.add(place(d, i, columns[j]) + ": expected " + values[d][i][j] + ", actual "
                                    + Elements.value(type, bits));
                        }
                    }
                    if (!wrong.isEmpty()) {
                        return new Outcome(false, elements, complete, worst, Optional.of(wrong.getFirst()));
                    }
                }
            }
        }
        return new Outcome(true, elements, complete, worst, Optional.empty());
    }

    private String place(int rank, int row, long column) {
        return "rank " + rank + ", row " + rows[rank][row] + ", column " + column;
    }

    private long distance(ElementType type, int d, int i, int j, int bits) {
        double value = values[d][i][j];
        if (type == ElementType.INT32) {
            return (int) (long) value == bits ? 0 : Ulp.INCOMPARABLE; // sums of int32 wrap
        }
        long plain = Ulp.distance(type, Elements.nearest(type, value), bits);
        if (plain <= 1 || plain == Ulp.INCOMPARABLE) {
            return plain;
        }
        int low = Elements.nearest(type, value - slack[d][i][j]);
        int high = Elements.nearest(type, value + slack[d][i][j]);
        double found = Elements.value(type, bits);
        if (found >= Elements.value(type, low) && found <= Elements.value(type, high)) {
            return 0;
        }
        return Math.min(Ulp.distance(type, low, bits), Ulp.distance(type, high, bits));
    }
}
