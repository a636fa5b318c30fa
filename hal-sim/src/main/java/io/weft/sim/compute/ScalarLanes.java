// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Plain loops, written so that the JIT can vectorise most of them. Used where the JVM was started without the Vector API.
 *
 * <p>On a processor without fused multiply-add {@link Math#fma} is exact but very slow; none of the platforms this is meant for lacks it.
 */
final class ScalarLanes extends Lanes {
    private static final int ROWS = 4;
    /** Wide enough for the JIT's vector loop to pay; the tile's row and four rows of B then fit L1 easily. */
    private static final int COLUMNS = 64;

    @Override
    int tileRows() {
        return ROWS;
    }

    @Override
    int tileColumns() {
        return COLUMNS;
    }

    @Override
    void tile(float[] a, int aAt, float[] b, int bAt, int depth, float[] c, int cAt) {
        int p = 0;
        for (; p + 3 < depth; p += 4) {
            for (int i = 0; i < ROWS; i++) {
                fourSteps(a, aAt + p * ROWS + i, b, bAt + p * COLUMNS, c, cAt + i * COLUMNS);
            }
        }
        for (; p < depth; p++) {
            for (int i = 0; i < ROWS; i++) {
                float x = a[aAt + p * ROWS + i];
                for (int j = 0; j < COLUMNS; j++) {
                    c[cAt + i * COLUMNS + j] = Math.fma(x, b[bAt + p * COLUMNS + j], c[cAt + i * COLUMNS + j]);
                }
            }
        }
    }

    // Four steps of k at once, nested so that they still happen one after the other: the accumulator is read and
    // written once.
    private static void fourSteps(float[] a, int aAt, float[] b, int bAt, float[] c, int cAt) {
        float a0 = a[aAt];
        float a1 = a[aAt + ROWS];
        float a2 = a[aAt + 2 * ROWS];
        float a3 = a[aAt + 3 * ROWS];
        for (int j = 0; j < COLUMNS; j++) {
            float sum = Math.fma(a0, b[bAt + j], c[cAt + j]);
            sum = Math.fma(a1, b[bAt + COLUMNS + j], sum);
            sum = Math.fma(a2, b[bAt + 2 * COLUMNS + j], sum);
            c[cAt + j] = Math.fma(a3, b[bAt + 3 * COLUMNS + j], sum);
        }
    }

    @Override
    void decode(ElementType type, MemorySegment memory, long offset, float[] to, int at, int count) {
        decodeRun(type, memory, offset, to, at, count);
    }

    // The loops stand in methods of their own, as the JIT vectorises them better alone.
    static void decodeRun(ElementType type, MemorySegment memory, long offset, float[] to, int at, int count) {
        switch (type) {
            case FP32 -> MemorySegment.copy(memory, ValueLayout.JAVA_FLOAT_UNALIGNED, offset, to, at, count);
            case FP16 -> decodeHalf(memory, offset, to, at, count);
            case BF16 -> decodeBrain(memory, offset, to, at, count);
            case INT8 -> decodeInt8(memory, offset, to, at, count);
            case INT32 -> throw new IllegalArgumentException("int32 does not fit fp32");
            case FP8_E4M3, FP8_E5M2, FP8_E4M3_FNUZ, FP8_E5M2_FNUZ ->
                decodeFp8(ByteFloats.table(type), memory, offset, to, at, count);
        }
    }

    private static void decodeHalf(MemorySegment memory, long offset, float[] to, int at, int count) {
        for (int i = 0; i < count; i++) {
            to[at + i] = Float.float16ToFloat(memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, offset + 2L * i));
        }
    }

    private static void decodeBrain(MemorySegment memory, long offset, float[] to, int at, int count) {
        for (int i = 0; i < count; i++) {
            to[at + i] = Float.intBitsToFloat(memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, offset + 2L * i) << 16);
        }
    }

    private static void decodeInt8(MemorySegment memory, long offset, float[] to, int at, int count) {
        for (int i = 0; i < count; i++) {
            to[at + i] = memory.get(ValueLayout.JAVA_BYTE, offset + i);
        }
    }

    private static void decodeFp8(float[] table, MemorySegment memory, long offset, float[] to, int at, int count) {
        for (int i = 0; i < count; i++) {
            to[at + i] = table[memory.get(ValueLayout.JAVA_BYTE, offset + i) & 0xFF];
        }
    }

    @Override
    void decodePanel(
            ElementType type,
            MemorySegment memory,
            long offset,
            long pitch,
            int depth,
            float[] to,
            int at,
            MemorySegment staging) {
        for (int p = 0; p < depth; p++) {
            decodeRun(type, memory, offset + p * pitch, to, at + p * COLUMNS, COLUMNS);
        }
    }

    @Override
    void encode(ElementType type, float[] from, int at, MemorySegment memory, long offset, int count) {
        switch (type) {
            case FP32 -> {
                cleanNan(from, at, count);
                MemorySegment.copy(from, at, memory, ValueLayout.JAVA_FLOAT_UNALIGNED, offset, count);
            }
            case FP16 -> {
                cleanNan(from, at, count);
                encodeHalf(from, at, memory, offset, count);
            }
            case BF16 -> encodeBrain(from, at, memory, offset, count);
            case INT8, INT32 -> throw new IllegalArgumentException(type + " is not a floating type");
            case FP8_E4M3, FP8_E5M2, FP8_E4M3_FNUZ, FP8_E5M2_FNUZ ->
                encodeFp8(ByteFloats.of(type), from, at, memory, offset, count);
        }
    }

    private static void cleanNan(float[] x, int at, int count) {
        for (int i = at; i < at + count; i++) {
            x[i] = Float.isNaN(x[i]) ? Float.NaN : x[i];
        }
    }

    /** NaNs must be canonical already. */
    static void encodeHalf(float[] from, int at, MemorySegment memory, long offset, int count) {
        for (int i = 0; i < count; i++) {
            memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset + 2L * i, Float.floatToFloat16(from[at + i]));
        }
    }

    static void encodeBrain(float[] from, int at, MemorySegment memory, long offset, int count) {
        for (int i = 0; i < count; i++) {
            int bits = Float.floatToIntBits(from[at + i]); // NaN is 0x7FC00000 here and survives the rounding
            memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset + 2L * i, (short)
                    ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16));
        }
    }

    static void encodeFp8(ByteFloats format, float[] from, int at, MemorySegment memory, long offset, int count) {
        for (int i = 0; i < count; i++) {
            memory.set(ValueLayout.JAVA_BYTE, offset + i, format.encode(from[at + i]));
        }
    }

    /** {@code into[i] += x[i]} for fp16 elements in memory. */
    static void addHalves(MemorySegment memory, long offset, float[] into, int count) {
        for (int i = 0; i < count; i++) {
            into[i] += Float.float16ToFloat(memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, offset + 2L * i));
        }
    }

    @Override
    void scaleAdd(float alpha, float[] x, float beta, float[] c, int count) {
        for (int i = 0; i < count; i++) {
            x[i] = Math.fma(beta, c[i], alpha * x[i]);
        }
    }

    @Override
    void combine(
            ReduceOp.Kind op, ElementType type, MemorySegment memory, long offset, float[] into, int count, float[] x) {
        decodeRun(type, memory, offset, x, 0, count);
        switch (op) {
            case SUM -> {
                for (int i = 0; i < count; i++) {
                    into[i] += x[i];
                }
            }
            case PROD -> {
                for (int i = 0; i < count; i++) {
                    into[i] *= x[i];
                }
            }
            case MIN -> {
                for (int i = 0; i < count; i++) {
                    into[i] = Math.min(into[i], x[i]);
                }
            }
            case MAX -> {
                for (int i = 0; i < count; i++) {
                    into[i] = Math.max(into[i], x[i]);
                }
            }
            case AVG, SCALED_SUM -> throw new IllegalArgumentException(op + " is a scaled sum");
        }
    }

    @Override
    void addScaled(
            float factor, ElementType type, MemorySegment memory, long offset, float[] into, int count, float[] x) {
        decodeRun(type, memory, offset, x, 0, count);
        for (int i = 0; i < count; i++) {
            into[i] += factor * x[i];
        }
    }
}
