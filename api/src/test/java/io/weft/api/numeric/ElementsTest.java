// SPDX-License-Identifier: Apache-2.0
package io.weft.api.numeric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.weft.api.ElementType;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the element types mean, over all their patterns. */
class ElementsTest {
    @ParameterizedTest
    @EnumSource(
            value = ElementType.class,
            names = {"FP32", "INT32"},
            mode = EnumSource.Mode.EXCLUDE)
    void everyPatternDecodesToAValueThatEncodesToIt(ElementType type) {
        for (int bits = 0; bits < 1 << (8 * type.bytes()); bits++) {
            float value = type.decode(bits);
            if (Float.isNaN(value)) {
                assertEquals(true, Float.isNaN(type.decode(type.encode(value))), type + " " + bits);
            } else {
                assertEquals(bits, type.encode(value), type + " " + value);
                assertEquals(bits, Elements.nearest(type, value), type + " " + value);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ElementType.class,
            names = {"FP16", "BF16", "FP8_E4M3", "FP8_E5M2", "FP8_E4M3_FNUZ", "FP8_E5M2_FNUZ"})
    void betweenNeighboursTheNearerWinsAndATieGoesToTheEvenPattern(ElementType type) {
        int largest = type.encode(type.maxFinite());
        for (int low = 0; low < largest; low++) {
            double below = type.decode(low);
            double above = type.decode(low + 1);
            double middle = (below + above) / 2; // exact in fp32: both have fewer bits
            int even = low % 2 == 0 ? low : low + 1;
            int sign = 1 << (8 * type.bytes() - 1);
            assertEquals(even, type.encode((float) middle), () -> type + " between " + below + " and " + above);
            assertEquals(low, type.encode(Math.nextDown((float) middle)));
            assertEquals(low + 1, type.encode(Math.nextUp((float) middle)));
            // In double there are values nearer to the middle than any float: one rounding must still see the side.
            assertEquals(even, Elements.nearest(type, middle));
            assertEquals(low, Elements.nearest(type, Math.nextDown(middle)));
            assertEquals(low + 1, Elements.nearest(type, Math.nextUp(middle)));
            if (low > 0) {
                assertEquals(even | sign, type.encode((float) -middle));
                assertEquals(low | sign, Elements.nearest(type, -Math.nextDown(middle)));
            }
        }
    }

    @Test
    void fp16IsWhatTheJdkSays() {
        for (int bits = 0; bits < 1 << 16; bits++) {
            float expected = Float.float16ToFloat((short) bits);
            assertEquals(expected, ElementType.FP16.decode(bits));
        }
        Random random = new Random(3);
        for (int i = 0; i < 100_000; i++) {
            float value = Float.intBitsToFloat(random.nextInt());
            if (!Float.isNaN(value)) {
                assertEquals(Float.floatToFloat16(value) & 0xFFFF, ElementType.FP16.encode(value));
            }
        }
    }

    @Test
    void theByte0x38IsOneInOcpAndAHalfInFnuz() {
        assertEquals(1f, ElementType.FP8_E4M3.decode(0x38));
        assertEquals(0.5f, ElementType.FP8_E4M3_FNUZ.decode(0x38));
    }

    @Test
    void theEightBitTypesEndWhereTheirFormatsSay() {
        assertEquals(448f, ElementType.FP8_E4M3.decode(0x7E));
        assertEquals(57344f, ElementType.FP8_E5M2.decode(0x7B));
        assertEquals(240f, ElementType.FP8_E4M3_FNUZ.decode(0x7F));
        assertEquals(57344f, ElementType.FP8_E5M2_FNUZ.decode(0x7F));
        assertEquals(0x1p-9f, ElementType.FP8_E4M3.decode(1));
        assertEquals(0x1p-16f, ElementType.FP8_E5M2.decode(1));
        assertEquals(0x1p-10f, ElementType.FP8_E4M3_FNUZ.decode(1));
        assertEquals(0x1p-17f, ElementType.FP8_E5M2_FNUZ.decode(1));
        assertEquals(Float.NaN, ElementType.FP8_E4M3.decode(0x7F));
        assertEquals(Float.POSITIVE_INFINITY, ElementType.FP8_E5M2.decode(0x7C));
        assertEquals(Float.NaN, ElementType.FP8_E4M3_FNUZ.decode(0x80));
        assertEquals(Float.NaN, ElementType.FP8_E5M2_FNUZ.decode(0x80));
    }

    @ParameterizedTest
    @EnumSource(
            value = ElementType.class,
            names = {"FP8_E4M3", "FP8_E5M2", "FP8_E4M3_FNUZ", "FP8_E5M2_FNUZ"})
    void eightBitFloatsSaturateWhatIsFiniteAndKeepWhatIsNot(ElementType type) {
        for (float value : new float[] {type.maxFinite() * 1.2f, 1e9f, Float.MAX_VALUE}) {
            assertEquals(type.maxFinite(), type.decode(type.encode(value)));
            assertEquals(-type.maxFinite(), type.decode(type.encode(-value)));
        }
        float infinity = type == ElementType.FP8_E5M2 ? Float.POSITIVE_INFINITY : Float.NaN;
        assertEquals(infinity, type.decode(type.encode(Float.POSITIVE_INFINITY)));
        assertEquals(-infinity, type.decode(type.encode(Float.NEGATIVE_INFINITY)));
        assertEquals(Float.NaN, type.decode(type.encode(Float.NaN)));
    }

    @Test
    void fnuzHasOneZero() {
        assertEquals(0, ElementType.FP8_E4M3_FNUZ.encode(-0f));
        assertEquals(0, ElementType.FP8_E5M2_FNUZ.encode(-1e-30f));
        assertEquals(0x80, ElementType.FP8_E4M3.encode(-0f));
    }
}
