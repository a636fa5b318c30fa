// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import io.weft.api.ElementType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Conversions between fp32 and the narrow types by the Vector API, where that is faster than what the JIT makes of a plain loop (it is
 * not for fp16, whose conversions are single instructions that the JIT knows).
 *
 * <p>Each loop has a method of its own: with several in one method the JIT gives up inlining the vector operations of the later ones, which
 * are then some ten times slower (measured).
 */
final class VectorConversions {
    private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Integer> I = IntVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Byte> W = ByteVector.SPECIES_PREFERRED;
    private static final int N = F.length();
    /** As many 16-bit elements as F has lanes. */
    private static final VectorSpecies<Short> H = VectorSpecies.of(short.class, VectorShape.forBitSize(16 * N));
    /** As many bytes as F has lanes; the Vector API has no shape below 64 bits, so four lanes take the scalar way. */
    private static final VectorSpecies<Byte> B =
            N < 8 ? null : VectorSpecies.of(byte.class, VectorShape.forBitSize(8 * N));

    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private static final int EXPONENT = 0x7F800000;
    private static final int MAGNITUDE = 0x7FFFFFFF;

    private VectorConversions() {}

    /** As {@link Lanes#decode}. */
    static void decode(ElementType type, MemorySegment memory, long offset, float[] to, int at, int count) {
        int whole = switch (type) {
            case FP32, FP16 -> 0;
            case BF16 -> F.loopBound(count);
            case INT8, FP8_E4M3, FP8_E5M2, FP8_E4M3_FNUZ, FP8_E5M2_FNUZ -> B == null ? 0 : F.loopBound(count);
            case INT32 -> throw new IllegalArgumentException("int32 does not fit fp32");
        };
        if (whole > 0) {
            switch (type) {
                case BF16 -> decodeBrain(memory, offset, to, at, whole);
                case INT8 -> decodeInt8(memory, offset, to, at, whole);
                default -> decodeFp8(ByteFloats.of(type), memory, offset, to, at, whole);
            }
        }
        if (whole < count) {
            ScalarLanes.decodeRun(type, memory, offset + (long) whole * type.bytes(), to, at + whole, count - whole);
        }
    }

    private static void decodeBrain(MemorySegment memory, long offset, float[] to, int at, int count) {
        for (int i = 0; i < count; i += N) {
            brain(memory, offset + 2L * i).intoArray(to, at + i);
        }
    }

    /** N bf16 elements: the upper halves of their fp32 values. */
    static FloatVector brain(MemorySegment memory, long offset) {
        return ((IntVector) ShortVector.fromMemorySegment(H, memory, offset, ORDER)
                        .convertShape(VectorOperators.ZERO_EXTEND_S2I, I, 0))
                .lanewise(VectorOperators.LSHL, 16)
                .reinterpretAsFloats();
    }

    private static void decodeInt8(MemorySegment memory, long offset, float[] to, int at, int count) {
        for (int i = 0; i < count; i += N) {
            ((FloatVector) ByteVector.fromMemorySegment(B, memory, offset + i, ORDER)
                            .convertShape(VectorOperators.B2F, F, 0))
                    .intoArray(to, at + i);
        }
    }

    // Exponent and mantissa move to their place in fp32, and a multiplication corrects the bias; exact, for subnormals
    // too. What is not
    // finite comes out as a finite number and is mended after, which is rare.
    private static void decodeFp8(ByteFloats format, MemorySegment memory, long offset, float[] to, int at, int count) {
        int shift = format.shift;
        float scale = format.scale;
        for (int i = 0; i < count; i += N) {
            IntVector bits = (IntVector)
                    ByteVector.fromMemorySegment(B, memory, offset + i, ORDER).convertShape(VectorOperators.B2I, I, 0);
            bits.lanewise(VectorOperators.AND, 0x7F)
                    .lanewise(VectorOperators.LSHL, shift)
                    .reinterpretAsFloats()
                    .mul(scale)
                    .reinterpretAsInts()
                    .lanewise(VectorOperators.OR, bits.lanewise(VectorOperators.AND, 0x80000000))
                    .reinterpretAsFloats()
                    .intoArray(to, at + i);
        }
        if (format.oneZero
                ? anyEqual(format.nan, memory, offset, count)
                : anyAbove(format.largest, memory, offset, count)) {
            for (int i = 0; i < count; i++) {
                to[at + i] = format.decode(memory.get(ValueLayout.JAVA_BYTE, offset + i));
            }
        }
    }

