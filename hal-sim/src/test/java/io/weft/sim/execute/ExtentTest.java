// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ExtentTest {
    private static final long SEED = 20261129;

    @Test
    void overlapIsExactForViewsOfOnePitchAndForPlainRanges() {
        Random random = new Random(SEED);
        for (int round = 0; round < 20_000; round++) {
            int pitch = 1 + random.nextInt(9);
            Extent a = extent(random, pitch);
            Extent b = random.nextInt(4) == 0
                    ? Extent.range(random.nextInt(40), random.nextInt(12))
                    : extent(random, pitch);
            boolean expected = bytes(a).intersects(bytes(b));
            assertEquals(expected, a.overlaps(b), a + " and " + b + ", seed " + SEED);
            assertEquals(expected, b.overlaps(a), b + " and " + a + ", seed " + SEED);
        }
    }

    @Test
    void overlapOfDifferentPitchesErrsOnTheSafeSide() {
        Random random = new Random(SEED);
        for (int round = 0; round < 20_000; round++) {
            Extent a = extent(random, 1 + random.nextInt(9));
            Extent b = extent(random, 1 + random.nextInt(9));
            if (bytes(a).intersects(bytes(b))) {
                assertTrue(a.overlaps(b), a + " and " + b + ", seed " + SEED);
            }
        }
    }

    private static Extent extent(Random random, int pitch) {
        int rows = random.nextInt(5);
        if (rows == 0) {
            return Extent.range(random.nextInt(30), 0);
        }
        return new Extent(random.nextInt(30), rows, 1 + random.nextInt(pitch), pitch);
    }

    private static BitSet bytes(Extent extent) {
        BitSet set = new BitSet();
        for (long row = 0; row < extent.rows(); row++) {
            int at = (int) (extent.start() + row * extent.pitch());
            set.set(at, at + (int) extent.width());
        }
        return set;
    }
}
