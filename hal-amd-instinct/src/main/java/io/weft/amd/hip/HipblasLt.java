// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.ffi.Scratch;
import io.weft.nativehal.lt.LtLibrary;
import io.weft.nativehal.lt.LtNumbers;
import java.util.List;
import java.util.Set;

/**
 * hipBLASLt: matrix products with a choice of kernels. It does not ask for alignments. <strong>Never opened where there is no device</strong>: its {@code hipblasLtCreate} then ends the process (7.1.1: "Hip error ... (100)", exit 1).
 *
 * <p>Source of numbers: hipblaslt.h and hipblas-common.h of ROCm 6; attributes are numbered otherwise than NVIDIA's.
 */
final class HipblasLt extends LtLibrary {
    /** File names, the newest first. */
    static final List<String> NAMES = List.of("libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so");

    private static final LtNumbers NUMBERS = new LtNumbers(
            "hipBLASLt",
            "hipblasLt",
            24, // hipblasLtMatmulAlgo_t: opaque
            56, // hipblasLtMatmulHeuristicResult_t: that, workspace size, state, waves, four reserved words
            2, // HIPBLAS_COMPUTE_32F: no 16-bit, no TF32 sums
            9, // HIPBLAS_COMPUTE_32I
            111, // HIPBLAS_OP_N
            112, // HIPBLAS_OP_T
            0, // HIPBLASLT_MATMUL_DESC_TRANSA
            1, // HIPBLASLT_MATMUL_DESC_TRANSB
            0, // HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT
            1, // HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET
            1, // HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
            Set.of(7, 3, 10)); // NOT_SUPPORTED, INVALID_VALUE, INVALID_ENUM

    private final Float8 float8;

    /** Looks every function up and calls none. */
    HipblasLt(NativeLibrary library, Float8 float8) {
        super(library, NUMBERS);
        this.float8 = float8;
    }

    /** Version, 100000 * major + 100 * minor + patch; 0 when unknown. A device is current. */
    int version() {
        if (versionFunction() == null) {
            return 0;
        }
        long handle = open();
        try {
            Scratch out = Scratch.mine();
            out.integer(0, 0);
            return Native.call(versionFunction(), handle, out.address()) == 0 ? out.integer(0) : 0;
        } finally {
            close(handle);
        }
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
    protected AcceleratorException failure(String operation, int code) {
        return HipFailure.hipblas(library().name(), operation, code);
    }
}
