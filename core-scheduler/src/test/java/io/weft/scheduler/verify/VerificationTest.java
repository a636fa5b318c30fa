// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Accelerators;
import io.weft.api.Communicator;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.api.graph.CommandGraph;
import io.weft.scheduler.HeuristicSelector;
import io.weft.scheduler.LoweredSchedule;
import io.weft.scheduler.Lowering;
import io.weft.scheduler.OverlapEngine;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.Schedule;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Schedules on the reference backend, on real data. */
class VerificationTest {
    private static final long SEED = 42;
    private static Platform platform;

    @BeforeAll
    static void open() {
        platform = Accelerators.discover().open("sim:mesh-8");
    }

    @AfterAll
    static void close() {
        platform.close();
    }

    private static OverlapEngine engine(int ranks, OverlapEngine.Issue issue) {
        return OverlapEngine.open(
                Communicator.over(platform, platform.devices().subList(0, ranks)),
                new HeuristicSelector(platform),
                issue);
    }

    private static void everyKindIsRight(OverlapEngine engine, OverlapProblem problem) {
        try (Verification verification = Verification.prepare(engine, problem, SEED)) {
            for (Schedule.Kind kind : Schedule.Kind.values()) {
                VerificationResult result = verification.check(Schedule.of(kind).withStreams(2));
                String what = problem + " " + kind + " seed " + SEED + ": " + result.difference();
                assertTrue(result.verified(), what);
                assertTrue(result.maxUlp() <= Verification.MAX_ULP, what);
                assertTrue(result.bitIdentical() || !kind.keepsBits(problem.pattern()), what);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Pattern.class)
    void everyKindIsRightForSizesThatNothingDivides(Pattern pattern) {
        try (OverlapEngine engine = engine(3, OverlapEngine.Issue.AUTOMATIC)) {
            everyKindIsRight(engine, OverlapProblem.of(pattern, 100, 13, 29, ElementType.BF16, 3));
            everyKindIsRight(engine, OverlapProblem.of(pattern, 5, 7, 9, ElementType.FP32, 3));
        }
    }

    @ParameterizedTest
    @EnumSource(Pattern.class)
    void streamsAndEventsKeepTheOrderAsWellAsADeviceGraph(Pattern pattern) {
        try (OverlapEngine engine = engine(4, OverlapEngine.Issue.STREAMS)) {
            everyKindIsRight(engine, OverlapProblem.of(pattern, 61, 13, 29, ElementType.FP16, 4));
        }
    }

    @Test
    void anAccumulatedReductionIsRightButHasOtherBits() {
        try (OverlapEngine engine = engine(2, OverlapEngine.Issue.AUTOMATIC);
                Verification verification = Verification.prepare(
                        engine,
                        OverlapProblem.of(Pattern.GEMM_REDUCE_SCATTER, 64, 32, 48, ElementType.BF16, 2),
                        SEED)) {
            VerificationResult result =
                    verification.check(Schedule.parse("hetero-unfused-1d/chunks=2,reduction=accumulate"));
            assertTrue(result.verified(), () -> "seed " + SEED + ": " + result.difference());
            assertFalse(result.bitIdentical());
        }
    }

    @Test
    void aSkewedExchangeIsRight() {
        try (OverlapEngine engine = engine(4, OverlapEngine.Issue.AUTOMATIC)) {
            for (Pattern pattern : List.of(Pattern.ALL_TO_ALL_GEMM, Pattern.GEMM_ALL_TO_ALL)) {
                everyKindIsRight(
                        engine,
                        OverlapProblem.of(pattern, 90, 8, 16, ElementType.BF16, 4)
                                .withSkew(1.5));
            }
        }
    }

    @Test
    void aDroppedDependencyFailsAndIsNamed() {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 64, 32, 48, ElementType.BF16, 4);
        LoweredSchedule lowered = Lowering.lower(problem, Schedule.parse("hetero-unfused-1d/chunks=2,streams=4"));
        CommandGraph graph = lowered.graph();
        try (OverlapEngine engine = engine(4, OverlapEngine.Issue.AUTOMATIC);
                Verification verification = Verification.prepare(engine, problem, SEED)) {
            assertTrue(verification.check(lowered).verified());
            int dropped = 0;
            int caught = 0;
            for (int node = 0; node < graph.size() && dropped < 8; node++) {
                if (graph.dependencyCount(node) > 0) {
                    VerificationResult result = verification.check(
                            lowered.withGraph(graph.withoutDependency(node, graph.dependency(node, 0))));
                    dropped++;
                    if (!result.verified()) {
                        caught++;
                        VerificationResult.Difference difference =
                                result.difference().orElseThrow();
                        assertEquals(graph.device(node), difference.rank());
                    }
                }
            }
            assertTrue(caught > 0, caught + " of " + dropped + " dropped dependencies were caught, seed " + SEED);
        }
    }
}
