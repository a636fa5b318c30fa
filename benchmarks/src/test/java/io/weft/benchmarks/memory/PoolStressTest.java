// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Platform;
import io.weft.memory.PoolOptions;
import io.weft.memory.PoolStatistics;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The stress of the pool on the simulator in short: a million operations are a command of the benchmarks. */
class PoolStressTest {
    private static final long SEED = 20261130;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noMemoryIsGivenOutWhileAStreamUsesIt(boolean waits) {
        try (Platform platform = LaggingMachine.open()) {
            long free = platform.device(0).memoryInfo().freeBytes();
            PoolOptions options = PoolStress.options().withWaitAcrossStreams(waits);
            try (PoolStress stress = new PoolStress(platform, options, SEED)) {
                assertNull(stress.run(8_000), () -> "seed " + SEED);
                PoolStatistics now = stress.statistics();
                assertTrue(now.deferredFrees() > 500, "frees had to wait: " + now);
                assertTrue(now.eventsRecorded() > 500, "streams lagged: " + now);
            }
            assertEquals(free, platform.device(0).memoryInfo().freeBytes(), "every byte comes back");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {SEED, SEED + 1, SEED + 2})
    void aPoolThatDoesNotWaitForEventsIsFound(long seed) {
        try (Platform platform = LaggingMachine.openWithLyingEvents()) {
            String fault = new PoolStress(platform, PoolStress.options(), seed).run(50_000);
            assertNotNull(fault, () -> "nothing was found with seed " + seed);
            assertTrue(fault.contains("too early"), fault);
        }
    }
}
