// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Accelerators;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeuristicSelectorTest {
    private static Platform mesh;
    private static Platform star;

    @BeforeAll
    static void open() {
        mesh = Accelerators.discover().open("sim:mesh-8");
        star = Accelerators.discover().open("sim:switch-8");
    }

    @AfterAll
    static void close() {
        mesh.close();
        star.close();
    }

    private static Selection select(Platform platform, Pattern pattern, long m, long n, long k) {
        Selection selection = new HeuristicSelector(platform, Optional.empty())
                .select(OverlapProblem.of(pattern, m, n, k, ElementType.BF16, 8));
        assertFalse(selection.reason().contains("\n"));
        assertTrue(selection.reason().contains("operations per byte"), selection::reason);
        return selection;
    }

    /** Shapes of no model in particular, none of which the rules were written with. */
    @ParameterizedTest
    @CsvSource({"sim:mesh-8, 0.03", "sim:switch-8, 0.04", "sim:ring-4, 0.06"})
    void withCostsOfSingleCommandsLittleIsLostAgainstTheSearch(String uri, double most) {
        long seed = 20261129;
        Random random = new Random(seed);
        try (Platform platform = Accelerators.discover().open(uri + "?mode=timing")) {
            int ranks = platform.devices().size();
            ModelSelector search = new ModelSelector(platform);
            HeuristicSelector rules = new HeuristicSelector(platform);
            double lost = 0;
            int problems = 15;
            List<Pattern> patterns = List.of(Pattern.values());
            for (int i = 0; i < problems; i++) {
                long rows = (512L << random.nextInt(8)) * (2 + random.nextInt(3)) / 2;
                long hidden = 1024L * (2 + random.nextInt(10));
                long split = 64L * (1 + random.nextInt(60));
                Pattern pattern = patterns.get(i % patterns.size());
                OverlapProblem problem = pattern.gathers()
                        ? OverlapProblem.of(pattern, rows, split, hidden, ElementType.BF16, ranks)
                        : OverlapProblem.of(pattern, rows, hidden, split, ElementType.BF16, ranks);
                OverlapMetrics best = search.select(problem).metrics().orElseThrow();
                OverlapMetrics chosen = rules.select(problem).metrics().orElseThrow();
                lost += chosen.us() / best.us() - 1;
                for (Selection.Candidate candidate : search.select(problem).candidates()) {
                    assertTrue(
                            candidate.speedup() <= best.idealSpeedup() * (1 + 1e-9),
                            () -> "seed " + seed + ", " + problem + ": " + candidate + " is above the ideal "
                                    + best.idealSpeedup());
                }
            }
            double mean = lost / problems;
            assertTrue(mean <= most, () -> uri + ", seed " + seed + ": mean regret " + 100 * mean + " %");
        }
    }

    /** The paper's g13, whose operands take most of a device's memory. */
    @Test
    void aProblemThatFitsOnceIsWeighedAllTheSame() {
        Schedule choice = new HeuristicSelector(mesh)
                .choose(OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 1_607_680, 57_344 / 8, 8192, ElementType.BF16, 8));
        assertTrue(choice.kind() != Schedule.Kind.SERIAL && choice.kind() != Schedule.Kind.SHARD_P2P, choice::toString);
    }

    /** The paper's g12 over four devices of 64 GiB: the operands fit, and some schedules' staging blocks beside them do not. */
    @Test
    void schedulesThatDoNotFitAreLeftOutOfTheSearch() {
        OverlapProblem problem =
                OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 1_048_576, 57_344 / 4, 8192, ElementType.BF16, 4);
        try (Platform small = Accelerators.discover().open("sim:ring-4?mode=timing")) {
            Selection selection = new ModelSelector(small).select(problem);
            assertTrue(selection.candidates().stream().allMatch(c -> Double.isFinite(c.us())));
            assertTrue(selection.candidates().stream()
                    .noneMatch(c -> c.schedule().kind() == Schedule.Kind.UNIFORM_FUSED_1D
                            && c.schedule().chunks() == 2));
            assertTrue(selection.metrics().orElseThrow().speedup() >= 1);
        }
    }

    @Test
    void aGemmBoundByMemoryStaysSerial() {
        Selection selection = select(mesh, Pattern.ALL_GATHER_GEMM, 64, 8192, 8192);
        assertEquals(Schedule.Kind.SERIAL, selection.choice().kind());
        assertTrue(selection.reason().contains("bound by memory"), selection::reason);
    }

    @Test
    void communicationShorterThanTheOwnBlockIsCovered() {
        Selection selection = select(mesh, Pattern.ALL_GATHER_GEMM, 262144, 28672, 8192);
        assertEquals(Schedule.Kind.COVER_MERGE, selection.choice().kind());
    }

    @Test
    void aLongInnerSumAboveFewRowsIsCutIntoSlabs() {
        Selection selection = select(mesh, Pattern.ALL_GATHER_GEMM, 16384, 2048, 131072);
        assertEquals(Schedule.Kind.UNIFORM_FUSED_2D, selection.choice().kind());
    }

    @Test
    void aProductThatTravelsIsCutIntoSlabsOfItsColumns() {
        Selection selection = select(mesh, Pattern.GEMM_REDUCE_SCATTER, 8192, 8192, 3584);
        assertEquals(Schedule.Kind.UNIFORM_FUSED_2D, selection.choice().kind());
    }

    @Test
    void atASwitchWholeShardsTravelOneByOne() {
        Selection selection = select(star, Pattern.ALL_GATHER_GEMM, 8192, 1280, 8192);
        assertEquals(Schedule.Kind.SHARD_P2P, selection.choice().kind());
    }

    @Test
    void chunksUnderAMegabyteStaySerial() {
        Selection selection = select(mesh, Pattern.ALL_TO_ALL_GEMM, 8192, 1792, 4096);
        assertEquals(Schedule.Kind.SERIAL, selection.choice().kind());
    }

    @Test
    void theSameProblemGetsTheSameAnswerAndSerialIsWeighed() {
        Selection first = select(mesh, Pattern.GEMM_ALL_REDUCE, 4096, 8192, 3584);
        assertEquals(first, select(mesh, Pattern.GEMM_ALL_REDUCE, 4096, 8192, 3584));
        assertTrue(first.candidates().stream().anyMatch(c -> c.schedule().kind() == Schedule.Kind.SERIAL));
    }
}
