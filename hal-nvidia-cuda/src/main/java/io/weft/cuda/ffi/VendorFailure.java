// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda.ffi;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.VendorError;

/** Turns the vendor's codes into exceptions which say the code, its name, its text, what was attempted and what to do next. */
public final class VendorFailure {
    private VendorFailure() {}

    /** A code of the CUDA runtime or driver; both number their errors alike. */
    static AcceleratorException cuda(String library, String operation, int code, String name, String text) {
        return new AcceleratorException(
                neutral(code),
                operation,
                text.isEmpty() ? "the call failed" : text,
                advice(code),
                new VendorError(library, code, name),
                null);
    }

    /** The neutral kind of a CUDA error. Numbers: driver_types.h, enum cudaError, and cuda.h, enum cudaError_enum. */
    static ErrorCode neutral(int code) {
        return switch (code) {
            case 2 -> ErrorCode.OUT_OF_MEMORY;
            case 34, 35, 36, 46, 100, 802, 803, 804 -> ErrorCode.UNAVAILABLE;
            case 101 -> ErrorCode.NOT_FOUND;
            case 217, 704, 705, 711 -> ErrorCode.PEER_ACCESS;
            case 600 -> ErrorCode.NOT_READY;
            case 801 -> ErrorCode.UNSUPPORTED;
            case 214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719 -> ErrorCode.DEVICE_LOST;
            default -> ErrorCode.VENDOR;
        };
    }

    private static String advice(int code) {
        return switch (code) {
            case 1 -> "this is a fault in the plugin or a library of another version; report it";
            case 2 -> "free memory on the device or use smaller buffers";
            case 34 -> "a stub library was loaded; look for the real one in the driver's folder";
            case 35, 803 -> "install a newer driver, or use a CUDA runtime that fits the driver";
            case 46 -> "another process holds the device exclusively";
            case 100 -> "check that nvidia-smi lists a device and CUDA_VISIBLE_DEVICES does not hide it";
            case 209, 222 -> "the driver is too old for this kernel text; install a newer one";
            case 214, 220 -> "the hardware reports an uncorrectable error; see nvidia-smi -q";
            case 700, 710, 714, 715, 716, 717, 718, 719 ->
                "an earlier command went wrong on the device and its context is lost; end the process and run it with the 'validation' decorator";
            case 802 -> "the fabric manager is not ready; wait for it or check its service";
            case 900, 901, 902, 903, 904, 905, 906, 907, 908 -> "the graph cannot be captured; run it by streams";
            default -> "look the code up in the CUDA documentation";
        };
    }

    /** A code of cuBLAS. Numbers: cublas_api.h, cublasStatus_t. */
    static AcceleratorException cublas(String library, String operation, int code) {
        String name = cublasName(code);
        ErrorCode neutral = switch (code) {
            case 3 -> ErrorCode.OUT_OF_MEMORY;
            case 15 -> ErrorCode.UNSUPPORTED;
            default -> ErrorCode.VENDOR;
        };
        String advice = switch (code) {
            case 1 -> "check that the cuBLAS library fits the driver";
            case 3 -> "free memory on the device";
            case 8 -> "the library has no kernels for this device; use a newer one";
            case 13, 14 -> "an earlier command may have failed; look at the first error";
            default -> "look the status up in the cuBLAS documentation";
        };
        return new AcceleratorException(
                neutral, operation, "the call failed", advice, new VendorError(library, code, name), null);
    }

    private static String cublasName(int code) {
        return switch (code) {
            case 1 -> "CUBLAS_STATUS_NOT_INITIALIZED";
            case 3 -> "CUBLAS_STATUS_ALLOC_FAILED";
            case 7 -> "CUBLAS_STATUS_INVALID_VALUE";
            case 8 -> "CUBLAS_STATUS_ARCH_MISMATCH";
            case 11 -> "CUBLAS_STATUS_MAPPING_ERROR";
            case 13 -> "CUBLAS_STATUS_EXECUTION_FAILED";
            case 14 -> "CUBLAS_STATUS_INTERNAL_ERROR";
            case 15 -> "CUBLAS_STATUS_NOT_SUPPORTED";
            case 16 -> "CUBLAS_STATUS_LICENSE_ERROR";
            default -> "cublasStatus " + code;
        };
    }
}
