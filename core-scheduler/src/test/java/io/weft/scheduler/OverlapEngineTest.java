// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Accelerators;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.Stream;
import io.weft.api.graph.Timeline;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OverlapEngineTest {
    private static final int RANKS = 2;
    private Platform platform;
    private Communicator communicator;
    private OverlapEngine engine;
    private final List<BufferView> shards = new ArrayList<>();
    private final List<BufferView> weights = new ArrayList<>();
    private final List<BufferView> results = new ArrayList<>();

    /** A is 0, 1, 2, ... row by row, B of rank r is r + 1 times the identity: C of rank r is A times r + 1. */
    @BeforeEach
    void open() {
        platform = Accelerators.discover().open("sim:switch-8");
        communicator = Communicator.over(platform, platform.devices().subList(0, RANKS));
        engine = OverlapEngine.open(communicator);
        for (int rank = 0; rank < RANKS; rank++) {
            Device device = communicator.device(rank);
            shards.add(filled(device, 2, 2, 4f * rank, 4f * rank + 1, 4f * rank + 2, 4f * rank + 3));
            weights.add(filled(device, 2, 2, rank + 1f, 0, 0, rank + 1f));
            results.add(filled(device, 4, 2, -1, -1, -1, -1, -1, -1, -1, -1));
        }
    }

    @AfterEach
    void close() {
        engine.close();
        communicator.close();
        platform.close();
    }

    private static BufferView filled(Device device, long rows, long columns, float... values) {
        Buffer buffer = device.allocate(values.length * 4L);
        buffer.write(ElementType.FP32, values);
        return buffer.matrix(rows, columns, ElementType.FP32);
    }

    private float[] result(int rank) {
        return ((Buffer) results.get(rank).memory()).read(ElementType.FP32, 8);
    }

    private void assertGathered() {
        assertArrayEquals(new float[] {0, 1, 2, 3, 4, 5, 6, 7}, result(0));
        assertArrayEquals(new float[] {0, 2, 4, 6, 8, 10, 12, 14}, result(1));
    }

    @Test
    void anAllGatherGemmGivesEveryRankAllRows() {
        OverlapRun run = engine.allGatherGemm(shards, weights, results);
        run.synchronize();
        assertGathered();
        assertTrue(run.done(0).query());
        Selection selection = run.selection().orElseThrow();
        assertEquals(run.schedule(), selection.choice());
        assertSame(selection, engine.explain().orElseThrow());
    }

    @Test
    void aRunKeepsTheOrderOfTheCallersStreams() {
        List<Stream> streams = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            streams.add(communicator.device(rank).createStream());
        }
        Stream first = streams.getFirst();
        // The weight is there only behind a copy issued just before, and the result is read by one issued just after.
        BufferView late = filled(communicator.device(0), 2, 2, 9, 9, 9, 9);
        first.copy(late, filled(communicator.device(0), 2, 2, 3, 0, 0, 3));
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 4, 2, 2, ElementType.FP32, RANKS);
        engine.run(problem, Schedule.parse("cover-merge"), shards, List.of(late, weights.get(1)), results, streams);
        BufferView copyOfResult = filled(communicator.device(0), 4, 2, 0, 0, 0, 0, 0, 0, 0, 0);
        first.copy(copyOfResult, results.getFirst());
        first.synchronize();
        assertArrayEquals(
                new float[] {0, 3, 6, 9, 12, 15, 18, 21}, ((Buffer) copyOfResult.memory()).read(ElementType.FP32, 8));
        streams.forEach(Stream::close);
    }

    @Test
    void repeatedRunsReuseThePlanAndTheWorkspace() {
        Schedule schedule = Schedule.parse("hetero-unfused-1d/chunks=2");
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 4, 2, 2, ElementType.FP32, RANKS);
        OverlapRun first = engine.run(problem, schedule, shards, weights, results, null);
        long bytes = engine.workspaceBytes();
        for (int i = 0; i < 5; i++) {
            OverlapRun next = engine.run(problem, schedule, shards, weights, results, null);
            assertSame(first.lowered(), next.lowered());
        }
        OverlapRun other = engine.run(problem, Schedule.parse("cover-merge"), shards, weights, results, null);
        assertNotSame(first.lowered(), other.lowered());
        other.synchronize();
        assertEquals(bytes, engine.workspaceBytes());
        assertGathered();
        AcceleratorException stale = assertThrows(AcceleratorException.class, first::timeline);
        assertEquals(ErrorCode.INVALID_STATE, stale.code());
    }

    @Test
    void aTimelineComesFromTheGraphAndFromTimedEvents() {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 4, 2, 2, ElementType.FP32, RANKS);
        Schedule schedule = Schedule.parse("cover-merge");
        try (OverlapEngine streams =
                OverlapEngine.open(communicator, new HeuristicSelector(platform), OverlapEngine.Issue.TIMED_STREAMS)) {
            for (OverlapEngine each : List.of(engine, streams)) {
                OverlapRun run = each.run(problem, schedule, shards, weights, results, null);
                Timeline timeline = run.timeline();
                assertTrue(timeline.makespanNanos() > 0);
                for (int node = 0; node < timeline.graph().size(); node++) {
                    assertTrue(timeline.durationNanos(node) > 0);
                    for (int dependency : timeline.graph().dependencies(node)) {
                        assertTrue(timeline.startNanos(node) >= timeline.endNanos(dependency) - 1e-3);
                    }
                }
                assertGathered();
            }
        }
    }

    @Test
    void wrongShapesRanksAndDevicesAreRefusedInOneSentence() {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 8, 2, 2, ElementType.FP32, RANKS);
        refused("must be [4, 2] fp32", () -> engine.run(problem, shards, weights, results));
        refused(
                "one is needed for each of the 2 ranks",
                () -> engine.allGatherGemm(shards.subList(0, 1), weights, results));
        refused("must be buffers of device 0", () -> engine.allGatherGemm(shards.reversed(), weights, results));
        refused(
                "the communicator has 2",
                () -> engine.run(
                        OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 4, 2, 2, ElementType.FP32, 3),
                        shards,
                        weights,
                        results));
        refused(
                "groups can be estimated",
                () -> engine.run(
                        OverlapProblem.of(Pattern.ALL_TO_ALL_GEMM, 4, 2, 2, ElementType.FP32, RANKS)
                                .withGroups(2),
                        shards,
                        weights,
                        results));
        engine.close();
        refused("closed", () -> engine.allGatherGemm(shards, weights, results));
    }

    private static void refused(String part, org.junit.jupiter.api.function.Executable call) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, call);
        assertTrue(refusal.getMessage().contains(part), refusal::getMessage);
    }
}
