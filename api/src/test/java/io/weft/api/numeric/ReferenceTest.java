// SPDX-License-Identifier: Apache-2.0
package io.weft.api.numeric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReferenceTest {
    @Test
    void aProductLargerThanOneBlockIsTheSumOfItsTerms() {
        HostMatrix a = random(ElementType.BF16, 70, 300, 1);
        HostMatrix b = random(ElementType.FP8_E4M3, 300, 270, 2);
        HostMatrix c = random(ElementType.FP32, 70, 270, 3);
        Expected expected = Reference.gemm(0.5, a, b, 2, c);
        for (int i = 0; i < 70; i += 23) {
            for (int j = 0; j < 270; j += 89) {
                double sum = 0;
                for (int k = 0; k < 300; k++) {
                    sum += a.value(0, i, k) * b.value(0, k, j);
                }
                assertEquals(0.5 * sum + 2 * c.value(0, i, j), expected.value(0, i, j), 1e-12);
            }
        }
    }

    @Test
    void transposesAndBatchesAreStrides() {
        HostMatrix a = random(ElementType.FP32, 5 * 4, 7, 1);
        HostMatrix batched =
                HostMatrix.rowMajor(a.memory(), 0, a.type(), 4, 7, 7).batched(5, 28);
        HostMatrix b = random(ElementType.FP32, 3, 7, 2).batched(5, 0).transposed();
        HostMatrix c = random(ElementType.FP32, 4, 3, 3).batched(5, 0);
        Expected expected = Reference.gemm(1, batched, b, 0, c);
        double sum = 0;
        for (int k = 0; k < 7; k++) {
            sum += a.value(0, 3 * 4 + 2, k) * b.value(0, k, 1);
        }
        assertEquals(sum, expected.value(3, 2, 1), 1e-14);
    }

    @Test
    void aWrongElementIsFoundWithItsPlaceAndValues() {
        HostMatrix a = random(ElementType.FP16, 6, 8, 1);
        HostMatrix b = random(ElementType.FP16, 8, 9, 2);
        HostMatrix c = zeros(ElementType.FP16, 6, 9);
        Expected expected = Reference.gemm(1, a, b, 0, c);
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 9; j++) {
                int right = Elements.nearest(ElementType.FP16, expected.value(0, i, j));
                Elements.put(c.memory(), c.address(0, i, j), ElementType.FP16, right);
            }
        }
        assertTrue(expected.compare(c, 0).right());
        double wrong = expected.value(0, 4, 2) + 0.25;
        Elements.put(c.memory(), c.address(0, 4, 2), ElementType.FP16, ElementType.FP16.encode((float) wrong));
        Comparison comparison = expected.compare(c, 2);
        assertFalse(comparison.right());
        assertEquals(1, comparison.wrong());
        assertEquals(54, comparison.elements());
        assertEquals(4, comparison.first().row());
        assertEquals(2, comparison.first().column());
        assertEquals(expected.value(0, 4, 2), comparison.first().expected());
        assertEquals(comparison.maxUlp(), comparison.first().ulps());
    }

    @Test
    void aNanWhereANumberIsExpectedIsWrong() {
        HostMatrix a = random(ElementType.BF16, 2, 2, 1);
        HostMatrix c = zeros(ElementType.BF16, 2, 2);
        Expected expected = Reference.gemm(1, a, a, 0, c);
        Poison.fill(c.memory(), 0, ElementType.BF16, 4);
        Comparison comparison = expected.compare(c, 1000);
        assertEquals(4, comparison.wrong());
        assertEquals(Ulp.INCOMPARABLE, comparison.maxUlp());
    }

    @Test
    void anotherOrderOfFp32SummationIsRightAndAMissingTermIsNot() {
        int k = 500;
        HostMatrix a = random(ElementType.FP32, 40, k, 1);
        HostMatrix b = random(ElementType.FP32, k, 40, 2);
        HostMatrix c = zeros(ElementType.FP32, 40, 40);
        Expected expected = Reference.gemm(1, a, b, 0, c);
        for (int skipped = 0; skipped < 2; skipped++) {
            for (int i = 0; i < 40; i++) {
                for (int j = 0; j < 40; j++) {
                    float sum = 0;
                    for (int p = k - 1; p >= skipped; p--) {
                        sum += (float) a.value(0, i, p) * (float) b.value(0, p, j);
                    }
                    Elements.put(c.memory(), c.address(0, i, j), c.type(), Float.floatToIntBits(sum));
                }
            }
            Comparison comparison = expected.compare(c, 1);
            if (skipped == 0) {
                assertTrue(comparison.right(), comparison::toString);
            } else {
                assertTrue(comparison.wrong() > 1500, comparison::toString);
            }
        }
    }

    @Test
    void int8ProductsWrapInInt32() {
        int k = 140_000;
        HostMatrix a = zeros(ElementType.INT8, 1, k);
        a.memory().fill((byte) 0x80);
        Expected expected = Reference.gemm(1, a, a.transposed(), 0, zeros(ElementType.INT32, 1, 1));
        assertEquals(k * 16384, expected.value(0, 0, 0));
    }

    @Test
    void averagesMultiplyByTheRoundedReciprocalOnFloatsAndDivideOnIntegers() {
        HostMatrix x = zeros(ElementType.FP8_E4M3, 1, 1);
        x.memory().fill((byte) ElementType.FP8_E4M3.encode(1f));
        // 1/3 is 0.34375 in E4M3, so the average of three ones is 1.03125 before the last rounding.
        assertEquals(
                1.03125, Reference.reduce(ReduceOp.AVG, List.of(x, x, x), null).value(0, 0, 0));
        HostMatrix i = zeros(ElementType.INT8, 1, 1);
        i.memory().fill((byte) -50);
        // -150 wraps to 106 in int8, and 106 / 3 is 35.
        assertEquals(35, Reference.reduce(ReduceOp.AVG, List.of(i, i, i), null).value(0, 0, 0));
    }

    @Test
    void shapesThatDoNotFitAreRefused() {
        HostMatrix a = zeros(ElementType.FP32, 2, 3);
        assertThrows(IllegalArgumentException.class, () -> Reference.gemm(1, a, a, 0, a));
        assertThrows(
                IllegalArgumentException.class, () -> Reference.reduce(ReduceOp.SUM, List.of(a, a.transposed()), null));
        Expected expected = Reference.reduce(ReduceOp.SUM, List.of(a), null);
        assertThrows(IllegalArgumentException.class, () -> expected.compare(a.transposed(), 0));
    }

    @Test
    void aViewBeyondItsMemoryIsRefused() {
        MemorySegment memory = MemorySegment.ofArray(new byte[100]);
        assertEquals(
                5, HostMatrix.rowMajor(memory, 0, ElementType.FP32, 5, 5, 5).rows());
        assertThrows(IllegalArgumentException.class, () -> HostMatrix.rowMajor(memory, 1, ElementType.FP32, 5, 5, 5));
        assertThrows(IllegalArgumentException.class, () -> HostMatrix.rowMajor(memory, 0, ElementType.FP32, 5, 5, 4));
        assertThrows(
                IllegalArgumentException.class,
                () -> HostMatrix.rowMajor(memory, 0, ElementType.FP32, 2, 5, 5).batched(3, 9));
    }

    private static HostMatrix zeros(ElementType type, int rows, int columns) {
        return HostMatrix.rowMajor(MemorySegment.ofArray(new byte[rows * columns * type.bytes()]), type, rows, columns);
    }

    private static HostMatrix random(ElementType type, int rows, int columns, int stream) {
        HostMatrix matrix = zeros(type, rows, columns);
        RandomData.fill(matrix.memory(), type, 11, stream);
        return matrix;
    }
}
