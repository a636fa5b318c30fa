// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.Stream;
import io.weft.memory.FakePlatform.FakeStream;
import io.weft.memory.replay.Recount;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pool's figures against its event log, counted anew from the log's text. */
class RecountedPoolTest {
    private static final long MB = 1L << 20;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void everyFigureIsWhatCountingTheLogGives(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        FakePlatform fake = new FakePlatform(1, 128 * MB, seed % 2 == 0, true);
        Device device = fake.platform.device(0);
        List<Stream> streams = List.of(device.createStream(), device.createStream());
        Recount recount = new Recount();
        PoolOptions options = PoolOptions.defaults().withSegmentBytes(2 * MB);
        try (PoolRecording log = new PoolRecording(recount, false);
                DevicePool pool = DevicePool.open(device, options)) {
            pool.startRecording(log);
            List<Buffer> out = new ArrayList<>();
            for (int operation = 0; operation < 4000; operation++) {
                Stream stream = streams.get(random.nextInt(2));
                int dice = random.nextInt(100);
                if (dice < 50) {
                    long bytes = random.nextInt(4) > 0 ? 1 + random.nextInt(100_000) : random.nextLong(4 * MB);
                    PoolResult result = pool.tryAllocate(Math.max(1, bytes), stream);
                    if (result.isAllocated()) {
                        out.add(result.buffer());
                    }
                } else if (dice < 95 && !out.isEmpty()) {
                    Buffer gone = out.remove(random.nextInt(out.size()));
                    ((FakeStream) stream.driver()).issue();
                    pool.free(gone, stream);
                } else if (dice < 98) {
                    ((FakeStream) stream.driver()).completeAll();
                } else if (dice == 98) {
                    fake.now += 200_000_000;
                    pool.nextIteration();
                } else if (random.nextInt(10) == 0) {
                    pool.trim();
                }
            }
            PoolStatistics now = pool.statistics();
            assertEquals(now.allocations(), recount(log, recount).allocations(), () -> "seed " + seed);
            assertEquals(now.frees(), recount.frees());
            assertEquals(now.allocatedBytes(), recount.allocatedBytes());
            assertEquals(now.peakAllocatedBytes(), recount.peakAllocatedBytes());
            assertEquals(now.reservedBytes(), recount.reservedBytes());
            assertEquals(now.peakReservedBytes(), recount.peakReservedBytes());
            assertEquals(now.fragmentation(), recount.fragmentation(), 0);
            assertTrue(now.deviceFrees() > 0, now::toString);
            out.forEach(Buffer::close);
        }
        assertEquals(0, recount.allocatedBytes());
    }

    private static Recount recount(PoolRecording log, Recount recount) {
        log.flush();
        return recount;
    }
}
