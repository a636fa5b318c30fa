// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** The inner loops on the processor's preferred vector shape. Loaded only where the module jdk.incubator.vector is in the JVM. */
final class VectorLanes extends Lanes {
    private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Integer> I = IntVector.SPECIES_PREFERRED;
    private static final int N = F.length();
    /** As many 16-bit elements as F has lanes. */
    private static final VectorSpecies<Short> H = VectorSpecies.of(short.class, VectorShape.forBitSize(16 * N));
    /** As many bytes as F has lanes; the Vector API has no shape below 64 bits, so four lanes take the scalar way. */
    private static final VectorSpecies<Byte> B =
            N < 8 ? null : VectorSpecies.of(byte.class, VectorShape.forBitSize(8 * N));

    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    /**
     * Five rows by two vectors: 10 accumulators, 2 of B and 1 broadcast are 13 live registers. The JIT spills from about 15 of
     * AVX2's 16 on, which halves the speed (measured on Zen 3 with 6 x 2; 12 x 1 was some 15 % slower than 5 x 2, as it loads more).
     */
    private static final int ROWS = 5;

    private static final int EXPONENT = 0x7F800000;

    private VectorLanes() {}

    static Lanes create() {
        return N < 4 ? new ScalarLanes() : new VectorLanes();
    }

    @Override
    int tileRows() {
        return ROWS;
    }

    @Override
    int tileColumns() {
        return 2 * N;
    }

    @Override
    void tile(float[] a, int aAt, float[] b, int bAt, int depth, float[] c, int cAt) {
        multiply(a, aAt, b, bAt, depth, c, cAt);
    }

    // Static for speed: as an instance method the same body ran at 36 instead of 100 GFLOP/s (Temurin 25.0.3, Zen 3,
    // three runs
    // each); with one argument more the JIT spills accumulators in the loop.
    private static void multiply(float[] a, int aAt, float[] b, int bAt, int depth, float[] c, int cAt) {
        FloatVector l0 = FloatVector.fromArray(F, c, cAt + 0 * N);
        FloatVector r0 = FloatVector.fromArray(F, c, cAt + 1 * N);
        FloatVector l1 = FloatVector.fromArray(F, c, cAt + 2 * N);
        FloatVector r1 = FloatVector.fromArray(F, c, cAt + 3 * N);
        FloatVector l2 = FloatVector.fromArray(F, c, cAt + 4 * N);
        FloatVector r2 = FloatVector.fromArray(F, c, cAt + 5 * N);
        FloatVector l3 = FloatVector.fromArray(F, c, cAt + 6 * N);
        FloatVector r3 = FloatVector.fromArray(F, c, cAt + 7 * N);
        FloatVector l4 = FloatVector.fromArray(F, c, cAt + 8 * N);
        FloatVector r4 = FloatVector.fromArray(F, c, cAt + 9 * N);
        for (int p = 0; p < depth; p++) {
            FloatVector left = FloatVector.fromArray(F, b, bAt);
            FloatVector right = FloatVector.fromArray(F, b, bAt + N);
            FloatVector x = FloatVector.broadcast(F, a[aAt]);
            l0 = x.fma(left, l0);
            r0 = x.fma(right, r0);
            x = FloatVector.broadcast(F, a[aAt + 1]);
            l1 = x.fma(left, l1);
            r1 = x.fma(right, r1);
            x = FloatVector.broadcast(F, a[aAt + 2]);
            l2 = x.fma(left, l2);
            r2 = x.fma(right, r2);
            x = FloatVector.broadcast(F, a[aAt + 3]);
            l3 = x.fma(left, l3);
            r3 = x.fma(right, r3);
            x = FloatVector.broadcast(F, a[aAt + 4]);
            l4 = x.fma(left, l4);
            r4 = x.fma(right, r4);
            aAt += ROWS;
            bAt += 2 * N;
        }
        l0.intoArray(c, cAt + 0 * N);
        r0.intoArray(c, cAt + 1 * N);
        l1.intoArray(c, cAt + 2 * N);
        r1.intoArray(c, cAt + 3 * N);
        l2.intoArray(c, cAt + 4 * N);
        r2.intoArray(c, cAt + 5 * N);
        l3.intoArray(c, cAt + 6 * N);
        r3.intoArray(c, cAt + 7 * N);
        l4.intoArray(c, cAt + 8 * N);
        r4.intoArray(c, cAt + 9 * N);
    }

