// SPDX-License-Identifier: Apache-2.0
package io.weft.api.numeric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.weft.api.ElementType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class UlpTest {
    @ParameterizedTest
    @EnumSource(
            value = ElementType.class,
            names = {"FP16", "BF16", "FP8_E4M3", "FP8_E5M2", "FP8_E4M3_FNUZ", "FP8_E5M2_FNUZ"})
    void neighboursOnTheNumberLineAreOneApartAndDistancesAdd(ElementType type) {
        int patterns = 1 << (8 * type.bytes());
        int[] up = new int[patterns];
        int count = 0;
        // Negative numbers from the largest magnitude down, then positive ones up; one zero.
        for (int magnitude = patterns / 2 - 1; magnitude > 0; magnitude--) {
            if (!Float.isNaN(type.decode(patterns / 2 | magnitude))) {
                up[count++] = patterns / 2 | magnitude;
            }
        }
        for (int magnitude = 0; magnitude < patterns / 2; magnitude++) {
            if (!Float.isNaN(type.decode(magnitude))) {
                up[count++] = magnitude;
            }
        }
        for (int i = 1; i < count; i++) {
            assertEquals(1, Ulp.distance(type, up[i - 1], up[i]));
            assertEquals(i, Ulp.distance(type, up[i], up[0]));
            assertEquals(true, type.decode(up[i - 1]) < type.decode(up[i]));
        }
    }

    @ParameterizedTest
    @EnumSource(ElementType.class)
    void everyPatternIsZeroFromItself(ElementType type) {
        for (int bits : new int[] {0, 1, 0x35, 0x7F, 0x80, 0xFF}) {
            assertEquals(0, Ulp.distance(type, bits, bits));
        }
    }

    @ParameterizedTest
    @EnumSource(ElementType.class)
    void nanIsEqualToNanAndIncomparableToNumbers(ElementType type) {
        if (type.isFloating()) {
            int nan = type.encode(Float.NaN);
            assertEquals(0, Ulp.distance(type, nan, Poison.bits(type)));
            assertEquals(Ulp.INCOMPARABLE, Ulp.distance(type, nan, type.encode(1f)));
            assertEquals(Ulp.INCOMPARABLE, Ulp.distance(type, 0, nan));
        }
    }

    @Test
    void bothZerosAreOneValue() {
        assertEquals(0, Ulp.distance(ElementType.FP32, 0, 0x80000000));
        assertEquals(2, Ulp.distance(ElementType.FP32, 1, 0x80000001));
    }

    @Test
    void theEndsOfTheFp32LineAreFartherApartThanAnIntHolds() {
        int most = Float.floatToIntBits(Float.MAX_VALUE);
        assertEquals(2L * most, Ulp.distance(ElementType.FP32, most, most | 0x80000000));
    }

    @Test
    void integersDifferByTheirDifference() {
        assertEquals(255, Ulp.distance(ElementType.INT8, 0x80, 0x7F));
        assertEquals(0xFFFFFFFFL, Ulp.distance(ElementType.INT32, Integer.MIN_VALUE, Integer.MAX_VALUE));
    }
}