    private static boolean anyAbove(int largest, MemorySegment memory, long offset, int count) {
        int whole = W.loopBound(count);
        VectorMask<Byte> any = W.maskAll(false);
        for (int i = 0; i < whole; i += W.length()) {
            any = any.or(ByteVector.fromMemorySegment(W, memory, offset + i, ORDER)
                    .lanewise(VectorOperators.AND, (byte) 0x7F)
                    .compare(VectorOperators.GT, (byte) largest));
        }
        boolean found = any.anyTrue();
        for (int i = whole; i < count; i++) {
            found |= (memory.get(ValueLayout.JAVA_BYTE, offset + i) & 0x7F) > largest;
        }
        return found;
    }

    private static boolean anyEqual(int pattern, MemorySegment memory, long offset, int count) {
        int whole = W.loopBound(count);
        VectorMask<Byte> any = W.maskAll(false);
        for (int i = 0; i < whole; i += W.length()) {
            any = any.or(ByteVector.fromMemorySegment(W, memory, offset + i, ORDER)
                    .compare(VectorOperators.EQ, (byte) pattern));
        }
        boolean found = any.anyTrue();
        for (int i = whole; i < count; i++) {
            found |= memory.get(ValueLayout.JAVA_BYTE, offset + i) == (byte) pattern;
        }
        return found;
    }

    /** As {@link Lanes#decodePanel}, for panels of two vectors. */
    static void decodePanel(
            ElementType type,
            MemorySegment memory,
            long offset,
            long pitch,
            int depth,
            float[] to,
            int at,
            MemorySegment staging) {
        switch (type) {
            case FP32 -> floatPanel(memory, offset, pitch, depth, to, at);
            case BF16 -> brainPanel(memory, offset, pitch, depth, to, at);
            case FP16 -> {
                stageHalves(memory, offset, pitch, depth, staging);
                decode(type, staging, 0, to, at, depth * 2 * N);
            }
            case INT8, FP8_E4M3, FP8_E5M2, FP8_E4M3_FNUZ, FP8_E5M2_FNUZ -> {
                if (B == null) {
                    for (int p = 0; p < depth; p++) {
                        ScalarLanes.decodeRun(type, memory, offset + p * pitch, to, at + p * 2 * N, 2 * N);
                    }
                } else {
                    stageBytes(memory, offset, pitch, depth, staging);
                    decode(type, staging, 0, to, at, depth * 2 * N);
                }
            }
            case INT32 -> throw new IllegalArgumentException("int32 does not fit fp32");
        }
    }

    private static void floatPanel(MemorySegment memory, long offset, long pitch, int depth, float[] to, int at) {
        for (int p = 0; p < depth; p++) {
            FloatVector.fromMemorySegment(F, memory, offset + p * pitch, ORDER).intoArray(to, at + p * 2 * N);
            FloatVector.fromMemorySegment(F, memory, offset + p * pitch + 4L * N, ORDER)
                    .intoArray(to, at + p * 2 * N + N);
        }
    }

    private static void brainPanel(MemorySegment memory, long offset, long pitch, int depth, float[] to, int at) {
        for (int p = 0; p < depth; p++) {
            brain(memory, offset + p * pitch).intoArray(to, at + p * 2 * N);
            brain(memory, offset + p * pitch + 2L * N).intoArray(to, at + p * 2 * N + N);
        }
    }

    // A panel is one run once its rows are side by side, and runs convert much faster than rows of two vectors.
    private static void stageHalves(MemorySegment memory, long offset, long pitch, int depth, MemorySegment to) {
        for (int p = 0; p < depth; p++) {
            long from = offset + p * pitch;
            ShortVector.fromMemorySegment(H, memory, from, ORDER).intoMemorySegment(to, 4L * p * N, ORDER);
            ShortVector.fromMemorySegment(H, memory, from + 2L * N, ORDER)
                    .intoMemorySegment(to, 4L * p * N + 2L * N, ORDER);
        }
    }

    private static void stageBytes(MemorySegment memory, long offset, long pitch, int depth, MemorySegment to) {
        for (int p = 0; p < depth; p++) {
            long from = offset + p * pitch;
            ByteVector.fromMemorySegment(B, memory, from, ORDER).intoMemorySegment(to, 2L * p * N, ORDER);
            ByteVector.fromMemorySegment(B, memory, from + N, ORDER).intoMemorySegment(to, 2L * p * N + N, ORDER);
        }
    }

