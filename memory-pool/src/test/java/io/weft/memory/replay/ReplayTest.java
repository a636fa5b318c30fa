// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.memory.StreamOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReplayTest {
    private static final long NO_LIMIT = 1L << 40;

    /** A training step in small: weights stay, activations grow forward and go backward, with work space between. */
    private static Trace step(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Trace trace = new Trace("step");
        int block = 0;
        long[] sizes = new long[4000];
        int[] activations = new int[200];
        for (int layer = 0; layer < 200; layer++) {
            sizes[block] = (1 + random.nextInt(40)) * 512L * 1024;
            activations[layer] = block;
            trace.add(Trace.Kind.ALLOCATE, block, sizes[block], 0, block);
            block++;
            sizes[block] = 512L * (1 + random.nextInt(3000));
            trace.add(Trace.Kind.ALLOCATE, block, sizes[block], 0, block);
            trace.add(Trace.Kind.FREE, block, sizes[block], 0, block);
            block++;
        }
        for (int layer = 199; layer >= 0; layer--) {
            sizes[block] = (1 + random.nextInt(40)) * 512L * 1024;
            trace.add(Trace.Kind.ALLOCATE, block, sizes[block], 0, block);
            trace.add(Trace.Kind.FREE, activations[layer], sizes[activations[layer]], 0, block);
            trace.add(Trace.Kind.FREE, block, sizes[block], 0, block);
            block++;
        }
        return trace;
    }

    @Test
    void thePoolsOwnFigureEqualsAnOutsideRecount() {
        Trace trace = step(1);
        PoolTarget pool = new PoolTarget(NO_LIMIT, StreamOrder.immediate());
        ReplayReport report = Replay.run(trace, pool, 5);
        assertEquals(trace.peakLiveBytes(), pool.peakAllocatedBytes());
        assertEquals(report.fragmentation(), pool.core().statistics().fragmentation(), 1e-12);
        assertEquals(0, report.refusals());
    }

    @Test
    void fragmentationStaysBelowOneAndAHalfPercentAndTheDeviceIsNotCalledOnceALayoutIsLearned() {
        PoolTarget pool = new PoolTarget(NO_LIMIT, StreamOrder.immediate());
        Trace trace = step(2);
        ReplayReport report = Replay.run(trace, pool, 4);
        assertTrue(report.fragmentation() < 0.015, () -> report.toString());
        assertTrue(report.plannedShare() > 0.4, () -> report.toString());
        long calls = pool.deviceCalls();
        Replay.run(trace, pool, 3);
        assertEquals(calls, pool.deviceCalls());
    }

    @Test
    void aLimitThatOnlyJustFitsIsMet() {
        Trace trace = step(3);
        PoolTarget pool = new PoolTarget(trace.peakLiveBytes() * 105 / 100, StreamOrder.immediate());
        ReplayReport report = Replay.run(trace, pool, 5);
        assertEquals(0, report.refusals());
    }

    @Test
    void theModelsAgreeWithHandCounts() {
        Trace trace = new Trace("hand");
        trace.add(Trace.Kind.ALLOCATE, 0, 1000, 0, 0);
        trace.add(Trace.Kind.ALLOCATE, 1, 3 << 20, 0, 1);
        trace.add(Trace.Kind.ALLOCATE, 2, 11 << 20, 0, 2);
        trace.add(Trace.Kind.FREE, 1, 3 << 20, 0, 3);
        ReplayReport caching = Replay.run(trace, new CachingModel(NO_LIMIT), 3);
        // 2 MiB for the small one, 20 MiB for the middle one, whose rest serves the large one.
        assertEquals(22L << 20, caching.peakReservedBytes());
        assertEquals(2, caching.deviceCalls());
        ReplayReport plain = Replay.run(trace, new BestFitModel(NO_LIMIT), 3);
        assertEquals(1024 + (14L << 20), plain.peakReservedBytes());
    }

    @ParameterizedTest
    @CsvSource({"1, 100", "2, 105", "3, 200"})
    void theEventLogCountedAnewGivesThePoolsOwnFigures(long seed, long limitPercent) {
        Trace trace = step(seed);
        long limit = limitPercent == 200 ? NO_LIMIT : trace.peakLiveBytes() * limitPercent / 100;
        RecountedReplay replay = RecountedReplay.of(trace, limit, 5);
        assertTrue(
                replay.isEqual(),
                () -> replay.pool() + " and " + replay.recount().peakReservedBytes());
        assertEquals(replay.recount().fragmentation(), replay.pool().fragmentation(), 0);
        assertTrue(replay.recount().events() > 5L * trace.count(), "growth is in the log, too");
    }

    @Test
    void aPoolWhoseFiguresAreNotThoseOfItsLogIsFound() {
        RecountedReplay one = RecountedReplay.of(step(1), NO_LIMIT, 3);
        RecountedReplay other = RecountedReplay.of(step(2), NO_LIMIT, 3);
        assertFalse(new RecountedReplay(one.recount(), other.pool()).isEqual());
    }

    @ParameterizedTest
    @CsvSource({
        "pytorch-llm-ctx128-forward.csv.gz, 0.010, 0.01541",
        "pytorch-llm-ctx512-fullstep.csv.gz, 0.015, 0.1267",
        "pytorch-resnet50-kineto-memory.csv.gz, 0.010, NaN"
    })
    void realTracesStayBelowTheirFragmentationGoal(String file, double goal, double recorded) {
        Path trace = Path.of("..", "..", "shared", "data", "traces", file);
        if (!Files.exists(trace)) {
            trace = Path.of("..", "shared", "data", "traces", file);
        }
        assumeTrue(Files.exists(trace), "the recorded traces are not beside this checkout");
        Trace read = TraceReader.read(trace);
        ReplayReport report = Replay.run(read, new PoolTarget(NO_LIMIT, StreamOrder.immediate()), 4);
        assertTrue(report.fragmentation() < goal, () -> report.toString());
        if (!Double.isNaN(recorded)) {
            assertEquals(recorded, report.recordedFragmentation(), 0.0005);
        }
        RecountedReplay counted = RecountedReplay.of(read, NO_LIMIT, 4);
        assertTrue(counted.isEqual(), () -> counted.pool().toString());
        assertEquals(report.fragmentation(), counted.recount().fragmentation(), 0);
    }
}
