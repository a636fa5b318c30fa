// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Buffer;
import io.weft.api.Stream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class PressureHookTest {
    private static final long MB = 1L << 20;

    private final FakePlatform fake = new FakePlatform(1, 256 * MB, false, true);
    private final Stream stream = fake.platform.device(0).createStream();

    private DevicePool pool() {
        return DevicePool.open(
                fake.platform.device(0),
                SegmentSource.device(fake.platform.device(0)),
                PoolOptions.defaults().withSegmentBytes(2 * MB).withLimits(64 * MB, 64 * MB));
    }

    @Test
    void aHookThatFreesBuffersTurnsARefusalIntoAnAllocation() {
        List<Integer> attempts = new ArrayList<>();
        try (DevicePool pool = pool()) {
            Deque<Buffer> cache = new ArrayDeque<>();
            for (int i = 0; i < 4; i++) {
                cache.push(pool.allocate(14 * MB, stream));
            }
            assertFalse(pool.tryAllocate(20 * MB, stream).isAllocated());
            pool.onPressure((bytes, attempt) -> {
                assertEquals(20 * MB, bytes);
                attempts.add(attempt);
                if (!cache.isEmpty()) {
                    cache.pop().close();
                }
                return attempt < 10;
            });
            try (Buffer large = pool.tryAllocate(20 * MB, stream).buffer()) {
                assertEquals(20 * MB, large.bytes());
            }
            assertEquals(1, attempts.getFirst());
            assertTrue(attempts.size() <= 4, attempts::toString);
            cache.forEach(Buffer::close);
            // A hook that gives up is asked once more and no further.
            pool.onPressure((bytes, attempt) -> false);
            assertFalse(pool.tryAllocate(100 * MB, stream).isAllocated());
        }
    }

    @Test
    void theLevelIsToldWhenItLeavesItsBand() {
        List<PoolLevel.Band> told = new ArrayList<>();
        try (DevicePool pool = pool()) {
            pool.onPressure(new PressureHook() {
                @Override
                public boolean makeRoom(long bytes, int attempt) {
                    return false;
                }

                @Override
                public void levelChanged(PoolLevel level) {
                    told.add(level.band());
                }
            });
            Deque<Buffer> out = new ArrayDeque<>();
            for (int i = 0; i < 7; i++) {
                out.push(pool.allocate(8 * MB - 4096, stream));
                pool.nextIteration();
            }
            assertEquals(7.0 / 8, pool.level().share(), 0.01);
            assertEquals(List.of(PoolLevel.Band.WITHIN, PoolLevel.Band.ABOVE), told);
            out.pop().close();
            out.pop().close();
            pool.nextIteration();
            assertEquals(PoolLevel.Band.BELOW, told.getLast());
            out.forEach(Buffer::close);
        }
    }
}