    // Each conversion has its loop in a method of its own: with several in one method the JIT gives up inlining the
    // vector operations
    // of the later ones, which are then some ten times slower.
    @Override
    void decode(ElementType type, MemorySegment memory, long offset, float[] to, int at, int count) {
        int whole = type == ElementType.FP32 || (B == null && type.bytes() == 1) ? 0 : F.loopBound(count);
        switch (type) {
            case FP16 -> decodeHalf(memory, offset, to, at, whole);
            case BF16 -> decodeBrain(memory, offset, to, at, whole);
            case INT8 -> decodeInt8(memory, offset, to, at, whole);
            case FP8_E4M3, FP8_E5M2, FP8_E4M3_FNUZ, FP8_E5M2_FNUZ ->
                decodeFp8(ByteFloats.of(type), memory, offset, to, at, whole);
            case FP32 -> {}
            case INT32 -> throw new IllegalArgumentException("int32 does not fit fp32");
        }
        if (whole < count) {
            ScalarLanes.decodeRun(type, memory, offset + (long) whole * type.bytes(), to, at + whole, count - whole);
        }
    }

    private static void decodeHalf(MemorySegment memory, long offset, float[] to, int at, int count) {
        for (int i = 0; i < count; i += N) {
            half(memory, offset + 2L * i).intoArray(to, at + i);
        }
    }

    private static void decodeBrain(MemorySegment memory, long offset, float[] to, int at, int count) {
        for (int i = 0; i < count; i += N) {
            brain(memory, offset + 2L * i).intoArray(to, at + i);
        }
    }

    private static void decodeInt8(MemorySegment memory, long offset, float[] to, int at, int count) {
        for (int i = 0; i < count; i += N) {
            int8(memory, offset + i).intoArray(to, at + i);
        }
    }

    private static void decodeFp8(ByteFloats format, MemorySegment memory, long offset, float[] to, int at, int count) {
        for (int i = 0; i < count; i += N) {
            fp8(format, memory, offset + i).intoArray(to, at + i);
        }
    }

    private static FloatVector brain(MemorySegment memory, long offset) {
        return ((IntVector) ShortVector.fromMemorySegment(H, memory, offset, ORDER)
                        .convertShape(VectorOperators.ZERO_EXTEND_S2I, I, 0))
                .lanewise(VectorOperators.LSHL, 16)
                .reinterpretAsFloats();
    }

    // The half's exponent and mantissa sit 13 bits up in fp32; a multiplication by 2^(127-15) corrects the bias and is
    // exact, for
    // subnormals too. Infinity and NaN need fp32's exponent instead.
    private static FloatVector half(MemorySegment memory, long offset) {
        IntVector bits = (IntVector) ShortVector.fromMemorySegment(H, memory, offset, ORDER)
                .convertShape(VectorOperators.ZERO_EXTEND_S2I, I, 0);
        IntVector magnitude = bits.lanewise(VectorOperators.AND, 0x7FFF).lanewise(VectorOperators.LSHL, 13);
        IntVector finite = magnitude.reinterpretAsFloats().mul(0x1p112f).reinterpretAsInts();
        VectorMask<Integer> special = magnitude.compare(VectorOperators.GE, 0x1F << 23);
        IntVector sign = bits.lanewise(VectorOperators.AND, 0x8000).lanewise(VectorOperators.LSHL, 16);
        return finite.blend(magnitude.lanewise(VectorOperators.OR, EXPONENT), special)
                .lanewise(VectorOperators.OR, sign)
                .reinterpretAsFloats();
    }

    // As half(): move the fields into place, correct the bias by a multiplication, mend what is not finite.
    private static FloatVector fp8(ByteFloats format, MemorySegment memory, long offset) {
        IntVector bits = (IntVector) ByteVector.fromMemorySegment(B, memory, offset, ORDER)
                .convertShape(VectorOperators.ZERO_EXTEND_B2I, I, 0);
        IntVector code = bits.lanewise(VectorOperators.AND, 0x7F);
        IntVector magnitude = code.lanewise(VectorOperators.LSHL, format.shift);
        IntVector finite = magnitude.reinterpretAsFloats().mul(format.scale).reinterpretAsInts();
        IntVector sign = bits.lanewise(VectorOperators.AND, 0x80).lanewise(VectorOperators.LSHL, 24);
        return finite.blend(
                        magnitude.lanewise(VectorOperators.OR, EXPONENT),
                        code.compare(VectorOperators.GT, format.largest))
                .lanewise(VectorOperators.OR, sign)
                .blend(0x7FC00000, bits.compare(VectorOperators.EQ, format.onlyNan))
                .reinterpretAsFloats();
    }

    private static FloatVector int8(MemorySegment memory, long offset) {
        return (FloatVector)
                ByteVector.fromMemorySegment(B, memory, offset, ORDER).convertShape(VectorOperators.B2F, F, 0);
    }

