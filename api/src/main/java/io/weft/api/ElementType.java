// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import java.util.Locale;

/**
 * The element types that commands move and compute with.
 *
 * <p>An element is handled as its bit pattern in the low {@link #bytes()} bytes of an {@code int}. Floating types convert to and
 * from {@code float} by {@link #decode(int)} and {@link #encode(float)}; both are exact where the value exists in the type, and
 * {@code encode} rounds to nearest, ties to even.
 *
 * <p><b>8-bit floats.</b> Two families exist and must never be mixed: OCP (E4M3 maximum 448, one NaN pattern per sign, no infinity;
 * E5M2 maximum 57344, IEEE-like) and FNUZ (exponent bias one larger, maximum 240 / 57344, no negative zero, the only NaN is
 * {@code 0x80}). The byte {@code 0x38} is 1.0 in OCP E4M3 and 0.5 in FNUZ E4M3. Finite values beyond the maximum saturate to it; infinities
 * become NaN where the type has no infinity. Source of the encodings: OCP 8-bit Floating Point Specification, rev. 1.0.
 */
public enum ElementType {
    FP32("fp32", 4, Family.FLOAT, 8, 23, 127),
    FP16("fp16", 2, Family.FLOAT, 5, 10, 15),
    BF16("bf16", 2, Family.FLOAT, 8, 7, 127),
    /** OCP 8-bit float, 4 exponent and 3 mantissa bits. */
    FP8_E4M3("fp8", 1, Family.OCP_NO_INFINITY, 4, 3, 7),
    /** OCP 8-bit float, 5 exponent and 2 mantissa bits. */
    FP8_E5M2("fp8-e5m2", 1, Family.FLOAT, 5, 2, 15),
    /** FNUZ 8-bit float, 4 exponent and 3 mantissa bits. */
    FP8_E4M3_FNUZ("fp8-fnuz", 1, Family.FNUZ, 4, 3, 8),
    /** FNUZ 8-bit float, 5 exponent and 2 mantissa bits. */
    FP8_E5M2_FNUZ("fp8-e5m2-fnuz", 1, Family.FNUZ, 5, 2, 16),
    INT8("int8", 1, Family.INTEGER, 0, 7, 0),
    INT32("int32", 4, Family.INTEGER, 0, 31, 0);

    private enum Family {
        FLOAT,
        OCP_NO_INFINITY,
        FNUZ,
        INTEGER
    }

    private static final ElementType[] VALUES = values();

    private final String label;
    private final int bytes;
    private final Family family;
    private final int exponentBits;
    private final int mantissaBits;
    private final int bias;

    ElementType(String label, int bytes, Family family, int exponentBits, int mantissaBits, int bias) {
        this.label = label;
        this.bytes = bytes;
        this.family = family;
        this.exponentBits = exponentBits;
        this.mantissaBits = mantissaBits;
        this.bias = bias;
    }

    /** The lower-case name used in commands, files and JSON, such as {@code bf16}. */
    public String label() {
        return label;
    }

    /** Bytes of one element. */
    public int bytes() {
        return bytes;
    }

    /** Whether this is one of the floating types. */
    public boolean isFloating() {
        return family != Family.INTEGER;
    }

    /** Whether this is one of the four 8-bit floats. */
    public boolean isFp8() {
        return bytes == 1 && isFloating();
    }

    /** Mantissa bits without the hidden one; for integers the value bits. */
    public int mantissaBits() {
        return mantissaBits;
    }

    /** The largest finite value; for integers the largest value (as a float, so {@code 2^31} for {@link #INT32}). */
    public float maxFinite() {
        return switch (this) {
            case FP32 -> Float.MAX_VALUE;
            case FP16 -> 65504f;
            case BF16 -> Float.intBitsToFloat(0x7F7F0000);
            case FP8_E4M3 -> 448f;
            case FP8_E5M2, FP8_E5M2_FNUZ -> 57344f;
            case FP8_E4M3_FNUZ -> 240f;
            case INT8 -> 127f;
            case INT32 -> (float) Integer.MAX_VALUE;
        };
    }

    /**
     * Finds a type by its label, the enum's name, or one of the usual aliases ({@code bfloat16}, {@code float16}, {@code half},
     * {@code float}, {@code float32}, {@code fp8_e4m3}, ...). Case and the choice of {@code _} or {@code -} do not matter.
     *
     * @throws AcceleratorException {@link ErrorCode#INVALID_ARGUMENT} which lists the labels
     */
    public static ElementType parse(String text) {
        String key = text.strip().toLowerCase(Locale.ROOT).replace('_', '-');
        for (ElementType type : VALUES) {
            if (type.label.equals(key)
                    || type.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(key)) {
                return type;
            }
        }
        return switch (key) {
            case "bfloat16" -> BF16;
            case "half", "float16" -> FP16;
            case "float", "float32" -> FP32;
            case "e4m3", "float8-e4m3fn", "fp8-e4m3fn" -> FP8_E4M3;
            case "e5m2", "float8-e5m2" -> FP8_E5M2;
            case "float8-e4m3fnuz" -> FP8_E4M3_FNUZ;
            case "float8-e5m2fnuz" -> FP8_E5M2_FNUZ;
            default -> {
                StringBuilder known = new StringBuilder();
                for (ElementType type : VALUES) {
                    known.append(known.isEmpty() ? "" : ", ").append(type.label);
                }
                throw AcceleratorException.invalid(
                        "element type", "'" + text + "' is not an element type; known are " + known);
            }
        };
    }

