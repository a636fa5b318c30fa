// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.ElementType;
import io.weft.api.numeric.Elements;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The codec is written apart from the API's own; here the two meet. */
class CodecTest {
    private static final long SEED = 4;

    @ParameterizedTest
    @EnumSource
    void everyPatternHasTheValueThatTheApiGivesIt(ElementType type) {
        int patterns = type.bytes() < 4 ? 1 << (8 * type.bytes()) : 100_000;
        Random random = new Random(SEED);
        for (int i = 0; i < patterns; i++) {
            int bits = type.bytes() < 4 ? i : random.nextInt();
            assertEquals(
                    Elements.value(type, bits),
                    Codec.of(type).decode(bits),
                    () -> type + " 0x" + Integer.toHexString(bits));
        }
    }

    @ParameterizedTest
    @EnumSource
    void valuesAreRoundedAsTheApiRoundsThem(ElementType type) {
        Random random = new Random(SEED);
        for (int i = 0; i < 20_000; i++) {
            // All magnitudes, and many ties: halfway between two neighbours.
            double value = Math.scalb(random.nextDouble() - 0.5, random.nextInt(60) - 30);
            if (i % 3 == 0 && type.isFloating() && type != ElementType.FP32) {
                double near = Codec.of(type).decode(Codec.of(type).encode(value));
                value = near + Codec.of(type).ulp(near) / 2;
            }
            double rounded = value;
            assertEquals(
                    Elements.value(type, Elements.nearest(type, value)),
                    Codec.of(type).decode(Codec.of(type).encode(value)),
                    () -> type + " " + rounded + ", seed " + SEED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void oneUnitInTheLastPlaceLeadsToTheNextPattern(ElementType type) {
        int first = Codec.of(type).encode(1);
        double one = Codec.of(type).decode(first);
        assertEquals(Codec.of(type).decode(first + 1), one + Codec.of(type).ulp(one));
        assertTrue(Codec.of(type).ulp(one) > 0);
    }
}
