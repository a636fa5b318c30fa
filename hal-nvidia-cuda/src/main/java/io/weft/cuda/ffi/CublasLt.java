// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda.ffi;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.lt.LtLibrary;
import io.weft.nativehal.lt.LtNumbers;
import java.util.List;
import java.util.Set;

/**
 * cuBLASLt: matrix products with a choice of kernels. Matrices are column-major; see {@link LtLibrary} for how row-major ones are handed in.
 *
 * <p>Source of numbers: cublasLt.h and library_types.h of CUDA 12 and 13, in which they are equal.
 */
public final class CublasLt extends LtLibrary {
    /** File names, the newest first. */
    public static final List<String> NAMES =
            List.of("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", "libcublasLt.so.14");

    private static final LtNumbers NUMBERS = new LtNumbers(
            "cuBLASLt",
            "cublasLt",
            64, // cublasLtMatmulAlgo_t: opaque, may be stored for the same version of the library
            96, // cublasLtMatmulHeuristicResult_t: that, workspace size, state, waves, four reserved words
            68, // CUBLAS_COMPUTE_32F: no TF32, no 16-bit sums
            72, // CUBLAS_COMPUTE_32I
            0, // CUBLAS_OP_N
            1, // CUBLAS_OP_T
            3, // CUBLASLT_MATMUL_DESC_TRANSA
            4, // CUBLASLT_MATMUL_DESC_TRANSB
            5, // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT
            6, // CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET
            1, // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
            Set.of(15, 7)); // NOT_SUPPORTED; INVALID_VALUE for combinations that older versions do not know

    private static final int PREFERENCE_REDUCTION = 3;
    /** Parts of a sum over K are added up in the compute type only: the result is rounded once. */
    private static final int REDUCE_IN_COMPUTE_TYPE = 2;

    private static final int PREFERENCE_ALIGNMENT_A = 5;

    /** Looks every function up. */
    public CublasLt(NativeLibrary library) {
        super(library, NUMBERS);
    }

    /** Version, 10000 * major + 100 * minor + patch; 0 when unknown. */
    public long version() {
        return versionFunction() == null ? 0 : Native.callLong(versionFunction());
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
    protected AcceleratorException failure(String operation, int code) {
        return VendorFailure.cublas(library().name(), operation, code);
    }

    @Override
    protected void prefer(long preference, int[] alignments) {
        prefer(preference, PREFERENCE_REDUCTION, REDUCE_IN_COMPUTE_TYPE);
        for (int i = 0; i < alignments.length; i++) {
            prefer(preference, PREFERENCE_ALIGNMENT_A + i, alignments[i]);
        }
    }
}