    /**
     * The value of a bit pattern. Integers are sign-extended and converted, so {@link #INT32} values beyond 2^24 are rounded.
     *
     * @param bits the pattern in the low {@link #bytes()} bytes; higher bytes are ignored
     */
    public float decode(int bits) {
        return switch (this) {
            case FP32 -> Float.intBitsToFloat(bits);
            case FP16 -> Float.float16ToFloat((short) bits);
            case BF16 -> Float.intBitsToFloat(bits << 16);
            case INT8 -> (byte) bits;
            case INT32 -> bits;
            case FP8_E4M3 -> Fp8Values.E4M3[bits & 0xFF];
            case FP8_E5M2 -> Fp8Values.E5M2[bits & 0xFF];
            case FP8_E4M3_FNUZ -> Fp8Values.E4M3_FNUZ[bits & 0xFF];
            case FP8_E5M2_FNUZ -> Fp8Values.E5M2_FNUZ[bits & 0xFF];
        };
    }

    /**
     * The bit pattern nearest to a value (ties to even). Integers round to nearest even and saturate; NaN becomes 0 for them.
     *
     * @return the pattern in the low {@link #bytes()} bytes, higher bytes zero
     */
    public int encode(float value) {
        return switch (this) {
            case FP32 -> Float.floatToRawIntBits(value);
            case FP16 -> Float.floatToFloat16(value) & 0xFFFF;
            case BF16 -> encodeBf16(value);
            case INT8 -> Math.clamp((long) Math.rint(value), -128, 127) & 0xFF;
            case INT32 -> (int) Math.clamp(Math.rint(value), Integer.MIN_VALUE, Integer.MAX_VALUE);
            default -> encodeFp8(value);
        };
    }

    private static int encodeBf16(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return (bits >>> 16) | 0x40; // keep it a NaN after the low half is cut off
        }
        return (bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16;
    }

    /** The value of every pattern of every 8-bit float: whole matrices are decoded element by element. */
    private static final class Fp8Values {
        static final float[] E4M3 = of(FP8_E4M3);
        static final float[] E5M2 = of(FP8_E5M2);
        static final float[] E4M3_FNUZ = of(FP8_E4M3_FNUZ);
        static final float[] E5M2_FNUZ = of(FP8_E5M2_FNUZ);

        private static float[] of(ElementType type) {
            float[] values = new float[256];
            for (int bits = 0; bits < values.length; bits++) {
                values[bits] = type.decodeFp8(bits);
            }
            return values;
        }
    }

    private float decodeFp8(int bits) {
        int exponentMask = (1 << exponentBits) - 1;
        int mantissaMask = (1 << mantissaBits) - 1;
        int exponent = (bits >>> mantissaBits) & exponentMask;
        int mantissa = bits & mantissaMask;
        if (family == Family.FNUZ && bits == 0x80) {
            return Float.NaN;
        }
        if (exponent == exponentMask) {
            if (family == Family.OCP_NO_INFINITY && mantissa == mantissaMask) {
                return Float.NaN;
            }
            if (family == Family.FLOAT) {
                float magnitude = mantissa == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
                return bits >= 0x80 ? -magnitude : magnitude;
            }
        }
        float magnitude = exponent == 0
                ? Math.scalb((float) mantissa, 1 - bias - mantissaBits)
                : Math.scalb((float) (mantissa | (1 << mantissaBits)), exponent - bias - mantissaBits);
        return bits >= 0x80 ? -magnitude : magnitude;
    }

    private int encodeFp8(float value) {
        int sign = Float.floatToRawIntBits(value) < 0 ? 0x80 : 0;
        if (Float.isNaN(value)) {
            return family == Family.FNUZ ? 0x80 : sign | 0x7F;
        }
        float magnitude = Math.abs(value);
        if (Float.isInfinite(magnitude)) {
            return switch (family) {
                case FNUZ -> 0x80;
                case OCP_NO_INFINITY -> sign | 0x7F;
                default -> sign | 0x7C;
            };
        }
        int exponent = Math.max(Math.getExponent(magnitude), 1 - bias);
        // One unit in the last place at this exponent is 2^(exponent - mantissaBits); rint rounds ties to even.
        long units = (long) Math.rint(Math.scalb((double) magnitude, mantissaBits - exponent));
        // A carry out of the mantissa walks into the exponent by itself, as the fields are adjacent.
        long code = units < (1L << mantissaBits) ? units : ((long) (exponent + bias - 1) << mantissaBits) + units;
        long largest = largestFiniteCode();
        int result = (int) Math.min(code, largest);
        if (family == Family.FNUZ && result == 0) {
            return 0; // FNUZ has no negative zero
        }
        return sign | result;
    }

    private int largestFiniteCode() {
        return switch (family) {
            case FNUZ -> 0x7F;
            case OCP_NO_INFINITY -> 0x7E;
            default -> 0x7B;
        };
    }

    @Override
    public String toString() {
        return label;
    }
}
