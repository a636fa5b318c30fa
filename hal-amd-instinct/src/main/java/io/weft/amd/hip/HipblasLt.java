// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.ffi.Scratch;
import io.weft.nativehal.lt.LtLibrary;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * hipBLASLt: matrix products with a choice of kernels. <strong>Never opened where there is no device</strong>: its {@code hipblasLtCreate} then ends the process (7.1.1: "Hip error ... (100)", exit 1).
 *
 * <p>Source of numbers: hipblaslt.h and hipblas-common.h of ROCm 6; attributes are numbered otherwise than NVIDIA's.
 */
final class HipblasLt implements LtLibrary {
    /** File names, the newest first. */
    static final List<String> NAMES = List.of("libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so");

    /** {@code hipblasLtMatmulHeuristicResult_t}: the algorithm, workspace size, state, waves, four reserved words. */
    private static final long RESULT_BYTES = 56;
    /** {@code hipblasLtMatmulAlgo_t}: opaque. */
    private static final long ALGORITHM_BYTES = 24;

    private static final int COMPUTE_FP32 = 2; // HIPBLAS_COMPUTE_32F: no 16-bit, no TF32 sums
    private static final int COMPUTE_INT32 = 9; // HIPBLAS_COMPUTE_32I
    private static final int REAL_FP32 = 0; // HIP_R_32F
    private static final int REAL_INT32 = 10; // HIP_R_32I
    private static final int OP_N = 111;
    private static final int OP_T = 112;
    private static final int DESC_TRANSA = 0;
    private static final int DESC_TRANSB = 1;
    private static final int LAYOUT_BATCH_COUNT = 0;
    private static final int LAYOUT_BATCH_STRIDE = 1;
    private static final int PREFERENCE_WORKSPACE = 1;
    private static final int INVALID_VALUE = 3;
    private static final int NOT_SUPPORTED = 7;
    private static final int INVALID_ENUM = 10;

    private final NativeLibrary library;
    private final Float8 float8;
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
    HipblasLt(NativeLibrary library, Float8 float8) {
        this.library = library;
        this.float8 = float8;
        create = library.find("hipblasLtCreate");
        destroy = library.find("hipblasLtDestroy");
        getVersion = library.find("hipblasLtGetVersion");
        descCreate = library.find("hipblasLtMatmulDescCreate");
        descDestroy = library.find("hipblasLtMatmulDescDestroy");
        descSet = library.find("hipblasLtMatmulDescSetAttribute");
        layoutCreate = library.find("hipblasLtMatrixLayoutCreate");
        layoutDestroy = library.find("hipblasLtMatrixLayoutDestroy");
        layoutSet = library.find("hipblasLtMatrixLayoutSetAttribute");
        preferenceCreate = library.find("hipblasLtMatmulPreferenceCreate");
        preferenceDestroy = library.find("hipblasLtMatmulPreferenceDestroy");
        preferenceSet = library.find("hipblasLtMatmulPreferenceSetAttribute");
        heuristic = library.find("hipblasLtMatmulAlgoGetHeuristic");
        matmul = library.find("hipblasLtMatmul");
    }

    /** Whether every function that a product needs is there. */
    boolean isComplete() {
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
        return HipFailure.hipblas(library.name(), operation, code);
    }

    /** Version, 100000 * major + 100 * minor + patch; 0 when unknown. A device is current. */
    int version() {
        if (getVersion == null) {
            return 0;
        }
        long handle = open();
        try {
            Scratch out = Scratch.mine();
            out.integer(0, 0);
            return Native.call(getVersion, handle, out.address()) == 0 ? out.integer(0) : 0;
        } finally {
            close(handle);
        }
    }

    @Override
    public long algorithmBytes() {
        return ALGORITHM_BYTES;
    }

    @Override
    public long resultBytes() {
        return RESULT_BYTES;
    }

    /** {@code hipDataType}, library_types.h. 8-bit floats that the chip does not have are not offered: the library would refuse them. */
    @Override
    public int code(ElementType type) {
        return switch (type) {
            case FP32 -> 0;
            case FP16 -> 2;
            case INT8 -> 3;
            case INT32 -> 10;
            case BF16 -> 14;
            case FP8_E4M3 -> float8 == Float8.OCP ? 28 : -1;
            case FP8_E5M2 -> float8 == Float8.OCP ? 29 : -1;
            case FP8_E4M3_FNUZ -> float8 == Float8.FNUZ ? 1000 : -1;
            case FP8_E5M2_FNUZ -> float8 == Float8.FNUZ ? 1001 : -1;
        };
    }

    @Override
    public long open() {
        Scratch out = Scratch.mine();
        check("open hipBLASLt", Native.call(create, out.address()));
        return out.word(0);
    }

    @Override
    public void close(long handle) {
        Native.call(destroy, handle);
    }

    @Override
    public long createDescription(boolean integer, boolean transposeA, boolean transposeB) {
        Scratch out = Scratch.mine();
        check(
                "describe product",
                Native.call(
                        descCreate,
                        out.address(),
                        integer ? COMPUTE_INT32 : COMPUTE_FP32,
                        integer ? REAL_INT32 : REAL_FP32));
        long description = out.word(0);
        out.integer(0, transposeA ? OP_T : OP_N);
        check("describe product", Native.call(descSet, description, DESC_TRANSA, out.address(), 4));
        out.integer(0, transposeB ? OP_T : OP_N);
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

    /** The library does not ask for alignments. */
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
            out.integer(0, 0);
            int code = Native.call(
                    heuristic, handle, description, a, b, c, d, preference, wanted, results.address(), out.address());
            if (code == NOT_SUPPORTED || code == INVALID_VALUE || code == INVALID_ENUM) {
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
