// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The long soak in short: what an hour of it shows in full, a few drifts show in small. */
class PoolSoakTest {
    @Test
    void hoursOfDriftingLengthsNeitherFragmentNorGrowThePoolAndEveryByteComesBack() {
        PoolSoak soak = new PoolSoak(72);
        PoolSoak.Hour first = soak.hour(PoolSoak.HOUR);
        PoolSoak.Hour second = soak.hour(PoolSoak.HOUR);
        assertTrue(first.fragmentation() < 0.03, first::toString);
        assertTrue(second.fragmentation() < 0.03, second::toString);
        assertTrue(second.peakReservedBytes() <= first.peakReservedBytes(), () -> first + " " + second);
        assertEquals(0, second.deviceCalls(), second::toString);
        assertEquals(0, soak.close());
    }
}
