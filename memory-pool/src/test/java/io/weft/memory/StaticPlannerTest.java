// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StaticPlannerTest {
    /** More than any search takes that ends by itself, which it does after the same steps on a machine of any speed, ns. */
    private static final long AMPLE = 300_000_000_000L;

    @Test
    void quickLayoutsNeverOverlapAndAreNeverBelowTheBound() {
        for (long seed = 0; seed < 50; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            LayoutProblem problem = new LayoutProblem(100);
            for (int i = 0; i < 100; i++) {
                long lower = random.nextInt(200);
                problem.add(i, 1 + random.nextInt(1000), lower, lower + 1 + random.nextInt(60));
            }
            StaticPlanner.Plan plan = StaticPlanner.quick(problem);
            assertNull(problem.faultOf(plan.offsets(), plan.height()), "seed " + seed);
            assertTrue(plan.height() >= problem.lowerBound(), "seed " + seed);
        }
    }

    /** Cuts a full rectangle into pieces, so that a layout without a gap is known to exist. */
    private static LayoutProblem puzzle(long seed, int pieces, long width, long height) {
        SplittableRandom random = new SplittableRandom(seed);
        java.util.List<long[]> rectangles = new java.util.ArrayList<>();
        rectangles.add(new long[] {0, width, 0, height});
        while (rectangles.size() < pieces) {
            int pick = random.nextInt(rectangles.size());
            long[] rectangle = rectangles.get(pick);
            boolean inTime = random.nextBoolean();
            long from = rectangle[inTime ? 0 : 2];
            long to = rectangle[inTime ? 1 : 3];
            if (to - from < 2) {
                continue;
            }
            long cut = from + 1 + random.nextLong(to - from - 1);
            long[] other = rectangle.clone();
            rectangle[inTime ? 1 : 3] = cut;
            other[inTime ? 0 : 2] = cut;
            rectangles.add(other);
        }
        LayoutProblem problem = new LayoutProblem(pieces);
        for (int i = 0; i < pieces; i++) {
            long[] rectangle = rectangles.get(i);
            problem.add(i, rectangle[3] - rectangle[2], rectangle[0], rectangle[1]);
        }
        return problem;
    }

    @Test
    void searchFindsALayoutWithoutAGapWhereQuickLayoutsNeedMore() {
        int better = 0;
        for (long seed = 0; seed < 20; seed++) {
            LayoutProblem problem = puzzle(seed, 22, 60, 400);
            StaticPlanner.Plan plan = StaticPlanner.within(problem, 400, AMPLE);
            assertEquals(400, plan.height(), "seed " + seed);
            assertNull(problem.faultOf(plan.offsets(), 400), "seed " + seed);
            better += StaticPlanner.quick(problem).height() > 400 ? 1 : 0;
        }
        assertTrue(better > 2, "the puzzles are too easy");
    }

    @Test
    void aProblemThatCannotFitGivesTheQuickLayout() {
        LayoutProblem problem = new LayoutProblem(2);
        problem.add(0, 60, 0, 10);
        problem.add(1, 60, 5, 15);
        assertEquals(120, StaticPlanner.within(problem, 100, AMPLE).height());
    }

    @Test
    void aSearchOfLargePuzzlesStopsInTimeAndStillGivesAValidLayout() {
        LayoutProblem problem = puzzle(7, 600, 5000, 1 << 20);
        long start = System.nanoTime();
        StaticPlanner.Plan plan = StaticPlanner.within(problem, 1 << 20, 50_000_000L);
        assertTrue(System.nanoTime() - start < AMPLE, "the search does not mind its time");
        assertNull(problem.faultOf(plan.offsets(), plan.height()));
    }

    @Test
    void manyMorePiecesStillFitWithoutAGap() {
        for (long seed = 100; seed < 106; seed++) {
            LayoutProblem problem = puzzle(seed, 45, 200, 4000);
            StaticPlanner.Plan plan = StaticPlanner.within(problem, 4000, AMPLE);
            assertEquals(4000, plan.height(), "seed " + seed + " after " + plan.nodes() + " nodes");
            assertNull(problem.faultOf(plan.offsets(), 4000), "seed " + seed);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"A", "B", "C", "D", "E", "F"})
    void theProblemsOfARealCompilerFitAtCapacity(String name) throws IOException {
        Path file = Path.of("../../shared/data/traces/minimalloc-" + name + ".1048576.csv");
        assumeTrue(Files.exists(file), file + " is not here");
        List<String> lines = Files.readAllLines(file);
        LayoutProblem problem = new LayoutProblem(lines.size());
        for (String line : lines.subList(1, lines.size())) {
            String[] fields = line.split(",", -1);
            problem.add(
                    problem.count(), Long.parseLong(fields[3]), Long.parseLong(fields[1]), Long.parseLong(fields[2]));
        }
        StaticPlanner.Plan plan = StaticPlanner.within(problem, 1 << 20, AMPLE);
        assertTrue(plan.height() <= 1 << 20, "reached " + plan.height() + " after " + plan.nodes() + " nodes");
        assertNull(problem.faultOf(plan.offsets(), 1 << 20));
    }
}
