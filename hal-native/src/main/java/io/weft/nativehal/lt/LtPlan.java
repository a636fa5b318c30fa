// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.lt;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.MatrixLayout;
import io.weft.api.graph.Command;
import io.weft.nativehal.driver.GemmPlan;
import io.weft.nativehal.driver.GemmShape;
import io.weft.nativehal.driver.IssuePlace;
import io.weft.spi.GemmTuningDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * How one shape of product is carried out by such a library: descriptions, factors, and the kernel that was chosen among those which the library offers. Made once for each shape; issuing by it
 * writes nothing. Safe for any thread.
 *
 * <p>The library's matrices are column-major. A row-major [R, C] matrix is a column-major [C, R] one at the same address, so for a row-major result the transposed product is asked for:
 * {@code C^T = op(B)^T * op(A)^T}, with B as the first operand. For a column-major result the operands keep their places.
 */
final class LtPlan implements GemmPlan {
    /** Kernels that are asked for; the library rarely has more for one shape. */
    static final int WANTED = 32;

    private final LtLibrary library;
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
    LtPlan(LtLibrary library, long handle, GemmShape shape, long workspaceLimit) {
        this.library = library;
        this.handle = handle;
        this.swapped = shape.layoutC() == MatrixLayout.ROW_MAJOR;
        this.arena = Arena.ofAuto(); // lives as long as the plan
        boolean integer = shape.operandType() == ElementType.INT8;
        int operand = library.code(shape.operandType());
        int result = library.code(shape.resultType());
        if (operand < 0 || result < 0) {
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
        description = library.createDescription(integer, first, second);
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
        MemorySegment results = arena.allocate(library.resultBytes() * WANTED, 16);
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
            MemorySegment one = results.asSlice(i * library.resultBytes(), library.resultBytes());
            if (library.isUsable(one) && library.workspaceBytes(one) <= workspaceLimit) {
                usable.add(one);
            }
        }
        kernels = List.copyOf(usable);
        chosen = kernels.isEmpty() ? null : kernels.getFirst();
    }

    @Override
    public boolean isNative() {
        return chosen != null;
    }

    @Override
    public List<GemmTuningDriver.Kernel> kernels() {
        return kernels.stream()
                .map(kernel ->
                        new GemmTuningDriver.Kernel(id(kernel), library.waves(kernel), library.workspaceBytes(kernel)))
                .toList();
    }

    /** The bytes of a kernel's description, by which the same version of the library knows it again. */
    private String id(MemorySegment kernel) {
        return HexFormat.of()
                .formatHex(kernel.asSlice(0, library.algorithmBytes()).toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public boolean choose(String id) {
        Optional<MemorySegment> kernel =
                kernels.stream().filter(one -> id(one).equals(id)).findFirst();
        kernel.ifPresent(one -> chosen = one);
        return kernel.isPresent();
    }

    @Override
    public void chooseDefault() {
        chosen = kernels.isEmpty() ? null : kernels.getFirst();
    }

    @Override
    public Optional<String> chosen() {
        return Optional.ofNullable(chosen).map(this::id);
    }

    @Override
    public long workspaceBytes() {
        MemorySegment kernel = chosen;
        return kernel == null ? 0 : library.workspaceBytes(kernel);
    }

    @Override
    public void issue(Command.Gemm gemm, IssuePlace place) {
        MemorySegment kernel = chosen;
        BufferView first = swapped ? gemm.b() : gemm.a();
        BufferView second = swapped ? gemm.a() : gemm.b();
        long workspaceBytes = library.workspaceBytes(kernel);
        library.multiply(
                handle,
                description,
                alpha,
                address(first),
                layoutFirst,
                address(second),
                layoutSecond,
                beta,
                address(gemm.c()),
                layoutResult,
                kernel.address(),
                place.workspace(workspaceBytes),
                workspaceBytes,
                place.handle());
    }

    private static long address(BufferView view) {
        return ((Buffer) view.memory()).address() + view.offset();
    }

    @Override
    public void close() {
        if (description != 0) {
            library.destroyLayout(layoutResult);
            library.destroyLayout(layoutSecond);
            library.destroyLayout(layoutFirst);
            library.destroyDescription(description);
        }
    }
}
