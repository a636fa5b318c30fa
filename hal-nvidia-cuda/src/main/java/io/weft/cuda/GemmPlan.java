// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.MatrixLayout;
import io.weft.api.graph.Command;
import io.weft.cuda.ffi.CublasLt;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * How one shape of product is carried out by cuBLASLt: descriptions, factors, and the kernel that was chosen among those which the library offers. Made once for each shape; issuing by it
 * writes nothing. Safe for any thread.
 *
 * <p>The library's matrices are column-major. A row-major [R, C] matrix is a column-major [C, R] one at the same address, so for a row-major result the transposed product is asked for:
 * {@code C^T = op(B)^T * op(A)^T}, with B as the first operand. For a column-major result the operands keep their places.
 */
final class GemmPlan {
    /** Kernels that are asked for; the library rarely has more for one shape. */
    static final int WANTED = 32;

    private static final int COMPUTE_FP32 = 68; // CUBLAS_COMPUTE_32F: no TF32, no 16-bit sums
    private static final int COMPUTE_INT32 = 72; // CUBLAS_COMPUTE_32I
    private static final int REAL_FP32 = 0; // CUDA_R_32F
    private static final int REAL_INT32 = 10; // CUDA_R_32I

    private final CublasLt library;
    private final long handle;
    private final boolean swapped;
    private final long description;
    private final long layoutFirst;
    private final long layoutSecond;
    private final long layoutResult;
    private final Arena arena;
    private final long alpha;
    private final long beta;
    private final List<MemorySegment> kernels;
    private volatile MemorySegment chosen;

    /** A plan; {@link #isNative()} says whether the library can do it at all. */
    GemmPlan(CublasLt library, long handle, GemmShape shape, long workspaceLimit) {
        this.library = library;
        this.handle = handle;
        this.swapped = shape.layoutC() == MatrixLayout.ROW_MAJOR;
        this.arena = Arena.ofAuto(); // lives as long as the plan
        boolean integer = shape.operandType() == ElementType.INT8;
        int operand = Types.cuda(shape.operandType());
        int result = Types.cuda(shape.resultType());
        if (library == null || operand < 0 || result < 0) {
            description = 0;
            layoutFirst = 0;
            layoutSecond = 0;
            layoutResult = 0;
            alpha = 0;
            beta = 0;
            kernels = List.of();
            return;
        }
        MemorySegment factors = arena.allocate(16, 8);
        if (integer) {
            factors.set(ValueLayout.JAVA_INT, 0, (int) shape.alpha());
            factors.set(ValueLayout.JAVA_INT, 8, (int) shape.beta());
        } else {
            factors.set(ValueLayout.JAVA_FLOAT, 0, shape.alpha());
            factors.set(ValueLayout.JAVA_FLOAT, 8, shape.beta());
        }
        alpha = factors.address();
        beta = factors.address() + 8;
        boolean a = shape.transposeA() ^ (shape.layoutA() == MatrixLayout.COLUMN_MAJOR);
        boolean b = shape.transposeB() ^ (shape.layoutB() == MatrixLayout.COLUMN_MAJOR);
        // Whether the library must transpose what lies in memory as a column-major matrix.
        boolean first = swapped ? b : !a;
        boolean second = swapped ? a : !b;
        description = library.createDescription(
                integer ? COMPUTE_INT32 : COMPUTE_FP32, integer ? REAL_INT32 : REAL_FP32, first, second);
        long m = swapped ? shape.n() : shape.m();
        long n = swapped ? shape.m() : shape.n();
        long k = shape.k();
        long pitchFirst = swapped ? shape.pitchB() : shape.pitchA();
        long pitchSecond = swapped ? shape.pitchA() : shape.pitchB();
        long strideFirst = swapped ? shape.strideB() : shape.strideA();
        long strideSecond = swapped ? shape.strideA() : shape.strideB();
        int batch = shape.batch();
        layoutFirst = library.createLayout(operand, first ? k : m, first ? m : k, pitchFirst, batch, strideFirst);
        layoutSecond = library.createLayout(operand, second ? n : k, second ? k : n, pitchSecond, batch, strideSecond);
        layoutResult = library.createLayout(result, m, n, shape.pitchC(), batch, shape.strideC());
        MemorySegment results = arena.allocate(CublasLt.RESULT_BYTES * WANTED, 16);
        int[] alignments = {
            swapped ? shape.alignmentB() : shape.alignmentA(),
            swapped ? shape.alignmentA() : shape.alignmentB(),
            shape.alignmentC(),
            shape.alignmentC()
        };
        int found = library.heuristics(
                handle,
                description,
                layoutFirst,
                layoutSecond,
                layoutResult,
                layoutResult,
                workspaceLimit,
                alignments,
                results,
                WANTED);
        List<MemorySegment> usable = new ArrayList<>();
        for (int i = 0; i < found; i++) {
            MemorySegment one = results.asSlice(i * CublasLt.RESULT_BYTES, CublasLt.RESULT_BYTES);
            if (CublasLt.isUsable(one) && CublasLt.workspaceBytes(one) <= workspaceLimit) {
                usable.add(one);
            }
        }
        kernels = List.copyOf(usable);
        chosen = kernels.isEmpty() ? null : kernels.getFirst();
    }

    /** Whether the library carries it out; otherwise our own slow kernel does. */
    boolean isNative() {
        return chosen != null;
    }

    /** Kernels that the library offers, its own favourite first. */
    List<MemorySegment> kernels() {
        return kernels;
    }

    /** The bytes of a kernel's description, by which the same version of the library knows it again. */
    static String id(MemorySegment kernel) {
        return HexFormat.of()
                .formatHex(kernel.asSlice(0, CublasLt.ALGORITHM_BYTES).toArray(ValueLayout.JAVA_BYTE));
    }

    /** Uses a kernel from now on. Whether the library offers it. */
    boolean choose(String id) {
        Optional<MemorySegment> kernel =
                kernels.stream().filter(one -> id(one).equals(id)).findFirst();
        kernel.ifPresent(one -> chosen = one);
        return kernel.isPresent();
    }

    /** Goes back to the library's favourite. */
    void chooseDefault() {
        chosen = kernels.isEmpty() ? null : kernels.getFirst();
    }

    /** The kernel in use, or null. */
    MemorySegment chosen() {
        return chosen;
    }

    void issue(Command.Gemm gemm, IssuePlace place) {
        MemorySegment kernel = chosen;
        BufferView first = swapped ? gemm.b() : gemm.a();
        BufferView second = swapped ? gemm.a() : gemm.b();
        long workspaceBytes = CublasLt.workspaceBytes(kernel);
        library.multiply(
                handle,
                description,
                alpha,
                Kernels.address(first),
                layoutFirst,
                Kernels.address(second),
                layoutSecond,
                beta,
                Kernels.address(gemm.c()),
                layoutResult,
                kernel.address(),
                place.workspace(workspaceBytes),
                workspaceBytes,
                place.handle());
    }

    void close() {
        if (description != 0) {
            library.destroyLayout(layoutResult);
            library.destroyLayout(layoutSecond);
            library.destroyLayout(layoutFirst);
            library.destroyDescription(description);
        }
    }
}
