// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** The inner loops on the processor's preferred vector shape. Loaded only where the module jdk.incubator.vector is in the JVM. */
final class VectorLanes extends Lanes {
    private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
    private static final int N = F.length();
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    /**
     * Five rows by two vectors: 10 accumulators, 2 of B and 1 broadcast are 13 live registers. The JIT spills from about 15 of
     * AVX2's 16 on, which halves the speed (measured on Zen 3 with 6 x 2; 12 x 1 was some 15 % slower than 5 x 2, as it loads more).
     */
    private static final int ROWS = 5;

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

    @Override
    void decode(ElementType type, MemorySegment memory, long offset, float[] to, int at, int count) {
        VectorConversions.decode(type, memory, offset, to, at, count);
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
        VectorConversions.decodePanel(type, memory, offset, pitch, depth, to, at, staging);
    }

    @Override
    void encode(ElementType type, float[] from, int at, MemorySegment memory, long offset, int count) {
        VectorConversions.encode(type, from, at, memory, offset, count);
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
        if (op == ReduceOp.Kind.SUM) {
            // Most reductions by far: without the detour through the scratch memory.
            switch (type) {
                case FP32 -> {
                    addFloats(memory, offset, into, count);
                    return;
                }
                case BF16 -> {
                    addBrains(memory, offset, into, count);
                    return;
                }
                case FP16 -> {
                    ScalarLanes.addHalves(memory, offset, into, count);
                    return;
                }
                default -> {}
            }
        }
        decode(type, memory, offset, scratch, 0, count);
        switch (op) {
            case SUM -> add(into, scratch, count);
            case PROD -> multiply(into, scratch, count);
            case MIN -> min(into, scratch, count);
            case MAX -> max(into, scratch, count);
            case AVG, SCALED_SUM -> throw new IllegalArgumentException(op + " is a scaled sum");
        }
    }

    private static void addFloats(MemorySegment memory, long offset, float[] into, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += N) {
            FloatVector.fromArray(F, into, i)
                    .add(FloatVector.fromMemorySegment(F, memory, offset + 4L * i, ORDER))
                    .intoArray(into, i);
        }
        for (int i = whole; i < count; i++) {
            into[i] += memory.get(ValueLayout.JAVA_FLOAT_UNALIGNED, offset + 4L * i);
        }
    }

    private static void addBrains(MemorySegment memory, long offset, float[] into, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += N) {
            FloatVector.fromArray(F, into, i)
                    .add(VectorConversions.brain(memory, offset + 2L * i))
                    .intoArray(into, i);
        }
        for (int i = whole; i < count; i++) {
            into[i] += ElementType.BF16.decode(memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, offset + 2L * i));
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
