// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import io.weft.api.numeric.Elements;
import io.weft.api.numeric.HostMatrix;
import io.weft.api.numeric.RandomData;
import io.weft.api.numeric.Reference;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ReductionTest {
    private static final ComputePool POOL = new ComputePool(3);
    private static final ReduceOp[] OPS = {
        ReduceOp.SUM, ReduceOp.PROD, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVG, ReduceOp.scaledSum(3f)
    };

    @AfterAll
    static void closePool() {
        POOL.close();
    }

    static Stream<Lanes> lanes() {
        return TestLanes.all();
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void everyOperationOnEveryTypeGivesTheBitsOfTheContract(Lanes lanes) {
        Reduction reduction = new Reduction(POOL, lanes);
        for (ElementType type : ElementType.values()) {
            for (ReduceOp op : OPS) {
                for (int n : new int[] {1, 2, 3, 7, 8}) {
                    int count = n == 8 ? 20_001 : 100 + n;
                    MemorySegment[] inputs = inputs(type, n, count);
                    MemorySegment output = Arena.ofAuto().allocate((long) count * type.bytes());
                    reduction.reduce(op, type, inputs, output, count);
                    check(op, null, type, inputs, type, output, count);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void theOutputMayBeAnyOfTheInputs(Lanes lanes) {
        int count = 70_003;
        for (int place = 0; place < 3; place++) {
            MemorySegment[] inputs = inputs(ElementType.BF16, 3, count);
            MemorySegment[] before = Arrays.stream(inputs)
                    .map(input -> MemorySegment.ofArray(input.toArray(ValueLayout.JAVA_BYTE)))
                    .toArray(MemorySegment[]::new);
            new Reduction(POOL, lanes).reduce(ReduceOp.SUM, ElementType.BF16, inputs, inputs[place], count);
            check(ReduceOp.SUM, null, ElementType.BF16, before, ElementType.BF16, inputs[place], count);
        }
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void fp32InputsMayBeRoundedToAnotherTypeAndPitchesLeaveGapsAlone(Lanes lanes) {
        long seed = 77;
        Random random = new Random(seed);
        for (ElementType type : ElementType.values()) {
            if (!type.isFloating()) {
                continue;
            }
            int rows = 1 + random.nextInt(20);
            int columns = 1 + random.nextInt(3000);
            long[] pitches = {columns, columns + 3L, columns + random.nextInt(2)};
            long outputPitch = columns + 5L;
            MemorySegment[] inputs = new MemorySegment[3];
            for (int i = 0; i < 3; i++) {
                inputs[i] = Arena.ofAuto().allocate(pitches[i] * rows * 4);
                RandomData.fill(inputs[i], ElementType.FP32, seed, i);
            }
            float[] scales = {0.5f, 1.7f, -3f};
            MemorySegment output = Arena.ofAuto().allocate(outputPitch * rows * type.bytes());
            output.fill((byte) 0x22);
            new Reduction(POOL, lanes)
                    .reduce(
                            ReduceOp.scaledSum(1f),
                            scales,
                            ElementType.FP32,
                            inputs,
                            pitches,
                            type,
                            output,
                            outputPitch,
                            rows,
                            columns);
            for (int row = 0; row < rows; row++) {
                for (int column = 0; column < outputPitch; column++) {
                    int expected = 0x22222222 >>> (32 - 8 * type.bytes());
                    if (column < columns) {
                        float[] x = new float[3];
                        for (int i = 0; i < 3; i++) {
                            x[i] = inputs[i].get(ValueLayout.JAVA_FLOAT, (row * pitches[i] + column) * 4);
                        }
                        float sum = scales[0] * x[0];
                        sum += scales[1] * x[1];
                        sum += scales[2] * x[2];
                        expected = Naive.encode(type, sum);
                    }
                    assertEquals(expected, Elements.bits(output, (row * outputPitch + column) * type.bytes(), type));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void nanWinsInMinAndMaxAndZerosAreOrdered(Lanes lanes) {
        float[] left = {Float.NaN, 1f, -0f, 0f, Float.NEGATIVE_INFINITY};
        float[] right = {1f, Float.NaN, 0f, -0f, 3f};
        float[] smaller = {Float.NaN, Float.NaN, -0f, -0f, Float.NEGATIVE_INFINITY};
        float[] larger = {Float.NaN, Float.NaN, 0f, 0f, 3f};
        // Repeated, so that both the vector part and its tail see each pair.
        int count = 5 * 13;
        MemorySegment[] inputs = {
            Arena.ofAuto().allocate(4L * count), Arena.ofAuto().allocate(4L * count)
        };
        for (int i = 0; i < count; i++) {
            inputs[0].setAtIndex(ValueLayout.JAVA_FLOAT, i, left[i % 5]);
            inputs[1].setAtIndex(ValueLayout.JAVA_FLOAT, i, right[i % 5]);
        }
        MemorySegment output = Arena.ofAuto().allocate(4L * count);
        for (ReduceOp op : new ReduceOp[] {ReduceOp.MIN, ReduceOp.MAX}) {
            new Reduction(POOL, lanes).reduce(op, ElementType.FP32, inputs, output, count);
            for (int i = 0; i < count; i++) {
                float expected = (op.kind() == ReduceOp.Kind.MIN ? smaller : larger)[i % 5];
                assertEquals(
                        Float.floatToRawIntBits(expected), output.getAtIndex(ValueLayout.JAVA_INT, i), op + " " + i);
            }
        }
    }

    @Test
    void theReferenceAgreesWithinItsSlack() {
        for (ElementType type : ElementType.values()) {
            for (ReduceOp op : OPS) {
                int count = 5000;
                MemorySegment[] inputs = inputs(type, 6, count);
                MemorySegment output = Arena.ofAuto().allocate((long) count * type.bytes());
                new Reduction(POOL).reduce(op, type, inputs, output, count);
                var expected = Reference.reduce(
                        op,
                        Arrays.stream(inputs)
                                .map(input -> HostMatrix.rowMajor(input, type, 50, 100))
                                .toList(),
                        null);
                var comparison = expected.compare(HostMatrix.rowMajor(output, type, 50, 100), 0);
                assertTrue(comparison.right(), () -> type + " " + op + ": " + comparison);
            }
        }
    }

    @Test
    void whatDoesNotFitIsRefused() {
        Reduction reduction = new Reduction(POOL);
        MemorySegment[] inputs = inputs(ElementType.INT32, 2, 10);
        MemorySegment output = inputs[0];
        assertThrows(
                IllegalArgumentException.class,
                () -> reduction.reduce(ReduceOp.SUM, ElementType.INT32, new MemorySegment[0], output, 10));
        assertThrows(
                IllegalArgumentException.class,
                () -> reduction.reduce(ReduceOp.scaledSum(0.5f), ElementType.INT32, inputs, output, 10));
        assertThrows(
                IllegalArgumentException.class,
                () -> reduction.reduce(
                        ReduceOp.SUM, null, ElementType.FP16, inputs, null, ElementType.BF16, output, 1, 1, 1));
    }

    private static MemorySegment[] inputs(ElementType type, int n, int count) {
        MemorySegment[] inputs = new MemorySegment[n];
        for (int i = 0; i < n; i++) {
            inputs[i] = Arena.ofAuto().allocate((long) count * type.bytes());
            RandomData.fill(inputs[i], type, 31, i);
            if (type == ElementType.INT8 || type == ElementType.INT32) {
                // Large ones too, so that sums and products wrap.
                for (int j = i; j < count; j += 5) {
                    Elements.put(inputs[i], (long) j * type.bytes(), type, 0x7F7F7F7F - j);
                }
            }
        }
        return inputs;
    }

    private static void check(
            ReduceOp op,
            float[] scales,
            ElementType type,
            MemorySegment[] inputs,
            ElementType outputType,
            MemorySegment output,
            int count) {
        byte[] expected = new byte[count * outputType.bytes()];
        MemorySegment target = MemorySegment.ofArray(expected);
        int[] x = new int[inputs.length];
        for (int j = 0; j < count; j++) {
            for (int i = 0; i < x.length; i++) {
                x[i] = Elements.bits(inputs[i], (long) j * type.bytes(), type);
            }
            Elements.put(
                    target, (long) j * outputType.bytes(), outputType, Naive.reduce(op, scales, type, x, outputType));
        }
        assertArrayEquals(
                expected, output.toArray(ValueLayout.JAVA_BYTE), () -> op + " of " + inputs.length + " " + type);
    }
}
