// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.memory.StreamOrder;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplayCurveTest {
    private static final long SEED = 11;
    private static final long NO_LIMIT = 1L << 40;

    private static Trace random(boolean timed) {
        SplittableRandom random = new SplittableRandom(SEED);
        TraceBuilder builder = new TraceBuilder("random");
        if (timed) {
            builder.timed();
        }
        builder.liveBefore("weights", 64 << 20, 0, 1);
        String[] out = new String[300];
        for (int i = 0; i < 6000; i++) {
            int slot = random.nextInt(out.length);
            if (out[slot] == null) {
                out[slot] = "block " + i;
                builder.allocate(out[slot], 1 + random.nextInt(8 << 20), 0, 10L * i, i);
            } else {
                builder.free(out[slot], -1, 0, 10L * i, i);
                out[slot] = null;
            }
        }
        return builder.build();
    }

    private static ReplayTarget target(String name) {
        return switch (name) {
            case "weft" -> new PoolTarget(NO_LIMIT, StreamOrder.immediate());
            case "caching" -> new CachingModel(NO_LIMIT);
            default -> new BestFitModel(NO_LIMIT);
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"weft", "caching", "bestfit"})
    void theCurveHoldsThePeakAndTheTargetHoldsAtLeastWhatIsOut(String name) {
        for (boolean timed : new boolean[] {false, true}) {
            Trace trace = random(timed);
            ReplayCurve curve = ReplayCurve.of(trace, target(name), 200);
            assertEquals(
                    trace.peakLiveBytes(), Arrays.stream(curve.live()).max().orElseThrow(), "seed " + SEED);
            for (int i = 0; i < 200; i++) {
                assertTrue(curve.reserved()[i] >= curve.live()[i], "sample " + i + ", seed " + SEED);
            }
            assertEquals(timed, curve.timed());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"weft", "caching", "bestfit"})
    void thePiecesAtThePeakAreInOrderAndHoldWhatIsOut(String name) {
        Trace trace = random(false);
        List<ReplayPiece> pieces = ReplayCurve.of(trace, target(name), 100).atPeak();
        long end = 0;
        long taken = 0;
        for (ReplayPiece piece : pieces) {
            assertTrue(piece.start() >= end, piece + " begins before " + end + ", seed " + SEED);
            end = piece.start() + piece.bytes();
            taken += piece.use() == ReplayPiece.Use.FREE ? 0 : piece.bytes();
        }
        assertTrue(taken >= trace.peakLiveBytes(), taken + " of " + trace.peakLiveBytes() + ", seed " + SEED);
        // The caching model hands out up to 1 MiB more than was asked for.
        assertTrue(taken < 1.06 * trace.peakLiveBytes(), taken + " of " + trace.peakLiveBytes() + ", seed " + SEED);
    }
}
