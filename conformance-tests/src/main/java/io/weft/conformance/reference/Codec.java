// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.reference;

import io.weft.api.ElementType;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/**
 * The value of every bit pattern and the pattern nearest to every value, worked out from the definitions of the encodings and by no code that a backend may use.
 *
 * <p>Types of one or two bytes have a table of all their values; the nearest pattern is found by looking for it, ties to the even one. fp32 is Java's own {@code
 * float}. Sources: IEEE 754-2019; OCP 8-bit Floating Point Specification, rev. 1.0; the FNUZ variants differ from it in bias, zero and NaN as {@link ElementType} says.
 */
public final class Codec {
    private static final Map<ElementType, Codec> OF = new EnumMap<>(ElementType.class);

    static {
        for (ElementType type : ElementType.values()) {
            OF.put(type, new Codec(type));
        }
    }

    private final ElementType type;
    private final int mantissa;
    private final int exponents;
    private final int bias;
    private final boolean fnuz;
    private final boolean infinity;
    /** The values of the patterns with sign 0 that are finite, ascending; the pattern is the index. Null for fp32 and integers. */
    private final double[] finite;

    private Codec(ElementType type) {
        this.type = type;
        int[] shape = switch (type) {
            case FP16 -> new int[] {5, 10, 15};
            case BF16 -> new int[] {8, 7, 127};
            case FP8_E4M3 -> new int[] {4, 3, 7};
            case FP8_E5M2 -> new int[] {5, 2, 15};
            case FP8_E4M3_FNUZ -> new int[] {4, 3, 8};
            case FP8_E5M2_FNUZ -> new int[] {5, 2, 16};
            case FP32, INT8, INT32 -> new int[] {0, 0, 0};
        };
        exponents = shape[0];
        mantissa = shape[1];
        bias = shape[2];
        fnuz = type == ElementType.FP8_E4M3_FNUZ || type == ElementType.FP8_E5M2_FNUZ;
        infinity = type == ElementType.FP16 || type == ElementType.BF16 || type == ElementType.FP8_E5M2;
        finite = exponents == 0 ? null : finiteValues();
    }

    /** The codec of a type. */
    public static Codec of(ElementType type) {
        return OF.get(type);
    }

    private double[] finiteValues() {
        int patterns = 1 << (exponents + mantissa);
        double[] values = new double[patterns];
        int count = 0;
        for (int pattern = 0; pattern < patterns; pattern++) {
            double value = magnitude(pattern);
            if (Double.isNaN(value) || Double.isInfinite(value)) {
                break; // What is not finite comes last.
            }
            values[count++] = value;
        }
        return Arrays.copyOf(values, count);
    }

    private double magnitude(int pattern) {
        int exponent = pattern >>> mantissa;
        int fraction = pattern & ((1 << mantissa) - 1);
        if (exponent == (1 << exponents) - 1) {
            if (infinity) {
                return fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
            }
            if (!fnuz && fraction == (1 << mantissa) - 1) {
                return Double.NaN;
            }
        }
        double unit = Math.pow(2, -mantissa);
        return exponent == 0
                ? fraction * unit * Math.pow(2, 1.0 - bias)
                : (1 + fraction * unit) * Math.pow(2, (double) exponent - bias);
    }

    /** The value of a pattern in the low bytes; exact. */
    public double decode(int bits) {
        if (type == ElementType.FP32) {
            return Float.intBitsToFloat(bits);
        }
        if (type == ElementType.INT32) {
            return bits;
        }
        if (type == ElementType.INT8) {
            return (byte) bits;
        }
        int width = exponents + mantissa;
        boolean negative = ((bits >>> width) & 1) == 1;
        int pattern = bits & ((1 << width) - 1);
        if (fnuz && negative && pattern == 0) {
            return Double.NaN;
        }
        double magnitude = magnitude(pattern);
        return negative ? -magnitude : magnitude;
    }

    /** The pattern nearest to a value, ties to even, by one rounding. Finite values beyond an 8-bit type's largest saturate; integers are rounded and clamped. */
    public int encode(double value) {
        switch (type) {
            case FP32 -> {
                return Float.floatToRawIntBits((float) value);
            }
            case INT8 -> {
                return (int) Math.clamp(Math.rint(value), Byte.MIN_VALUE, Byte.MAX_VALUE) & 0xFF;
            }
            case INT32 -> {
                return (int) Math.clamp(Math.rint(value), Integer.MIN_VALUE, Integer.MAX_VALUE);
            }
            default -> {
                // Below.
            }
        }
        int sign = Double.doubleToRawLongBits(value) < 0 ? 1 << (exponents + mantissa) : 0;
        if (Double.isNaN(value)) {
            return fnuz ? 0x80 : sign | nan();
        }
        double magnitude = Math.abs(value);
        if (Double.isInfinite(magnitude)) {
            return fnuz ? 0x80 : sign | (infinity ? finite.length : nan());
        }
        int pattern = nearest(magnitude);
        if (fnuz && pattern == 0) {
            return 0;
        }
        return sign | pattern;
    }

    private int nearest(double magnitude) {
        int last = finite.length - 1;
        if (magnitude >= finite[last]) {
            if (type.bytes() == 1) {
                return last;
            }
            // Half a step beyond the largest value rounds to infinity, which stands where the next value would.
            double step = finite[last] - finite[last - 1];
            return magnitude >= finite[last] + step / 2 ? last + 1 : last;
        }
        int at = Arrays.binarySearch(finite, magnitude);
        if (at >= 0) {
            return at;
        }
        int above = -at - 1;
        double down = magnitude - finite[above - 1];
        double up = finite[above] - magnitude;
        if (down == up) {
            return (above & 1) == 0 ? above : above - 1;
        }
        return down < up ? above - 1 : above;
    }

    private int nan() {
        return switch (type) {
            case FP16 -> 0x7E00;
            case BF16 -> 0x7FC0;
            default -> 0x7F;
        };
    }

    /** The step between neighbours at a value's size: one unit in the last place; 1 for integers. */
    public double ulp(double value) {
        if (!type.isFloating()) {
            return 1;
        }
        if (type == ElementType.FP32) {
            return Math.ulp((float) value);
        }
        double magnitude = Math.abs(value);
        if (!(magnitude < finite[finite.length - 1])) {
            return finite[finite.length - 1] - finite[finite.length - 2];
        }
        int at = Arrays.binarySearch(finite, magnitude);
        int below = at >= 0 ? at : -at - 2;
        return finite[below + 1] - finite[below];
    }
}
