// SPDX-License-Identifier: Apache-2.0
package io.weft.api.numeric;

import io.weft.api.ElementType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Single elements in memory, by bit pattern. Multi-byte elements are in the host's byte order and may be unaligned. */
public final class Elements {
    private Elements() {}

    /** Reads the bit pattern of the element at a byte offset into the low bytes of the result; the others are zero. */
    public static int bits(MemorySegment memory, long offset, ElementType type) {
        return switch (type.bytes()) {
            case 1 -> memory.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
            case 2 -> memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, offset) & 0xFFFF;
            default -> memory.get(ValueLayout.JAVA_INT_UNALIGNED, offset);
        };
    }

    /** Writes a bit pattern at a byte offset. */
    public static void put(MemorySegment memory, long offset, ElementType type, int bits) {
        switch (type.bytes()) {
            case 1 -> memory.set(ValueLayout.JAVA_BYTE, offset, (byte) bits);
            case 2 -> memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset, (short) bits);
            default -> memory.set(ValueLayout.JAVA_INT_UNALIGNED, offset, bits);
        }
    }

    /** The value of a bit pattern; exact for every type, {@link ElementType#INT32} included. */
    public static double value(ElementType type, int bits) {
        return type == ElementType.INT32 ? bits : type.decode(bits);
    }

    /**
     * The pattern of {@code type} nearest to a double, ties to even, by ONE rounding: going through {@code float} would round twice
     * and could be off by one in the last place of a narrow type. Saturation and NaN are those of {@link ElementType#encode(float)}.
     */
    public static int nearest(ElementType type, double value) {
        if (type == ElementType.INT32) {
            return (int) Math.clamp(Math.rint(value), Integer.MIN_VALUE, Integer.MAX_VALUE);
        }
        float rounded = (float) value;
        if (type == ElementType.FP32 || Float.isNaN(rounded) || Float.isInfinite(rounded)) {
            return type.encode(rounded);
        }
        // Round to odd: when float cannot hold the value, keep the neighbour whose last bit is set. It can then not be
        // mistaken
        // for a tie of any type that has at least two bits less, so the second rounding sees the right side.
        if (rounded != value && (Float.floatToRawIntBits(rounded) & 1) == 0) {
            rounded = value > rounded ? Math.nextUp(rounded) : Math.nextDown(rounded);
        }
        return type.encode(rounded);
    }
}
