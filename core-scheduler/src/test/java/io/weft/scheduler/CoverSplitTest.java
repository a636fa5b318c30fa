// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CoverSplitTest {
    @Test
    void theRestIsOneRangeWhenTheOwnBlockLiesAtAnEnd() {
        assertEquals(new CoverSplit(0, 512, 512, 512), CoverSplit.of(0.5, 0, 1024, 4096));
        assertEquals(new CoverSplit(3584, 512, 3072, 512), CoverSplit.of(0.5, 3072, 1024, 4096));
    }

    @Test
    void inTheMiddleTheRestJoinsTheLongerSide() {
        assertEquals(new CoverSplit(1024, 256, 1280, 768), CoverSplit.of(0.25, 1024, 1024, 8192));
        assertEquals(new CoverSplit(6912, 256, 6144, 768), CoverSplit.of(0.25, 6144, 1024, 8192));
    }

    @Test
    void coverAndRestAlwaysMakeUpTheOwnBlock() {
        long seed = 17;
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 1000; i++) {
            long rows = random.nextLong(0, 3000);
            long start = random.nextLong(0, 3000);
            long all = start + rows + random.nextLong(0, 3000);
            CoverSplit split = CoverSplit.of(random.nextDouble(1e-3, 1), start, rows, all);
            String what = split + " seed " + seed;
            assertEquals(rows, split.coverRows() + split.restRows(), what);
            assertTrue(rows == 0 || split.coverRows() > 0, what);
            assertEquals(start, Math.min(split.coverStart(), split.restStart()), what);
            boolean coverFirst = split.coverStart() == start && split.restStart() == start + split.coverRows();
            boolean restFirst = split.restStart() == start && split.coverStart() == start + split.restRows();
            assertTrue(coverFirst || restFirst, what);
        }
    }
}
