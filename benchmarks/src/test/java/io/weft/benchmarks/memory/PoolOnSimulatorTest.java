// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.MemoryKind;
import io.weft.api.Platform;
import io.weft.api.Stream;
import io.weft.memory.DevicePool;
import io.weft.memory.HostPools;
import io.weft.memory.PoolOptions;
import io.weft.memory.PoolStatistics;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tiers of a pool on the simulator, in its time. */
class PoolOnSimulatorTest {
    private static final long MB = 1L << 20;

    /** Lets virtual time pass: the host writes over a link that carries one byte in a microsecond. */
    private static void pass(Buffer scratch, long millis) {
        scratch.write(0, MemorySegment.ofArray(new byte[(int) (LaggingMachine.HOST_BYTES_PER_SECOND * millis / 1000)]));
    }

    @Test
    void hostPoolsGiveMemoryOfTheNodeThatIsAskedFor() {
        try (Platform platform = LaggingMachine.open();
                HostPools pools = HostPools.open(platform.device(0), PoolOptions.defaults())) {
            Stream stream = platform.device(0).defaultStream();
            for (DevicePool pool : List.of(pools.near(), pools.onNode(1))) {
                try (Buffer small = pool.allocate(5000, stream);
                        Buffer large = pool.allocate(3 * MB, stream)) {
                    assertEquals(1, small.numaNode());
                    assertEquals(1, large.numaNode());
                    assertEquals(MemoryKind.HOST_PINNED, large.kind());
                    small.segment().fill((byte) 3);
                    stream.copy(large.vector(5000, ElementType.INT8), small.vector(5000, ElementType.INT8));
                    stream.synchronize();
                    assertEquals(3, large.segment().get(ValueLayout.JAVA_BYTE, 4999));
                }
            }
            assertEquals(pools.near(), pools.onNode(1));
            DevicePool wrong = pools.onNode(9);
            AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> wrong.allocate(5000, stream));
            assertTrue(refusal.detail().contains("no NUMA node 9; it has [1]"), refusal::detail);
        }
    }

    @Test
    void whatCoolsDownGoesBackAfterThreeHundredMillisecondsOfVirtualTime() {
        try (Platform platform = LaggingMachine.open()) {
            Device device = platform.device(0);
            try (Buffer scratch = device.allocate(MB);
                    Stream stream = device.createStream();
                    DevicePool pool = DevicePool.open(
                            device, PoolOptions.defaults().withSegmentBytes(PoolOptions.SEGMENT_STEP))) {
                long free = device.memoryInfo().freeBytes();
                // Ten iterations use both; the larger one is not needed after that.
                for (int iteration = 0; iteration < 10; iteration++) {
                    Buffer always = pool.allocate(20 * MB, stream);
                    Buffer once = pool.allocate(40 * MB, stream);
                    once.close();
                    always.close();
                    pool.nextIteration();
                }
                PoolStatistics hot = pool.statistics();
                assertEquals(60 * MB, hot.hot().bytes(), "used in each of the last ten: " + hot);
                assertEquals(60 * MB, hot.reservedBytes(), hot::toString);
                assertEquals(free - 60 * MB, device.memoryInfo().freeBytes());

                // The first iteration that differs ends the learned layout, which holds all of it until then.
                for (int iteration = 0; iteration < 2; iteration++) {
                    pool.allocate(20 * MB, stream).close();
                    pool.nextIteration();
                }
                PoolStatistics warm = pool.statistics();
                assertEquals(40 * MB, warm.warm().bytes(), "used in the last three: " + warm);
                assertEquals(20 * MB, warm.hot().bytes(), warm::toString);

                for (int iteration = 0; iteration < 3; iteration++) {
                    pool.allocate(20 * MB, stream).close();
                    pool.nextIteration();
                }
                PoolStatistics cold = pool.statistics();
                assertEquals(40 * MB, cold.cold().bytes(), "used in none of them: " + cold);
                assertEquals(20 * MB, cold.hot().bytes(), cold::toString);

                pass(scratch, 250);
                pool.nextIteration();
                assertEquals(60 * MB, pool.statistics().reservedBytes(), "not idle for 300 ms yet");
                pass(scratch, 60);
                pool.allocate(20 * MB, stream).close();
                pool.nextIteration();
                PoolStatistics after = pool.statistics();
                assertEquals(20 * MB, after.reservedBytes(), after::toString);
                assertEquals(0, after.cold().bytes(), after::toString);
                assertTrue(after.deviceFrees() >= 1, after::toString);
                assertEquals(free - 20 * MB, device.memoryInfo().freeBytes());
            }
        }
    }
}
