// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class OverlapProblemTest {
    private static void refused(String part, Executable making) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, making);
        assertTrue(refusal.getMessage().contains(part), refusal::getMessage);
        assertFalse(refusal.getMessage().contains("\n"));
    }

    private static OverlapProblem problem(Pattern pattern, long m, int ranks, double skew) {
        return new OverlapProblem(pattern, m, 7, 5, ElementType.BF16, ranks, skew, 1);
    }

    @Test
    void nonsenseIsRefused() {
        ElementType type = ElementType.BF16;
        refused("at least 1", () -> OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 0, 1, 1, type, 2));
        refused("at least 1", () -> OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 1, -1, 1, type, 2));
        refused("ranks", () -> OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 1, 1, 1, type, 0));
        refused("2^62", () -> OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 1L << 40, 1, 1L << 40, type, 2));
        refused("2^62", () -> OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 1L << 59, 1, 1, type, 8));
        refused("skew", () -> problem(Pattern.ALL_GATHER_GEMM, 8, 2, 0.5));
        refused("0..1", () -> problem(Pattern.ALL_TO_ALL_GEMM, 8, 2, 1.5));
        refused("skew", () -> problem(Pattern.ALL_TO_ALL_GEMM, 8, 2, Double.NaN));
        refused("skew", () -> problem(Pattern.ALL_TO_ALL_GEMM, 8, 2, -0.1));
        refused("groups", () -> problem(Pattern.ALL_TO_ALL_GEMM, 8, 2, 0).withGroups(0));
        refused("groups", () -> problem(Pattern.ALL_GATHER_GEMM, 8, 2, 0).withGroups(2));
        refused("int8", () -> OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 1, 1, 1, ElementType.INT32, 2));
    }

    @Test
    void shardsCoverAllRowsWithoutGaps() {
        for (int ranks : new int[] {1, 2, 3, 4, 7, 8}) {
            for (long m : new long[] {1, 2, 5, 1000, 1024}) {
                OverlapProblem problem = problem(Pattern.ALL_GATHER_GEMM, m, ranks, 0);
                long next = 0;
                for (int rank = 0; rank < ranks; rank++) {
                    assertEquals(next, problem.shardStart(rank));
                    next += problem.shardRows(rank);
                }
                assertEquals(m, next);
            }
        }
    }

    @Test
    void anExchangeAlwaysSumsUpAndLoadsRanksAsTheSkewSays() {
        long seed = 20261129;
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 300; round++) {
            int ranks = random.nextInt(1, 12);
            long m = random.nextInt(1, round % 2 == 0 ? 50 : 100_000);
            double skew = round % 3 == 0 ? 0 : random.nextDouble() * (ranks - 1);
            OverlapProblem problem = problem(Pattern.ALL_TO_ALL_GEMM, m, ranks, skew);
            long[][] rows = problem.exchange();
            java.util.function.Supplier<String> what =
                    () -> problem + ", seed " + seed + ": " + Arrays.deepToString(rows);
            long[] received = new long[ranks];
            for (int source = 0; source < ranks; source++) {
                assertEquals(
                        problem.shardRows(source), Arrays.stream(rows[source]).sum(), what);
                for (int destination = 0; destination < ranks; destination++) {
                    assertTrue(rows[source][destination] >= 0, what);
                    received[destination] += rows[source][destination];
                }
            }
            long least = Long.MAX_VALUE;
            long most = 0;
            for (int rank = skew == 0 ? 0 : 1; rank < ranks; rank++) {
                least = Math.min(least, received[rank]);
                most = Math.max(most, received[rank]);
            }
            assertTrue(most == 0 || most - least <= 1, what);
            if (skew > 0) {
                assertEquals((1 + skew) * m / ranks, (double) received[0], ranks, what);
            }
        }
    }

    @Test
    void theResultIsWideEnoughForTheSum() {
        assertEquals(
                ElementType.INT32,
                OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 1, 1, 1, ElementType.INT8, 1)
                        .outputType());
        assertEquals(
                ElementType.BF16,
                OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 1, 1, 1, ElementType.FP8_E4M3, 1)
                        .outputType());
        assertEquals(
                ElementType.FP16,
                OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 1, 1, 1, ElementType.FP16, 1)
                        .outputType());
    }
}