    /** As {@link Lanes#encode}. */
    static void encode(ElementType type, float[] from, int at, MemorySegment memory, long offset, int count) {
        int whole = F.loopBound(count);
        switch (type) {
            case FP32 -> {
                cleanNan(from, at, count);
                MemorySegment.copy(from, at, memory, ValueLayout.JAVA_FLOAT_UNALIGNED, offset, count);
            }
            case FP16 -> {
                cleanNan(from, at, count);
                ScalarLanes.encodeHalf(from, at, memory, offset, count);
            }
            case BF16 -> {
                encodeBrain(from, at, memory, offset, whole);
                ScalarLanes.encodeBrain(from, at + whole, memory, offset + 2L * whole, count - whole);
            }
            case FP8_E4M3, FP8_E5M2, FP8_E4M3_FNUZ, FP8_E5M2_FNUZ -> {
                whole = B == null ? 0 : whole;
                ByteFloats format = ByteFloats.of(type);
                encodeFp8(format, from, at, memory, offset, whole);
                ScalarLanes.encodeFp8(format, from, at + whole, memory, offset + whole, count - whole);
            }
            case INT8, INT32 -> throw new IllegalArgumentException(type + " is not a floating type");
        }
    }

    // In place: the same blend on the way to a segment was five times slower.
    private static void cleanNan(float[] x, int at, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += N) {
            FloatVector v = FloatVector.fromArray(F, x, at + i);
            v.blend(Float.NaN, v.compare(VectorOperators.NE, v)).intoArray(x, at + i);
        }
        for (int i = whole; i < count; i++) {
            x[at + i] = Float.isNaN(x[at + i]) ? Float.NaN : x[at + i];
        }
    }

    private static void encodeBrain(float[] from, int at, MemorySegment memory, long offset, int count) {
        for (int i = 0; i < count; i += N) {
            IntVector bits = FloatVector.fromArray(F, from, at + i).reinterpretAsInts();
            IntVector odd = bits.lanewise(VectorOperators.LSHR, 16).lanewise(VectorOperators.AND, 1);
            IntVector rounded = bits.add(odd).add(0x7FFF).lanewise(VectorOperators.LSHR, 16);
            VectorMask<Integer> nan =
                    bits.lanewise(VectorOperators.AND, MAGNITUDE).compare(VectorOperators.GT, EXPONENT);
            ((ShortVector) rounded.blend(0x7FC0, nan).convertShape(VectorOperators.I2S, H, 0))
                    .intoMemorySegment(memory, offset + 2L * i, ORDER);
        }
    }

    // See ByteFloats for the two ways of rounding.
    private static void encodeFp8(
            ByteFloats format, float[] from, int at, MemorySegment memory, long offset, int whole) {
        int shift = format.shift;
        int half = (1 << (shift - 1)) - 1;
        int rebias = format.rebias;
        int largest = format.largest;
        int smallestNormal = format.smallestNormal;
        int magic = format.subnormalMagic;
        float magicValue = Float.intBitsToFloat(magic);
        int infinity = format.infinity;
        int nan = format.nan;
        int signMask = 0x80;
        boolean oneZero = format.oneZero;
        for (int i = 0; i < whole; i += N) {
            IntVector bits = FloatVector.fromArray(F, from, at + i).reinterpretAsInts();
            IntVector magnitude = bits.lanewise(VectorOperators.AND, MAGNITUDE);
            IntVector odd = magnitude.lanewise(VectorOperators.LSHR, shift).lanewise(VectorOperators.AND, 1);
            IntVector normal = magnitude
                    .add(odd)
                    .add(half)
                    .lanewise(VectorOperators.LSHR, shift)
                    .sub(rebias)
                    .min(largest);
            IntVector subnormal = magnitude
                    .reinterpretAsFloats()
                    .add(magicValue)
                    .reinterpretAsInts()
                    .sub(magic);
            IntVector code = normal.blend(subnormal, magnitude.compare(VectorOperators.LT, smallestNormal));
            VectorMask<Integer> zero = code.compare(VectorOperators.EQ, 0);
            code = code.blend(infinity, magnitude.compare(VectorOperators.EQ, EXPONENT));
            IntVector sign = bits.lanewise(VectorOperators.LSHR, 24).lanewise(VectorOperators.AND, signMask);
            if (oneZero) {
                sign = sign.blend(0, zero);
            }
            code = code.lanewise(VectorOperators.OR, sign).blend(nan, magnitude.compare(VectorOperators.GT, EXPONENT));
            ((ByteVector) code.convertShape(VectorOperators.I2B, B, 0)).intoMemorySegment(memory, offset + i, ORDER);
        }
    }
}
