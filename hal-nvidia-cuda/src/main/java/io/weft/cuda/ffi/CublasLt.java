// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda.ffi;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.ffi.Scratch;
import io.weft.nativehal.lt.LtLibrary;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * cuBLASLt: matrix products with a choice of kernels. Matrices are column-major; see {@link LtLibrary} for how row-major ones are handed in.
 *
 * <p>Source of numbers: cublasLt.h and library_types.h of CUDA 12 and 13, in which they are equal.
 */
public final class CublasLt implements LtLibrary {
    /** File names, the newest first. */
    public static final List<String> NAMES =
            List.of("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", "libcublasLt.so.14");

    /** {@code cublasLtMatmulHeuristicResult_t}: 64 bytes of algorithm, workspace size, state, waves, four reserved words. */
    private static final long RESULT_BYTES = 96;
    /** {@code cublasLtMatmulAlgo_t}: opaque, may be stored for the same version of the library. */
    private static final long ALGORITHM_BYTES = 64;

    private static final int COMPUTE_FP32 = 68; // CUBLAS_COMPUTE_32F: no TF32, no 16-bit sums
    private static final int COMPUTE_INT32 = 72; // CUBLAS_COMPUTE_32I
    private static final int REAL_FP32 = 0; // CUDA_R_32F
    private static final int REAL_INT32 = 10; // CUDA_R_32I
    private static final int DESC_TRANSA = 3;
    private static final int DESC_TRANSB = 4;
    private static final int LAYOUT_BATCH_COUNT = 5;
    private static final int LAYOUT_BATCH_STRIDE = 6;
    private static final int PREFERENCE_WORKSPACE = 1;
    private static final int PREFERENCE_REDUCTION = 3;
    private static final int PREFERENCE_ALIGNMENT_A = 5;

    private final NativeLibrary library;
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

    /** Looks every function up. */
    public CublasLt(NativeLibrary library) {
        this.library = library;
        create = library.find("cublasLtCreate");
        destroy = library.find("cublasLtDestroy");
        getVersion = library.find("cublasLtGetVersion");
        descCreate = library.find("cublasLtMatmulDescCreate");
        descDestroy = library.find("cublasLtMatmulDescDestroy");
        descSet = library.find("cublasLtMatmulDescSetAttribute");
        layoutCreate = library.find("cublasLtMatrixLayoutCreate");
        layoutDestroy = library.find("cublasLtMatrixLayoutDestroy");
        layoutSet = library.find("cublasLtMatrixLayoutSetAttribute");
        preferenceCreate = library.find("cublasLtMatmulPreferenceCreate");
        preferenceDestroy = library.find("cublasLtMatmulPreferenceDestroy");
        preferenceSet = library.find("cublasLtMatmulPreferenceSetAttribute");
        heuristic = library.find("cublasLtMatmulAlgoGetHeuristic");
        matmul = library.find("cublasLtMatmul");
    }

    /** The library behind it. */
    public NativeLibrary library() {
        return library;
    }

    /** Whether every function that a product needs is there. */
    public boolean isComplete() {
        return create != null
                && destroy != null
                && descCreate != null
                && descDestroy != null
                && descSet != null
                && layoutCreate != null
                && layoutDestroy != null
                && layoutSet != null
                && preferenceCreate != null
                && preferenceDestroy != null
                && preferenceSet != null
                && heuristic != null
                && matmul != null;
    }

    private void check(String operation, int code) {
        if (code != 0) {
            throw failure(operation, code);
        }
    }

    private AcceleratorException failure(String operation, int code) {
        return VendorFailure.cublas(library.name(), operation, code);
    }

    /** Version, 10000 * major + 100 * minor + patch; 0 when unknown. */
    public long version() {
        return getVersion == null ? 0 : Native.callLong(getVersion);
    }

    @Override
    public long algorithmBytes() {
        return ALGORITHM_BYTES;
    }

    @Override
    public long resultBytes() {
        return RESULT_BYTES;
    }

    /** {@code cudaDataType_t}, library_types.h. */
    @Override
    public int code(ElementType type) {
        return switch (type) {
            case FP32 -> 0;
            case FP16 -> 2;
            case INT8 -> 3;
            case INT32 -> 10;
            case BF16 -> 14;
            case FP8_E4M3 -> 28;
            case FP8_E5M2 -> 29;
            case FP8_E4M3_FNUZ, FP8_E5M2_FNUZ -> -1;
        };
    }

    @Override
    public long open() {
        Scratch out = Scratch.mine();
        check("open cuBLASLt", Native.call(create, out.address()));
        return out.word(0);
    }

    @Override
    public void close(long handle) {
        Native.call(destroy, handle);
    }

    @Override
    public long createDescription(boolean integer, boolean transposeA, boolean transposeB) {
        int computeType = integer ? COMPUTE_INT32 : COMPUTE_FP32;
        int scaleType = integer ? REAL_INT32 : REAL_FP32;
        Scratch out = Scratch.mine();
        check("describe product", Native.call(descCreate, out.address(), computeType, scaleType));
        long description = out.word(0);
        out.integer(0, transposeA ? 1 : 0); // CUBLAS_OP_T, CUBLAS_OP_N
        check("describe product", Native.call(descSet, description, DESC_TRANSA, out.address(), 4));
        out.integer(0, transposeB ? 1 : 0);
        check("describe product", Native.call(descSet, description, DESC_TRANSB, out.address(), 4));
        return description;
    }

    @Override
    public void destroyDescription(long description) {
        Native.call(descDestroy, description);
    }

    @Override
    public long createLayout(int type, long rows, long columns, long pitch, int batch, long stride) {
        Scratch out = Scratch.mine();
        check("describe matrix", Native.call(layoutCreate, out.address(), type, rows, columns, pitch));
        long layout = out.word(0);
        if (batch > 1) {
            out.integer(0, batch);
            check("describe matrix", Native.call(layoutSet, layout, LAYOUT_BATCH_COUNT, out.address(), 4));
            out.word(0, stride);
            check("describe matrix", Native.call(layoutSet, layout, LAYOUT_BATCH_STRIDE, out.address(), 8));
        }
        return layout;
    }

    @Override
    public void destroyLayout(long layout) {
        Native.call(layoutDestroy, layout);
    }

    @Override
    public int heuristics(
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
            check("choose kernel", Native.call(preferenceSet, preference, PREFERENCE_WORKSPACE, out.address(), 8));
            // Parts of a sum over K are added up in the compute type (2) only: the result is rounded once.
            out.integer(0, 2);
            check("choose kernel", Native.call(preferenceSet, preference, PREFERENCE_REDUCTION, out.address(), 4));
            for (int i = 0; i < 4; i++) {
                out.integer(0, alignments[i]);
                check(
                        "choose kernel",
                        Native.call(preferenceSet, preference, PREFERENCE_ALIGNMENT_A + i, out.address(), 4));
            }
            out.integer(0, 0);
            int code = Native.call(
                    heuristic, handle, description, a, b, c, d, preference, wanted, results.address(), out.address());
            if (code == 15
                    || code == 7) { // NOT_SUPPORTED; INVALID_VALUE for combinations that older versions do not know
                return 0;
            }
            check("choose kernel", code);
            return out.integer(0);
        } finally {
            Native.call(preferenceDestroy, preference);
        }
    }

    @Override
    public void multiply(
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
}
