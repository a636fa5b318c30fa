// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.ElementType;
import io.weft.spi.PerformanceModel;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SelectorTest {
    private static final OverlapProblem BALANCED =
            OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 8192, 1024, 1024, ElementType.BF16, 4);

    private static ModelSelector selector(LaneModel model) {
        return new ModelSelector(model, PerformanceModel.Issue.DEVICE_GRAPH, true);
    }

    @ParameterizedTest
    @EnumSource(Pattern.class)
    void theChoiceIsNeverSlowerThanSerialAndSerialIsAlwaysWeighed(Pattern pattern) {
        for (double gbPerSecond : new double[] {0.1, 1000}) {
            ModelSelector selector = selector(new LaneModel(1e-3, gbPerSecond, 2000));
            for (long m : new long[] {1, 1000, 8192}) {
                Selection selection = selector.select(OverlapProblem.of(pattern, m, 512, 512, ElementType.BF16, 4));
                Selection.Candidate chosen = selection.candidates().stream()
                        .filter(c -> c.schedule().equals(selection.choice()))
                        .findFirst()
                        .orElseThrow();
                assertTrue(chosen.speedup() >= 1, selection::toString);
                assertTrue(selection.candidates().stream()
                        .anyMatch(c -> c.schedule().equals(Schedule.serial())));
                assertEquals(chosen.us(), selection.metrics().orElseThrow().us(), 1e-6);
                assertFalse(selection.reason().contains("\n"));
            }
        }
    }

    @Test
    void candidatesAreSortedAndNoneTwice() {
        List<Selection.Candidate> candidates =
                selector(new LaneModel(1e-3, 10, 2000)).select(BALANCED).candidates();
        for (int i = 1; i < candidates.size(); i++) {
            assertTrue(candidates.get(i - 1).us() <= candidates.get(i).us());
        }
        assertEquals(
                candidates.size(),
                new HashSet<>(candidates.stream()
                                .map(Selection.Candidate::schedule)
                                .toList())
                        .size());
    }

    @Test
    void aSlowLinkIsWorthOverlapAndTheReasonHasNumbers() {
        // 512 us of GEMM per rank quarter against 400 us of communication.
        Selection selection = selector(new LaneModel(1e-5, 10, 100)).select(BALANCED);
        assertTrue(selection.choice().kind() != Schedule.Kind.SERIAL, selection::reason);
        assertTrue(selection.reason().matches(".*\\d+\\.\\d+x of serial.*"), selection::reason);
        assertTrue(selection.runnerUp().isPresent());
        assertTrue(selection.runnerUp().get().kind() != selection.choice().kind());
    }

    @Test
    void aGainBelowTheNoiseIsLeftToSerial() {
        Selection selection = selector(new LaneModel(1e-9, 1e9, 1e6)).select(BALANCED);
        assertEquals(Schedule.serial(), selection.choice());
        assertTrue(selection.reason().contains("below the noise"), selection::reason);
    }

    @Test
    void theSameProblemGetsTheSameAnswerAgain() {
        ModelSelector selector = selector(new LaneModel(1e-5, 10, 100));
        assertSame(selector.select(BALANCED), selector.select(BALANCED));
        assertEquals(
                selector.select(BALANCED),
                selector(new LaneModel(1e-5, 10, 100)).select(BALANCED));
    }

    @Test
    void oneRankHasNothingToChoose() {
        Selection selection = selector(new LaneModel(1e-5, 10, 100))
                .select(OverlapProblem.of(Pattern.GEMM_ALL_REDUCE, 64, 64, 64, ElementType.BF16, 1));
        assertEquals(Schedule.serial(), selection.choice());
        assertEquals(1, selection.candidates().size());
    }

    @Test
    void theSpaceHoldsEveryKindAndOnlySchedulesThatLower() {
        for (Pattern pattern : Pattern.values()) {
            List<Schedule> schedules = new CandidateSpace(
                            OverlapProblem.of(pattern, 8192, 1024, 1024, ElementType.BF16, 8), true, 132, 0.3)
                    .schedules();
            for (Schedule.Kind kind : Schedule.Kind.values()) {
                assertTrue(schedules.stream().anyMatch(s -> s.kind() == kind), kind::toString);
            }
            assertTrue(schedules.contains(Schedule.parse("cover-merge/cover=0.3125")));
            assertEquals(Schedule.serial(), schedules.getFirst());
            assertTrue(schedules.size() <= 100, schedules::toString);
        }
    }
}
