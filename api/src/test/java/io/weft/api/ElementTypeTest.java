// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ElementTypeTest {
    @ParameterizedTest
    @EnumSource(names = {"FP16", "BF16", "FP8_E4M3", "FP8_E5M2", "FP8_E4M3_FNUZ", "FP8_E5M2_FNUZ", "INT8"})
    void everyPatternOfANarrowTypeSurvivesDecodeAndEncode(ElementType type) {
        int patterns = 1 << (8 * type.bytes());
        for (int bits = 0; bits < patterns; bits++) {
            float value = type.decode(bits);
            int back = type.encode(value);
            if (Float.isNaN(value)) {
                assertTrue(Float.isNaN(type.decode(back)), type + " 0x" + Integer.toHexString(bits));
            } else {
                assertEquals(bits, back, type + " 0x" + Integer.toHexString(bits) + " = " + value);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BF16", "FP16", "FP8_E4M3", "FP8_E5M2", "FP8_E4M3_FNUZ", "FP8_E5M2_FNUZ"})
    void encodeRoundsToTheNearestPatternAndTiesToEven(ElementType type) {
        int half = 1 << (8 * type.bytes() - 1);
        for (int bits = 0; bits + 1 < half; bits++) {
            float low = type.decode(bits);
            float high = type.decode(bits + 1);
            if (!Float.isFinite(low) || !Float.isFinite(high)) {
                continue;
            }
            double middle = ((double) low + high) / 2;
            int even = (bits & 1) == 0 ? bits : bits + 1;
            assertEquals(even, type.encode((float) middle), type + " tie above " + low);
            assertEquals(bits, type.encode(Math.nextDown((float) middle)), type + " below the tie above " + low);
            assertEquals(bits + 1, type.encode(Math.nextUp((float) middle)), type + " above the tie above " + low);
        }
    }

    @ParameterizedTest
    @CsvSource({"FP8_E4M3, 448, 0x7e", "FP8_E4M3_FNUZ, 240, 0x7f", "FP8_E5M2, 57344, 0x7b", "FP8_E5M2_FNUZ, 57344, 0x7f"
    })
    void finiteValuesBeyondTheMaximumSaturate(ElementType type, float maximum, String code) {
        int bits = Integer.decode(code);
        assertEquals(maximum, type.decode(bits));
        assertEquals(bits, type.encode(maximum * 3));
        assertEquals(bits | 0x80, type.encode(-maximum * 3));
        assertEquals(maximum, type.maxFinite());
    }

    @Test
    void theByteThatIsOneInOcpIsOneHalfInFnuz() {
        assertEquals(1.0f, ElementType.FP8_E4M3.decode(0x38));
        assertEquals(0.5f, ElementType.FP8_E4M3_FNUZ.decode(0x38));
    }

    @Test
    void fnuzHasNoNegativeZeroAndOneNan() {
        for (ElementType type : List.of(ElementType.FP8_E4M3_FNUZ, ElementType.FP8_E5M2_FNUZ)) {
            assertEquals(0, type.encode(-0.0f));
            assertEquals(0, type.encode(-1e-30f));
            assertTrue(Float.isNaN(type.decode(0x80)));
            assertEquals(0x80, type.encode(Float.NaN));
            assertEquals(0x80, type.encode(Float.POSITIVE_INFINITY));
        }
    }

    @Test
    void infinityIsKeptWhereTheTypeHasItAndBecomesNanElsewhere() {
        assertEquals(
                Float.NEGATIVE_INFINITY,
                ElementType.FP8_E5M2.decode(ElementType.FP8_E5M2.encode(Float.NEGATIVE_INFINITY)));
        assertTrue(Float.isNaN(ElementType.FP8_E4M3.decode(ElementType.FP8_E4M3.encode(Float.NEGATIVE_INFINITY))));
        assertEquals(Float.POSITIVE_INFINITY, ElementType.BF16.decode(ElementType.BF16.encode(Float.MAX_VALUE)));
    }

    @Test
    void integersSaturateAndRoundToEven() {
        assertEquals(127, ElementType.INT8.decode(ElementType.INT8.encode(1e9f)));
        assertEquals(-128, ElementType.INT8.decode(ElementType.INT8.encode(-1e9f)));
        assertEquals(2, ElementType.INT8.decode(ElementType.INT8.encode(2.5f)));
        assertEquals(0, ElementType.INT32.encode(Float.NaN));
        assertEquals(Integer.MAX_VALUE, ElementType.INT32.encode(3e9f));
    }

    @ParameterizedTest
    @CsvSource({
        "bf16, BF16",
        "BFLOAT16, BF16",
        "half, FP16",
        "fp8_e4m3, FP8_E4M3",
        "float8_e5m2, FP8_E5M2",
        "fp8, FP8_E4M3"
    })
    void namesAreReadInTheirUsualSpellings(String text, ElementType type) {
        assertEquals(type, ElementType.parse(text));
    }

    @Test
    void anUnknownNameListsTheKnownOnes() {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> ElementType.parse("fp7"));
        assertEquals(ErrorCode.INVALID_ARGUMENT, refusal.code());
        assertTrue(
                refusal.getMessage().contains("'fp7'") && refusal.getMessage().contains("bf16"), refusal.getMessage());
    }
}
