// SPDX-License-Identifier: Apache-2.0
package io.weft.api.numeric;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.ElementType;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RandomDataTest {
    private static final int COUNT = 200_000;

    @ParameterizedTest
    @EnumSource(ElementType.class)
    void fillingInChunksGivesTheSameBytesAsFillingAtOnce(ElementType type) {
        byte[] whole = new byte[COUNT * type.bytes()];
        RandomData.fill(MemorySegment.ofArray(whole), type, 5, 2);
        byte[] parts = new byte[whole.length];
        for (int first = 0; first < COUNT; first += 7777) {
            int count = Math.min(7777, COUNT - first);
            RandomData.fill(MemorySegment.ofArray(parts), (long) first * type.bytes(), type, 5, 2, first, count);
        }
        assertArrayEquals(whole, parts);
    }

    @ParameterizedTest
    @EnumSource(ElementType.class)
    void valuesAreWithinTheirRangeNeverZeroAndBalanced(ElementType type) {
        double sum = 0;
        for (int i = 0; i < COUNT; i++) {
            double value = Elements.value(type, RandomData.bits(type, 1, 0, i));
            assertTrue(value != 0 && Math.abs(value) <= (type.isFloating() ? 1 : 8), () -> type + " " + value);
            sum += value;
        }
        // Standard deviation of the mean is at most 5.1 / sqrt(200,000) = 0.0115 for the integers, 0.0013 for floats.
        assertEquals(0, sum / COUNT, type.isFloating() ? 0.006 : 0.05);
    }

    @Test
    void seedAndStreamChangeTheData() {
        int equalSeeds = 0;
        int equalStreams = 0;
        for (int i = 0; i < 1000; i++) {
            int bits = RandomData.bits(ElementType.FP32, 1, 0, i);
            equalSeeds += bits == RandomData.bits(ElementType.FP32, 2, 0, i) ? 1 : 0;
            equalStreams += bits == RandomData.bits(ElementType.FP32, 1, 1, i) ? 1 : 0;
            assertNotEquals(bits, RandomData.bits(ElementType.FP32, 1, 0, i + 1));
        }
        assertTrue(equalSeeds < 3 && equalStreams < 3, equalSeeds + " and " + equalStreams + " of 1000 are equal");
    }

    @Test
    void theDataOfASeedIsTheSameForEver() {
        assertEquals(0xBE86F954, RandomData.bits(ElementType.FP32, 1, 0, 0));
    }

    @ParameterizedTest
    @EnumSource(ElementType.class)
    void poisonIsFoundUntilItIsOverwritten(ElementType type) {
        MemorySegment memory = MemorySegment.ofArray(new byte[4 * 10]);
        Poison.fill(memory, 0, type, 10);
        assertEquals(0, Poison.firstLeft(memory, 0, type, 10));
        RandomData.fill(memory, 0, type, 1, 0, 0, 7);
        assertEquals(7, Poison.firstLeft(memory, 0, type, 10));
        RandomData.fill(memory, 0, type, 1, 0, 0, 10);
        assertEquals(-1, Poison.firstLeft(memory, 0, type, 10));
    }
}
