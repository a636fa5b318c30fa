// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.weft.api.ElementType;
import io.weft.api.numeric.Elements;
import io.weft.api.numeric.HostMatrix;
import io.weft.api.numeric.RandomData;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** GEMM against its contract, evaluated element by element with {@link Math#fma}. */
class GemmTest {
    private static final ComputePool POOL = new ComputePool(3);
    private static final List<ElementType> FLOATS =
            Stream.of(ElementType.values()).filter(ElementType::isFloating).toList();

    @AfterAll
    static void closePool() {
        POOL.close();
    }

    static Stream<Lanes> lanes() {
        return TestLanes.all();
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void anyShapeTypeLayoutTransposeAndBatchGivesTheBitsOfTheContract(Lanes lanes) {
        Gemm gemm = new Gemm(POOL, lanes);
        for (long seed = 1; seed <= 80; seed++) {
            new Case(seed, 40, 90, 300).check(gemm);
        }
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void shapesBeyondOneBlockGiveTheBitsOfTheContract(Lanes lanes) {
        Gemm gemm = new Gemm(POOL, lanes);
        for (long seed = 1001; seed <= 1002; seed++) {
            new Case(seed, 400, 500, 700).check(gemm);
        }
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void moreRowsColumnsAndDepthThanOnePassHoldsGiveTheBitsOfTheContract(Lanes lanes) {
        int[][] shapes = {{1700, 3, 40}, {3, 1700, 40}, {1601, 1601, 9}, {2, 3, 100_000}, {1600, 20, 3000}};
        for (int[] shape : shapes) {
            HostMatrix a = random(ElementType.FP32, shape[0], shape[2], 1);
            HostMatrix b = random(ElementType.BF16, shape[2], shape[1], 2);
            HostMatrix c = random(ElementType.FP32, shape[0], shape[1], 3);
            // Whole rows and columns would take the naive loop too long: check a few of each, the last ones included.
            new Gemm(POOL, lanes).multiply(1f, a, b, 0f, c);
            Random pick = new Random(7);
            for (int i = 0; i < 200; i++) {
                int row = i == 0 ? shape[0] - 1 : pick.nextInt(shape[0]);
                int column = i == 0 ? shape[1] - 1 : pick.nextInt(shape[1]);
                assertEquals(
                        Naive.gemmElement(1f, a, b, 0f, c, 0, row, column),
                        c.bits(0, row, column),
                        () -> Arrays.toString(shape) + " row " + row + " column " + column);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void rowChunksAndColumnChunksGiveTheBitsOfTheWhole(Lanes lanes) {
        Gemm gemm = new Gemm(POOL, lanes);
        int m = 150;
        int n = 131;
        int k = 333;
        HostMatrix a = random(ElementType.BF16, m, k, 1);
        HostMatrix b = random(ElementType.BF16, k, n, 2);
        HostMatrix whole = random(ElementType.BF16, m, n, 3);
        gemm.multiply(1f, a, b, 0f, whole);
        HostMatrix rows = random(ElementType.BF16, m, n, 4);
        for (int row = 0; row < m; row += 37) {
            int count = Math.min(37, m - row);
            gemm.multiply(1f, part(a, row, count, 0, k), b, 0f, part(rows, row, count, 0, n));
        }
        assertArrayEquals(bytes(whole), bytes(rows));
        HostMatrix columns = random(ElementType.BF16, m, n, 5);
        for (int column = 0; column < n; column += 10) {
            int count = Math.min(10, n - column);
            gemm.multiply(1f, a, part(b, 0, k, column, count), 0f, part(columns, 0, m, column, count));
        }
        assertArrayEquals(bytes(whole), bytes(columns));
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void betaZeroDoesNotReadTheOldResult(Lanes lanes) {
        for (ElementType type : FLOATS) {
            HostMatrix a = random(type, 5, 7, 1);
            HostMatrix b = random(type, 7, 9, 2);
            HostMatrix c = random(type, 5, 9, 3);
            byte[] expected = Naive.gemm(1f, a, b, 0f, c);
            fill(c, type.encode(Float.NaN));
            new Gemm(POOL, lanes).multiply(1f, a, b, 0f, c);
            assertArrayEquals(expected, bytes(c), type.label());
        }
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void nanAndInfinitySpoilTheirRowAndColumnOnlyAndNanIsCanonical(Lanes lanes) {
        HostMatrix a = random(ElementType.FP32, 20, 30, 1);
        HostMatrix b = random(ElementType.FP32, 30, 40, 2);
        Elements.put(a.memory(), a.address(0, 3, 4), ElementType.FP32, 0xFFC12345);
        Elements.put(b.memory(), b.address(0, 5, 6), ElementType.FP32, Float.floatToIntBits(Float.NEGATIVE_INFINITY));
        for (ElementType type : FLOATS) {
            HostMatrix c = random(type, 20, 40, 3);
            byte[] expected = Naive.gemm(1f, a, b, 0f, c);
            new Gemm(POOL, lanes).multiply(1f, a, b, 0f, c);
            assertArrayEquals(expected, bytes(c), type.label());
            assertEquals(type.encode(Float.NaN), c.bits(0, 3, 0), type.label());
            assertEquals(
                    type.encode(a.value(0, 0, 5) > 0 ? Float.NEGATIVE_INFINITY : Float.POSITIVE_INFINITY),
                    c.bits(0, 0, 6),
                    type.label());
        }
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void int8ProductsAreExactAtTheirLargestAndWrapBeyondInt32(Lanes lanes) {
        int k = 140_000; // 140,000 * 2^14 is above 2^31
        HostMatrix a = dense(ElementType.INT8, 1, k);
        HostMatrix b = dense(ElementType.INT8, k, 2);
        fill(a, 0x80);
        fill(b, 0x80);
        HostMatrix c = dense(ElementType.INT32, 1, 2);
        new Gemm(POOL, lanes).multiply(1f, a, b, 0f, c);
        assertEquals(k * 16384, c.bits(0, 0, 0));
        new Gemm(POOL, lanes).multiply(-2f, a, b, 3f, c);
        assertEquals(k * 16384, c.bits(0, 0, 1));
    }

    @ParameterizedTest
    @MethodSource("lanes")
    void noDepthLeavesBetaTimesTheOldResult(Lanes lanes) {
        HostMatrix a = dense(ElementType.FP32, 3, 0);
        HostMatrix b = dense(ElementType.FP32, 0, 4);
        HostMatrix c = random(ElementType.FP32, 3, 4, 1);
        byte[] expected = Naive.gemm(1f, a, b, 0.5f, c);
        new Gemm(POOL, lanes).multiply(1f, a, b, 0.5f, c);
        assertArrayEquals(expected, bytes(c));
        new Gemm(POOL, lanes).multiply(1f, a, b, 0f, c);
        assertArrayEquals(new byte[48], bytes(c));
    }

    @Test
    void theNumberOfThreadsDoesNotShow() {
        HostMatrix a = random(ElementType.FP16, 300, 200, 1);
        HostMatrix b = random(ElementType.FP16, 200, 310, 2);
        byte[] first = null;
        for (int threads : new int[] {1, 2, 5}) {
            HostMatrix c = random(ElementType.FP16, 300, 310, threads);
            try (ComputePool pool = new ComputePool(threads)) {
                new Gemm(pool).multiply(0.5f, a, b, 0f, c);
            }
            if (first == null) {
                first = bytes(c);
            }
            assertArrayEquals(first, bytes(c));
        }
    }

    @Test
    void whatDoesNotFitIsRefusedWithTheShapesAndTypes() {
        Gemm gemm = new Gemm(POOL);
        HostMatrix a = dense(ElementType.FP32, 3, 4);
        HostMatrix b = dense(ElementType.FP32, 5, 6);
        String message = assertThrows(
                        IllegalArgumentException.class,
                        () -> gemm.multiply(1f, a, b, 0f, dense(ElementType.FP32, 3, 6)))
                .getMessage();
        assertEquals("gemm of [3, 4] by [5, 6] into [3, 6]: these do not fit", message);
        HostMatrix square = dense(ElementType.FP32, 4, 4);
        assertThrows(
                IllegalArgumentException.class,
                () -> gemm.multiply(1f, square, square, 0f, dense(ElementType.INT32, 4, 4)));
        HostMatrix int8 = dense(ElementType.INT8, 4, 4);
        assertThrows(IllegalArgumentException.class, () -> gemm.multiply(1f, int8, square, 0f, square));
        assertThrows(
                IllegalArgumentException.class,
                () -> gemm.multiply(0.5f, int8, int8, 0f, dense(ElementType.INT32, 4, 4)));
    }

    /** One random problem; everything about it follows from the seed. */
    private static final class Case {
        private final long seed;
        private final Random random;
        private final HostMatrix a;
        private final HostMatrix b;
        private final HostMatrix c;
        private final float alpha;
        private final float beta;

        Case(long seed, int rows, int columns, int depth) {
            this.seed = seed;
            random = new Random(seed);
            int m = 1 + random.nextInt(rows);
            int n = 1 + random.nextInt(columns);
            int k = random.nextInt(depth);
            int batch = random.nextInt(4) == 0 ? 1 + random.nextInt(5) : 1;
            boolean integer = random.nextInt(5) == 0;
            ElementType typeA = integer ? ElementType.INT8 : anyFloat();
            ElementType typeB = integer ? ElementType.INT8 : random.nextBoolean() ? typeA : anyFloat();
            ElementType typeC = integer && random.nextBoolean() ? ElementType.INT32 : anyFloat();
            a = matrix(typeA, batch, m, k, 1);
            b = matrix(typeB, batch, k, n, 2);
            c = matrix(typeC, batch, m, n, 3);
            alpha = random.nextBoolean() ? 1 : integer ? random.nextInt(5) - 2 : random.nextFloat();
            beta = random.nextBoolean() ? 0 : integer ? random.nextInt(5) - 2 : random.nextFloat();
        }

        private ElementType anyFloat() {
            return FLOATS.get(random.nextInt(FLOATS.size()));
        }

        private HostMatrix matrix(ElementType type, int batch, int rows, int columns, int stream) {
            boolean byColumns = random.nextBoolean();
            int minor = byColumns ? rows : columns;
            long leading = (long) minor + (random.nextBoolean() ? 0 : random.nextInt(9));
            long stride = leading * (byColumns ? columns : rows) + random.nextInt(5);
            long offset = random.nextInt(5); // also unaligned
            MemorySegment memory = Arena.ofAuto().allocate(offset + Math.max(1, stride * batch * type.bytes()), 64);
            RandomData.fill(memory, offset, type, seed, stream, 0, (memory.byteSize() - offset) / type.bytes());
            return (byColumns
                            ? HostMatrix.columnMajor(memory, offset, type, rows, columns, leading)
                            : HostMatrix.rowMajor(memory, offset, type, rows, columns, leading))
                    .batched(batch, stride);
        }

        void check(Gemm gemm) {
            byte[] expected = Naive.gemm(alpha, a, b, beta, c);
            gemm.multiply(alpha, a, b, beta, c);
            assertArrayEquals(
                    expected,
                    bytes(c),
                    () -> "seed " + seed + ", alpha " + alpha + ", beta " + beta + ", A " + a + ", B " + b + ", C "
                            + c);
        }
    }

    private static HostMatrix dense(ElementType type, int rows, int columns) {
        return HostMatrix.rowMajor(
                Arena.ofAuto().allocate((long) rows * columns * type.bytes(), 64), type, rows, columns);
    }

    private static HostMatrix random(ElementType type, int rows, int columns, int stream) {
        HostMatrix matrix = dense(type, rows, columns);
        RandomData.fill(matrix.memory(), type, 42, stream);
        return matrix;
    }

    private static HostMatrix part(HostMatrix matrix, int row, int rows, int column, int columns) {
        return HostMatrix.rowMajor(
                matrix.memory(), matrix.address(0, row, column), matrix.type(), rows, columns, matrix.rowStride());
    }

    private static void fill(HostMatrix matrix, int bits) {
        for (int i = 0; i < matrix.rows(); i++) {
            for (int j = 0; j < matrix.columns(); j++) {
                Elements.put(matrix.memory(), matrix.address(0, i, j), matrix.type(), bits);
            }
        }
    }

    private static byte[] bytes(HostMatrix matrix) {
        return matrix.memory().toArray(ValueLayout.JAVA_BYTE);
    }
}
