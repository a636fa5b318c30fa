// SPDX-License-Identifier: Apache-2.0
package io.weft.api.numeric;

import io.weft.api.ElementType;

/**
 * Distance between two encodings of one element type in units in the last place: the number of representable steps between them.
 *
 * <p>Both zeros are one value. Infinity is one step beyond the largest finite value in the types which have it. Two NaNs have
 * distance 0 whatever their payloads; a NaN and a number have {@link #INCOMPARABLE}. For integers it is the plain difference.
 */
public final class Ulp {
    /** The distance between a NaN and a number. */
    public static final long INCOMPARABLE = Long.MAX_VALUE;

    private Ulp() {}

    /** The distance between two bit patterns held in the low bytes; at most 2^32 unless {@link #INCOMPARABLE}. */
    public static long distance(ElementType type, int a, int b) {
        if (type.isFloating()) {
            boolean aNan = Float.isNaN(type.decode(a));
            boolean bNan = Float.isNaN(type.decode(b));
            if (aNan || bNan) {
                return aNan && bNan ? 0 : INCOMPARABLE;
            }
            return Math.abs(order(type, a) - order(type, b));
        }
        return Math.abs(signed(type, a) - signed(type, b));
    }

    // Sign and magnitude to a number line on which neighbours differ by one.
    private static long order(ElementType type, int bits) {
        int width = 8 * type.bytes();
        long magnitude = bits & ((1L << (width - 1)) - 1);
        return ((bits >>> (width - 1)) & 1) == 0 ? magnitude : -magnitude;
    }

    private static long signed(ElementType type, int bits) {
        return type == ElementType.INT8 ? (byte) bits : bits;
    }
}