    @Override
    void decodePanel(ElementType type, MemorySegment memory, long offset, long pitch, int depth, float[] to, int at) {
        if (type.bytes() == 1 && B == null) {
            for (int p = 0; p < depth; p++) {
                ScalarLanes.decodeRun(type, memory, offset + p * pitch, to, at + p * 2 * N, 2 * N);
            }
            return;
        }
        switch (type) {
            case FP32 -> floatPanel(memory, offset, pitch, depth, to, at);
            case FP16 -> halfPanel(memory, offset, pitch, depth, to, at);
            case BF16 -> brainPanel(memory, offset, pitch, depth, to, at);
            case INT8 -> int8Panel(memory, offset, pitch, depth, to, at);
            case FP8_E4M3, FP8_E5M2, FP8_E4M3_FNUZ, FP8_E5M2_FNUZ ->
                fp8Panel(ByteFloats.of(type), memory, offset, pitch, depth, to, at);
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

    private static void halfPanel(MemorySegment memory, long offset, long pitch, int depth, float[] to, int at) {
        for (int p = 0; p < depth; p++) {
            half(memory, offset + p * pitch).intoArray(to, at + p * 2 * N);
            half(memory, offset + p * pitch + 2L * N).intoArray(to, at + p * 2 * N + N);
        }
    }

    private static void brainPanel(MemorySegment memory, long offset, long pitch, int depth, float[] to, int at) {
        for (int p = 0; p < depth; p++) {
            brain(memory, offset + p * pitch).intoArray(to, at + p * 2 * N);
            brain(memory, offset + p * pitch + 2L * N).intoArray(to, at + p * 2 * N + N);
        }
    }

    private static void int8Panel(MemorySegment memory, long offset, long pitch, int depth, float[] to, int at) {
        for (int p = 0; p < depth; p++) {
            int8(memory, offset + p * pitch).intoArray(to, at + p * 2 * N);
            int8(memory, offset + p * pitch + N).intoArray(to, at + p * 2 * N + N);
        }
    }

    private static void fp8Panel(
            ByteFloats format, MemorySegment memory, long offset, long pitch, int depth, float[] to, int at) {
        for (int p = 0; p < depth; p++) {
            fp8(format, memory, offset + p * pitch).intoArray(to, at + p * 2 * N);
            fp8(format, memory, offset + p * pitch + N).intoArray(to, at + p * 2 * N + N);
        }
    }

    @Override
    void encode(ElementType type, float[] from, int at, MemorySegment memory, long offset, int count) {
        int whole = B == null && type.bytes() == 1 ? 0 : F.loopBound(count);
        switch (type) {
            case FP32 -> encodeFloat(from, at, memory, offset, whole);
            case FP16 -> encodeHalf(from, at, memory, offset, whole);
            case BF16 -> encodeBrain(from, at, memory, offset, whole);
            case FP8_E4M3, FP8_E5M2, FP8_E4M3_FNUZ, FP8_E5M2_FNUZ ->
                encodeFp8(ByteFloats.of(type), from, at, memory, offset, whole);
            case INT8, INT32 -> throw new IllegalArgumentException(type + " is not a floating type");
        }
        if (whole < count) {
            ScalarLanes.encodeRun(type, from, at + whole, memory, offset + (long) whole * type.bytes(), count - whole);
        }
    }

    private static void encodeFloat(float[] from, int at, MemorySegment memory, long offset, int count) {
        for (int i = 0; i < count; i += N) {
            FloatVector x = FloatVector.fromArray(F, from, at + i);
            x.blend(Float.NaN, x.test(VectorOperators.IS_NAN)).intoMemorySegment(memory, offset + 4L * i, ORDER);
        }
    }

    private static void encodeHalf(float[] from, int at, MemorySegment memory, long offset, int count) {
        for (int i = 0; i < count; i += N) {
            IntVector code = toHalf(FloatVector.fromArray(F, from, at + i).reinterpretAsInts());
            ((ShortVector) code.convertShape(VectorOperators.I2S, H, 0))
                    .intoMemorySegment(memory, offset + 2L * i, ORDER);
        }
    }

    private static void encodeBrain(float[] from, int at, MemorySegment memory, long offset, int count) {
        for (int i = 0; i < count; i += N) {
            IntVector bits = FloatVector.fromArray(F, from, at + i).reinterpretAsInts();
            IntVector odd = bits.lanewise(VectorOperators.LSHR, 16).lanewise(VectorOperators.AND, 1);
            IntVector rounded = bits.add(odd).add(0x7FFF).lanewise(VectorOperators.LSHR, 16);
            VectorMask<Integer> nan =
                    bits.lanewise(VectorOperators.AND, 0x7FFFFFFF).compare(VectorOperators.GT, EXPONENT);
            ((ShortVector) rounded.blend(0x7FC0, nan).convertShape(VectorOperators.I2S, H, 0))
                    .intoMemorySegment(memory, offset + 2L * i, ORDER);
        }
    }

    // See ByteFloats for the two ways of rounding; here infinity and overflow are the same code.
    private static IntVector toHalf(IntVector bits) {
        IntVector magnitude = bits.lanewise(VectorOperators.AND, 0x7FFFFFFF);
        IntVector odd = magnitude.lanewise(VectorOperators.LSHR, 13).lanewise(VectorOperators.AND, 1);
        IntVector normal = magnitude
                .add(odd)
                .add(0xFFF)
                .lanewise(VectorOperators.LSHR, 13)
                .sub((127 - 15) << 10)
                .min(0x7C00);
        IntVector subnormal =
                magnitude.reinterpretAsFloats().add(0.5f).reinterpretAsInts().sub(0x3F000000);
        IntVector code = normal.blend(subnormal, magnitude.compare(VectorOperators.LT, (127 - 14) << 23));
        IntVector sign = bits.lanewise(VectorOperators.LSHR, 16).lanewise(VectorOperators.AND, 0x8000);
        return code.lanewise(VectorOperators.OR, sign).blend(0x7E00, magnitude.compare(VectorOperators.GT, EXPONENT));
    }

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
            IntVector magnitude = bits.lanewise(VectorOperators.AND, 0x7FFFFFFF);
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

    @Override
    void scaleAdd(float alpha, float[] x, float beta, float[] c, int count) {
        int whole = F.loopBound(count);
        FloatVector b = FloatVector.broadcast(F, beta);
        for (int i = 0; i < whole; i += N) {
            FloatVector scaled = FloatVector.fromArray(F, x, i).mul(alpha);
            b.fma(FloatVector.fromArray(F, c, i), scaled).intoArray(x, i);
        }
        for (int i = whole; i < count; i++) {
            x[i] = Math.fma(beta, c[i], alpha * x[i]);
        }
    }

    @Override
    void combine(
            ReduceOp.Kind op,
            ElementType type,
            MemorySegment memory,
            long offset,
            float[] into,
            int count,
            float[] scratch) {
        decode(type, memory, offset, scratch, 0, count);
        switch (op) {
            case SUM -> add(into, scratch, count);
            case PROD -> multiply(into, scratch, count);
            case MIN -> min(into, scratch, count);
            case MAX -> max(into, scratch, count);
            case AVG, SCALED_SUM -> throw new IllegalArgumentException(op + " is a scaled sum");
        }
    }

    private static void add(float[] into, float[] x, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += N) {
            FloatVector.fromArray(F, into, i)
                    .add(FloatVector.fromArray(F, x, i))
                    .intoArray(into, i);
        }
        for (int i = whole; i < count; i++) {
            into[i] = into[i] + x[i];
        }
    }

    private static void multiply(float[] into, float[] x, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += N) {
            FloatVector.fromArray(F, into, i)
                    .mul(FloatVector.fromArray(F, x, i))
                    .intoArray(into, i);
        }
        for (int i = whole; i < count; i++) {
            into[i] = into[i] * x[i];
        }
    }

    private static void min(float[] into, float[] x, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += N) {
            FloatVector.fromArray(F, into, i)
                    .min(FloatVector.fromArray(F, x, i))
                    .intoArray(into, i);
        }
        for (int i = whole; i < count; i++) {
            into[i] = Math.min(into[i], x[i]);
        }
    }

    private static void max(float[] into, float[] x, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += N) {
            FloatVector.fromArray(F, into, i)
                    .max(FloatVector.fromArray(F, x, i))
                    .intoArray(into, i);
        }
        for (int i = whole; i < count; i++) {
            into[i] = Math.max(into[i], x[i]);
        }
    }

    @Override
    void addScaled(
            float factor,
            ElementType type,
            MemorySegment memory,
            long offset,
            float[] into,
            int count,
            float[] scratch) {
        float[] x = scratch;
        decode(type, memory, offset, x, 0, count);
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += N) {
            FloatVector.fromArray(F, into, i)
                    .add(FloatVector.fromArray(F, x, i).mul(factor))
                    .intoArray(into, i);
        }
        for (int i = whole; i < count; i++) {
            into[i] += factor * x[i];
        }
    }
}
