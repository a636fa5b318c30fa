// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import io.weft.api.ElementType;
import java.util.EnumMap;
import java.util.Map;

/**
 * The numbers that the fast conversions of one 8-bit float need. The meaning of every byte comes from {@link ElementType}; the
 * constants here are read out of it, so the two cannot drift apart.
 *
 * <p>Encoding works on the fp32 bits of the magnitude. A normal result is the bits rounded to nearest even at the place where the
 * mantissa is cut, and re-biased; a subnormal result comes from adding a power of two whose last place is the subnormal's unit, so that
 * the addition itself rounds to nearest even.
 */
final class ByteFloats {
    private static final Map<ElementType, ByteFloats> FORMATS = new EnumMap<>(ElementType.class);

    static {
        for (ElementType type : ElementType.values()) {
            if (type.isFp8()) {
                FORMATS.put(type, new ByteFloats(type));
            }
        }
    }

    /** Value of each byte. */
    private final float[] table = new float[256];
    /** fp32 mantissa bits that are cut off. */
    final int shift;
    /** What corrects the bias of an exponent moved to its place in fp32: {@code 2^(127 - bias)}. */
    final float scale;
    /** fp32 bits of the smallest normal value. */
    final int smallestNormal;
    /** fp32 bits of the power of two that rounds subnormals. */
    final int subnormalMagic;
    /** What the re-biasing subtracts from the cut bits. */
    final int rebias;
    /** Byte of the largest finite value. */
    final int largest;
    /** Byte without sign for an infinity. */
    final int infinity;
    /** Byte for NaN. */
    final int nan;
    /** Whether zero has only one sign and infinities lose theirs. */
    final boolean oneZero;

    private ByteFloats(ElementType type) {
        for (int i = 0; i < 256; i++) {
            table[i] = type.decode(i);
        }
        int mantissa = type.mantissaBits();
        shift = 23 - mantissa;
        scale = table[1] / Float.intBitsToFloat(1 << shift);
        smallestNormal = Float.floatToIntBits(table[1 << mantissa]);
        subnormalMagic = Float.floatToIntBits(table[1] * 0x1p23f);
        rebias = (smallestNormal >>> shift) - (1 << mantissa);
        largest = type.encode(type.maxFinite());
        infinity = type.encode(Float.POSITIVE_INFINITY);
        nan = type.encode(Float.NaN);
        oneZero = type.encode(-0f) == 0;
    }

    static ByteFloats of(ElementType type) {
        return FORMATS.get(type);
    }

    /** The value of each byte; not to be written to. */
    static float[] table(ElementType type) {
        return FORMATS.get(type).table;
    }

    /** The value of a byte. */
    float decode(byte bits) {
        return table[bits & 0xFF];
    }

    /** As {@link ElementType#encode(float)}, with every NaN the canonical one. */
    byte encode(float value) {
        int bits = Float.floatToRawIntBits(value);
        int magnitude = bits & 0x7FFFFFFF;
        int sign = (bits >>> 24) & 0x80;
        if (magnitude >= 0x7F800000) {
            return (byte) (magnitude > 0x7F800000 ? nan : oneZero ? infinity : sign | infinity);
        }
        int code;
        if (magnitude < smallestNormal) {
            code = Float.floatToRawIntBits(Float.intBitsToFloat(magnitude) + Float.intBitsToFloat(subnormalMagic))
                    - subnormalMagic;
        } else {
            int rounded = magnitude + (1 << (shift - 1)) - 1 + ((magnitude >>> shift) & 1);
            code = Math.min((rounded >>> shift) - rebias, largest);
        }
        return (byte) (oneZero && code == 0 ? 0 : sign | code);
    }
}
