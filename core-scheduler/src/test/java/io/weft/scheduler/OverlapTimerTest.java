// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Accelerators;
import io.weft.api.Communicator;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.api.graph.CommandGraph;
import io.weft.spi.PerformanceModel;
import io.weft.spi.PerformanceModel.Issue;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OverlapTimerTest {
    private static final long SEED = 7;
    private static Platform platform;

    @BeforeAll
    static void open() {
        platform = Accelerators.discover().open("sim:switch-8");
    }

    @AfterAll
    static void close() {
        platform.close();
    }

    private static Communicator ranks(int count) {
        return Communicator.over(platform, platform.devices().subList(0, count));
    }

    @ParameterizedTest
    @EnumSource(Pattern.class)
    void everyTypicalScheduleIsRightInEveryElement(Pattern pattern) {
        for (int ranks : new int[] {2, 3}) {
            OverlapProblem problem = OverlapProblem.of(pattern, 61, 13, 29, ElementType.BF16, ranks);
            SampledReference reference = SampledReference.of(problem, SEED);
            try (Communicator communicator = ranks(ranks);
                    OverlapTimer timer = OverlapTimer.open(communicator, problem, SEED)) {
                for (Schedule schedule : TypicalSchedules.of(problem, true)) {
                    for (Issue issue : Issue.values()) {
                        SampledReference.Outcome outcome = timer.check(timer.prepare(schedule, issue), reference);
                        assertTrue(
                                outcome.verified() && outcome.complete(),
                                () -> problem + " " + schedule + " seed " + SEED + ": " + outcome);
                    }
                }
            }
        }
    }

    @Test
    void inPlaceEveryScheduleIsRightAndOwnRowsAreNotCopied() {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 512, 13, 29, ElementType.BF16, 2)
                .withInPlace(true);
        SampledReference reference = SampledReference.of(problem, SEED);
        try (Communicator communicator = ranks(2);
                OverlapTimer timer = OverlapTimer.open(communicator, problem, SEED)) {
            for (Schedule schedule : TypicalSchedules.of(problem, true)) {
                OverlapTimer.TimedSchedule ready = timer.prepare(schedule, Issue.DEVICE_GRAPH);
                SampledReference.Outcome outcome = timer.check(ready, reference);
                assertTrue(outcome.verified(), () -> schedule + " seed " + SEED + ": " + outcome);
            }
            Schedule merge = Schedule.parse("cover-merge/cover=0.5");
            assertEquals(
                    Lowering.lower(problem.withInPlace(false), merge).graph().size() - 2,
                    Lowering.lower(problem, merge).graph().size());
        }
    }

    @Test
    void samplesOfALargeResultFindADroppedDependency() {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 512, 512, 1024, ElementType.BF16, 2);
        LoweredSchedule lowered = Lowering.lower(problem, Schedule.parse("hetero-unfused-1d/chunks=2"));
        CommandGraph graph = lowered.graph();
        SampledReference reference = SampledReference.of(problem, SEED);
        try (Communicator communicator = ranks(2);
                OverlapTimer timer = OverlapTimer.open(communicator, problem, SEED)) {
            SampledReference.Outcome good = timer.check(timer.prepare(lowered, Issue.DEVICE_GRAPH), reference);
            assertTrue(good.verified(), () -> "seed " + SEED + ": " + good);
            assertFalse(good.complete());
            int node = 0;
            while (graph.dependencyCount(node) == 0) {
                node++;
            }
            CommandGraph racy = graph.withoutDependency(node, graph.dependency(node, 0));
            SampledReference.Outcome bad =
                    timer.check(timer.prepare(lowered.withGraph(racy), Issue.DEVICE_GRAPH), reference);
            assertFalse(bad.verified(), "seed " + SEED);
            assertTrue(bad.difference().isPresent());
        }
    }

    @Test
    void onAModelATimeIsWhatTheModelEstimatesAndEveryRoundIsCounted() {
        PerformanceModel model = platform.extension(PerformanceModel.class).orElseThrow();
        OverlapProblem problem = OverlapProblem.of(Pattern.GEMM_REDUCE_SCATTER, 256, 64, 64, ElementType.BF16, 2);
        try (Communicator communicator = ranks(2);
                OverlapTimer timer = OverlapTimer.open(communicator, problem, SEED)) {
            List<Supplier<GraphTimer.Sample>> runs = new ArrayList<>();
            List<LoweredSchedule> graphs = List.of(
                    Lowering.lower(problem, Schedule.serial()),
                    AloneGraphs.gemm(problem),
                    AloneGraphs.communication(problem, TransferEngine.COLLECTIVE),
                    AloneGraphs.communication(problem, TransferEngine.COPY_ENGINE));
            graphs.forEach(graph -> runs.add(timer.prepare(graph, Issue.DEVICE_GRAPH)::run));
            int[] steps = new int[1];
            List<Repetitions> times = Repetitions.inTurn(runs, 1, 3, () -> steps[0]++);
            assertEquals(16, steps[0]);
            for (int i = 0; i < graphs.size(); i++) {
                double estimate = model.estimate(
                                graphs.get(i).graph(), Issue.DEVICE_GRAPH, PerformanceModel.Detail.SUMMARY)
                        .makespanNanos();
                assertEquals(estimate / 1e3, times.get(i).median(), 1e-3, "graph " + i);
                assertEquals(3, times.get(i).us().size());
                assertEquals(0, times.get(i).spread(), 1e-9);
            }
            assertTrue(times.get(0).median() > times.get(1).median());
            assertTrue(times.get(0).median() > times.get(2).median());
        }
    }

    @Test
    void quantilesAreThoseOfTheSortedTimes() {
        Repetitions times = new Repetitions(List.of(4.0, 1.0, 3.0, 2.0, 100.0), List.of(1.0, 1.0, 1.0, 1.0, 1.0));
        assertEquals(3, times.median());
        assertEquals(1, times.least());
        assertEquals(100, times.most());
        assertEquals(2.0 / 3, times.spread(), 1e-12);
        assertEquals(Optional.of(4.0), Optional.of(times.us().getFirst()));
    }
}
