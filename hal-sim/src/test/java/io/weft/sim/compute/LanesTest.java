// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.weft.api.ElementType;
import io.weft.api.numeric.Elements;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The fast conversions against {@link ElementType}, over all patterns where they can be counted. */
class LanesTest {
    static Stream<Lanes> lanes() {
        return TestLanes.all();
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void everyPatternOfANarrowTypeDecodesAsTheTypeSays(Lanes lanes) {
        for (ElementType type : ElementType.values()) {
            if (type.bytes() > 2) {
                continue;
            }
            int count = 1 << (8 * type.bytes());
            MemorySegment memory = Arena.ofAuto().allocate((long) count * type.bytes());
            for (int i = 0; i < count; i++) {
                Elements.put(memory, (long) i * type.bytes(), type, i);
            }
            float[] decoded = new float[count];
            lanes.decode(type, memory, 0, decoded, 0, count);
            for (int i = 0; i < count; i++) {
                int bits = i;
                // floatToIntBits: payloads of NaN may differ, signs of zero may not.
                assertEquals(
                        Float.floatToIntBits(type.decode(i)),
                        Float.floatToIntBits(decoded[i]),
                        () -> type + " pattern " + Integer.toHexString(bits));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void roundingIsThatOfTheTypeAtEveryBoundary(Lanes lanes) {
        for (ElementType type : ElementType.values()) {
            if (!type.isFloating() || type.bytes() > 2) {
                continue;
            }
            int patterns = 1 << (8 * type.bytes());
            float[] values = new float[patterns * 3];
            int count = 0;
            for (int i = 0; i < patterns; i++) {
                // The value, the tie with its neighbour in pattern order, and one fp32 step off the tie.
                float value = type.decode(i);
                float middle = (float) (((double) value + type.decode((i + 1) % patterns)) / 2);
                values[count++] = value;
                values[count++] = middle;
                values[count++] = i % 2 == 0 ? Math.nextUp(middle) : Math.nextDown(middle);
            }
            check(lanes, type, values);
        }
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void roundingIsThatOfTheTypeAllOverFp32(Lanes lanes) {
        long seed = 9;
        Random random = new Random(seed);
        float[] values = new float[1 << 16];
        for (ElementType type : ElementType.values()) {
            if (!type.isFloating()) {
                continue;
            }
            for (int i = 0; i < values.length; i++) {
                // Every exponent with every sign, random mantissas, some of them almost empty; NaN and infinity
                // included.
                values[i] = Float.intBitsToFloat((i << 16) | (i % 3 == 0 ? 0 : random.nextInt(1 << 16)));
            }
            check(lanes, type, values);
        }
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void runsOfAnyLengthTouchTheirOwnElementsOnly(Lanes lanes) {
        for (ElementType type : ElementType.values()) {
            for (int count = 0; count < 40; count++) {
                MemorySegment memory = Arena.ofAuto().allocate(50L * type.bytes());
                memory.fill((byte) 0x11);
                float[] values = new float[count + 2];
                java.util.Arrays.fill(values, 1f);
                if (type.isFloating()) {
                    lanes.encode(type, values, 1, memory, 3L * type.bytes(), count);
                    for (int i = 0; i < 50; i++) {
                        int expected =
                                i >= 3 && i < 3 + count ? type.encode(1f) : 0x11111111 >>> (32 - 8 * type.bytes());
                        assertEquals(expected, Elements.bits(memory, (long) i * type.bytes(), type));
                    }
                }
                if (type != ElementType.INT32) {
                    values[0] = 7f;
                    values[count + 1] = 8f;
                    lanes.decode(type, memory, 3L * type.bytes(), values, 1, count);
                    assertEquals(7f, values[0]);
                    assertEquals(8f, values[count + 1]);
                }
            }
        }
    }

    private static void check(Lanes lanes, ElementType type, float[] values) {
        MemorySegment memory = Arena.ofAuto().allocate((long) values.length * type.bytes());
        lanes.encode(type, values, 0, memory, 0, values.length);
        for (int i = 0; i < values.length; i++) {
            float value = values[i];
            assertEquals(
                    Naive.encode(type, value),
                    Elements.bits(memory, (long) i * type.bytes(), type),
                    () -> type + " of " + Float.toHexString(value));
        }
    }
}
