// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.lt;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.nativehal.driver.GemmLibrary;
import io.weft.nativehal.driver.GemmPlan;
import io.weft.nativehal.driver.GemmShape;
import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.ffi.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A library of products in the style that vendors call "Lt": descriptions of a product and of its column-major matrices, a question for kernels, and a call with one of them. A kernel is an opaque structure of
 * {@link LtNumbers#algorithmBytes()} bytes; a result is that structure, then the workspace it needs (64 bits), whether it can be used (32 bits, 0 for yes) and the waves it makes (a float), then what the vendor keeps for itself. Functions
 * have the same names after a prefix, and the same arguments; a vendor gives its numbers, its types and its errors.
 */
public abstract class LtLibrary implements GemmLibrary {
    private static final int REAL_FP32 = 0;
    private static final int REAL_INT32 = 10;

    private final NativeLibrary library;
    private final LtNumbers numbers;
    private final MemorySegment create;
    private final MemorySegment destroy;
    private final MemorySegment getVersion;
    private final MemorySegment descCreate;
    private final MemorySegment descDestroy;
    private final MemorySegment descSet;
    private final MemorySegment layoutCreate;
    private final MemorySegment layoutDestroy;
    private final MemorySegment layoutSet;
    private final MemorySegment preferenceCreate;
    private final MemorySegment preferenceDestroy;
    private final MemorySegment preferenceSet;
    private final MemorySegment heuristic;
    private final MemorySegment matmul;

    /** Looks every function up and calls none. */
    protected LtLibrary(NativeLibrary library, LtNumbers numbers) {
        this.library = library;
        this.numbers = numbers;
        create = find("Create");
        destroy = find("Destroy");
        getVersion = find("GetVersion");
        descCreate = find("MatmulDescCreate");
        descDestroy = find("MatmulDescDestroy");
        descSet = find("MatmulDescSetAttribute");
        layoutCreate = find("MatrixLayoutCreate");
        layoutDestroy = find("MatrixLayoutDestroy");
        layoutSet = find("MatrixLayoutSetAttribute");
        preferenceCreate = find("MatmulPreferenceCreate");
        preferenceDestroy = find("MatmulPreferenceDestroy");
        preferenceSet = find("MatmulPreferenceSetAttribute");
        heuristic = find("MatmulAlgoGetHeuristic");
        matmul = find("Matmul");
    }

    private MemorySegment find(String function) {
        return library.find(numbers.prefix() + function);
    }

    // What a vendor says.

    /** The library's number of an element type; -1 for what it lacks. */
    public abstract int code(ElementType type);

    /** What one of its results means. */
    protected abstract AcceleratorException failure(String operation, int code);

    /** Says more of what is wanted than how much workspace there is; alignments are of the addresses of A, B, C and D. */
    protected void prefer(long preference, int[] alignments) {}

    /** Sets an attribute of a preference. */
    protected final void prefer(long preference, int attribute, int value) {
        Scratch out = Scratch.mine();
        out.integer(0, value);
        check("choose kernel", Native.call(preferenceSet, preference, attribute, out.address(), 4));
    }

    // What is the same for all.

    /** The library behind it. */
    public final NativeLibrary library() {
        return library;
    }

    /** The function that tells the version, whose form differs; null when there is none. */
    protected final MemorySegment versionFunction() {
        return getVersion;
    }

    /** Whether every function that a product needs is there. */
    public final boolean isComplete() {
        List<MemorySegment> needed = Arrays.asList(
                create,
                destroy,
                descCreate,
                descDestroy,
                descSet,
                layoutCreate,
                layoutDestroy,
                layoutSet,
                preferenceCreate,
                preferenceDestroy,
                preferenceSet,
                heuristic,
                matmul);
        return needed.stream().allMatch(Objects::nonNull);
    }

    private void check(String operation, int code) {
        if (code != 0) {
            throw failure(operation, code);
        }
    }

    /** Bytes of a kernel's description, by which the same version of the library knows it again. */
    final long algorithmBytes() {
        return numbers.algorithmBytes();
    }

    /** Bytes of one result. */
    final long resultBytes() {
        return numbers.resultBytes();
    }

    @Override
    public final long open() {
        Scratch out = Scratch.mine();
        check("open " + numbers.name(), Native.call(create, out.address()));
        return out.word(0);
    }

    @Override
    public final void close(long handle) {
        Native.call(destroy, handle);
    }

    /** What a product computes: in int32 with integer factors, or in fp32. */
    final long createDescription(boolean integer, boolean transposeA, boolean transposeB) {
        int computeType = integer ? numbers.computeInt32() : numbers.computeFp32();
        Scratch out = Scratch.mine();
        check(
                "describe product",
                Native.call(descCreate, out.address(), computeType, integer ? REAL_INT32 : REAL_FP32));
        long description = out.word(0);
        out.integer(0, transposeA ? numbers.transposed() : numbers.plain());
        check("describe product", Native.call(descSet, description, numbers.transposeA(), out.address(), 4));
        out.integer(0, transposeB ? numbers.transposed() : numbers.plain());
        check("describe product", Native.call(descSet, description, numbers.transposeB(), out.address(), 4));
        return description;
    }

    /** Releases a description. */
    final void destroyDescription(long description) {
        Native.call(descDestroy, description);
    }

    /** A column-major matrix; pitch and stride are elements. */
    final long createLayout(int type, long rows, long columns, long pitch, int batch, long stride) {
        Scratch out = Scratch.mine();
        check("describe matrix", Native.call(layoutCreate, out.address(), type, rows, columns, pitch));
        long layout = out.word(0);
        if (batch > 1) {
            out.integer(0, batch);
            check("describe matrix", Native.call(layoutSet, layout, numbers.batchCount(), out.address(), 4));
            out.word(0, stride);
            check("describe matrix", Native.call(layoutSet, layout, numbers.batchStride(), out.address(), 8));
        }
        return layout;
    }

    /** Releases a matrix description. */
    final void destroyLayout(long layout) {
        Native.call(layoutDestroy, layout);
    }

    /**
     * Asks for kernels, the best by the library's own estimate first.
     *
     * @param alignments bytes to which the addresses of A, B, C and D are aligned
     * @param results memory for {@code wanted} results
     * @return how many were found; 0 when the library cannot do it
     */
    final int heuristics(
            long handle,
            long description,
            long a,
            long b,
            long c,
            long d,
            long workspaceBytes,
            int[] alignments,
            MemorySegment results,
            int wanted) {
        Scratch out = Scratch.mine();
        check("choose kernel", Native.call(preferenceCreate, out.address()));
        long preference = out.word(0);
        try {
            out.word(0, workspaceBytes);
            check("choose kernel", Native.call(preferenceSet, preference, numbers.workspace(), out.address(), 8));
            prefer(preference, alignments);
            out.integer(0, 0);
            int code = Native.call(
                    heuristic, handle, description, a, b, c, d, preference, wanted, results.address(), out.address());
            if (numbers.refusals().contains(code)) {
                return 0;
            }
            check("choose kernel", code);
            return out.integer(0);
        } finally {
            Native.call(preferenceDestroy, preference);
        }
    }

    /** {@code C = alpha * op(A) * op(B) + beta * C}; alpha and beta are addresses of host numbers, read before the call returns. */
    final void multiply(
            long handle,
            long description,
            long alpha,
            long a,
            long layoutA,
            long b,
            long layoutB,
            long beta,
            long c,
            long layoutC,
            long algorithm,
            long workspace,
            long workspaceBytes,
            long stream) {
        int code = Native.call(
                matmul,
                handle,
                description,
                alpha,
                a,
                layoutA,
                b,
                layoutB,
                beta,
                c,
                layoutC,
                c,
                layoutC,
                algorithm,
                workspace,
                workspaceBytes,
                stream);
        if (code != 0) {
            throw failure("gemm", code);
        }
    }

    /** Workspace bytes of a result. */
    final long workspaceBytes(MemorySegment result) {
        return result.get(ValueLayout.JAVA_LONG, algorithmBytes());
    }

    /** Whether a result can be used. */
    final boolean isUsable(MemorySegment result) {
        return result.get(ValueLayout.JAVA_INT, algorithmBytes() + 8) == 0;
    }

    /** Waves of the device that a result's tiles make. */
    final float waves(MemorySegment result) {
        return result.get(ValueLayout.JAVA_FLOAT, algorithmBytes() + 12);
    }

    @Override
    public final GemmPlan plan(long handle, GemmShape shape, long workspaceLimit) {
        return new LtPlan(this, handle, shape, workspaceLimit);
    }
}
