// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.sim;

import io.weft.api.ElementType;
import io.weft.api.numeric.HostMatrix;
import io.weft.api.numeric.RandomData;
import io.weft.sim.compute.ComputePool;
import io.weft.sim.compute.Gemm;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Locale;

/**
 * The host GEMM beside OpenBLAS ({@code libopenblas.so.0}), fp32, square, on all cores, in one run: both alternate on the same matrices, and medians count. Without OpenBLAS it says so
 * and times ours alone.
 */
public final class GemmComparison {
    private static final int REPETITIONS = 31;
    private static final int ROW_MAJOR = 101;
    private static final int NO_TRANSPOSE = 111;

    private GemmComparison() {}

    /**
     * Prints one line for each size.
     *
     * @param arguments sizes; 512 and 1024 when none are given
     */
    @SuppressWarnings("SystemOut") // a harness talks to whoever runs it
    public static void main(String[] arguments) throws Throwable {
        int[] sizes = arguments.length == 0
                ? new int[] {512, 1024}
                : Arrays.stream(arguments).mapToInt(Integer::parseInt).toArray();
        MethodHandle sgemm = openBlas();
        if (sgemm == null) {
            System.out.println("libopenblas.so.0 is not here: no comparison");
        }
        Gemm ours = new Gemm(ComputePool.shared());
        for (int n : sizes) {
            try (Arena arena = Arena.ofShared()) {
                MemorySegment a = random(arena, n, 1);
                MemorySegment b = random(arena, n, 2);
                MemorySegment c = arena.allocate(4L * n * n, 64);
                HostMatrix left = HostMatrix.rowMajor(a, ElementType.FP32, n, n);
                HostMatrix right = HostMatrix.rowMajor(b, ElementType.FP32, n, n);
                HostMatrix result = HostMatrix.rowMajor(c, ElementType.FP32, n, n);
                double[] mine = new double[REPETITIONS];
                double[] theirs = new double[REPETITIONS];
                for (int i = -REPETITIONS; i < REPETITIONS; i++) { // the negative half warms up
                    long start = System.nanoTime();
                    ours.multiply(1, left, right, 0, result);
                    long middle = System.nanoTime();
                    if (sgemm != null) {
                        sgemm.invoke(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, 1f, a, n, b, n, 0f, c, n);
                    }
                    long end = System.nanoTime();
                    if (i >= 0) {
                        mine[i] = middle - start;
                        theirs[i] = end - middle;
                    }
                }
                Arrays.sort(mine);
                Arrays.sort(theirs);
                double flops = 2.0 * n * n * n;
                double own = flops / mine[REPETITIONS / 2];
                double other = flops / theirs[REPETITIONS / 2];
                System.out.println(
                        sgemm == null
                                ? String.format(Locale.ROOT, "%d^3: %.1f GFLOP/s", n, own)
                                : String.format(
                                        Locale.ROOT,
                                        "%d^3: %.1f GFLOP/s, OpenBLAS %.1f: ratio %.2f",
                                        n,
                                        own,
                                        other,
                                        own / other));
            }
        }
    }

    private static MemorySegment random(Arena arena, int n, long stream) {
        MemorySegment memory = arena.allocate(4L * n * n, 64);
        RandomData.fill(memory, ElementType.FP32, 1, stream);
        return memory;
    }

    @SuppressWarnings("restricted")
    private static MethodHandle openBlas() {
        try {
            SymbolLookup library = SymbolLookup.libraryLookup("libopenblas.so.0", Arena.global());
            ValueLayout.OfInt integer = ValueLayout.JAVA_INT;
            ValueLayout.OfFloat real = ValueLayout.JAVA_FLOAT;
            FunctionDescriptor signature = FunctionDescriptor.ofVoid(
                    integer,
                    integer,
                    integer,
                    integer,
                    integer,
                    integer,
                    real,
                    ValueLayout.ADDRESS,
                    integer,
                    ValueLayout.ADDRESS,
                    integer,
                    real,
                    ValueLayout.ADDRESS,
                    integer);
            return Linker.nativeLinker()
                    .downcallHandle(library.find("cblas_sgemm").orElseThrow(), signature);
        } catch (IllegalArgumentException absent) {
            return null;
        }
    }
}
