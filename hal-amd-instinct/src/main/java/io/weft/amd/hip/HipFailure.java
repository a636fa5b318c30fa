// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.VendorError;

/** Turns AMD's codes into exceptions which say the code, its name, its text, what was attempted and what to do next. */
final class HipFailure {
    /** {@code hipErrorNoDevice}: what most calls answer without a device. */
    static final int NO_DEVICE = 100;
    /** {@code hipErrorInvalidDevice}: what HIP 5.2 answers instead, and the first call of 5.7. */
    static final int INVALID_DEVICE = 101;

    private HipFailure() {}

    /** Whether a code of a call without a device argument says that there is no device: both are in use, see section 1 of the plugin's facts in docs/amd.md. */
    static boolean saysNoDevice(int code) {
        return code == NO_DEVICE || code == INVALID_DEVICE;
    }

    /** A code of HIP. */
    static AcceleratorException hip(String library, String operation, int code, String name, String text) {
        return new AcceleratorException(
                neutral(code),
                operation,
                text.isEmpty() ? "the call failed" : text,
                advice(code),
                new VendorError(library, code, name),
                null);
    }

    /** The neutral kind of a HIP error. Numbers: hip_runtime_api.h, hipError_t. */
    static ErrorCode neutral(int code) {
        return switch (code) {
            case 2, 1052 -> ErrorCode.OUT_OF_MEMORY;
            case 3, 35, NO_DEVICE -> ErrorCode.UNAVAILABLE;
            case INVALID_DEVICE -> ErrorCode.NOT_FOUND;
            case 217, 704, 705 -> ErrorCode.PEER_ACCESS;
            case 600 -> ErrorCode.NOT_READY;
            case 801 -> ErrorCode.UNSUPPORTED;
            case 214, 700, 702, 709, 710, 719, 1053 -> ErrorCode.DEVICE_LOST;
            default -> ErrorCode.VENDOR;
        };
    }

    private static String advice(int code) {
        return switch (code) {
            case 1 -> "this is a fault in the plugin or a library of another version; report it";
            case 2, 1052 -> "free memory on the device or use smaller buffers";
            case 35 -> "install a newer amdgpu driver, or use a HIP runtime that fits it";
            case NO_DEVICE, INVALID_DEVICE ->
                "check /dev/kfd and /dev/dri, their permissions (groups render and video), ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES; 'weft doctor --amd' looks at all of them";
            case 200, 209, 300 -> "the code was made for another chip; report it with the version of the runtime";
            case 214 -> "the hardware reports an uncorrectable error; see amd-smi metric --ecc";
            case 700, 710, 719, 1053 ->
                "an earlier command went wrong on the device and its context is lost; end the process and run it with the 'validation' decorator";
            case 709 -> "a stream or the context behind it is gone; close nothing that is in use";
            case 900, 901, 902, 903, 904, 905, 906, 907, 908 -> "the graph cannot be captured; run it by streams";
            default -> "look the code up in the HIP documentation";
        };
    }

    /** A status of hipBLASLt. Numbers: hipblas-common.h, hipblasStatus_t. */
    static AcceleratorException hipblas(String library, String operation, int code) {
        ErrorCode neutral = switch (code) {
            case 2 -> ErrorCode.OUT_OF_MEMORY;
            case 7 -> ErrorCode.UNSUPPORTED;
            default -> ErrorCode.VENDOR;
        };
        String advice = switch (code) {
            case 1 -> "check that the library fits the HIP runtime";
            case 2 -> "free memory on the device";
            case 5, 6 -> "an earlier command may have failed; look at the first error";
            case 8 -> "the library has no kernels for this chip; see HIPBLASLT_TENSILE_LIBPATH";
            default -> "look the status up in the hipBLASLt documentation";
        };
        return new AcceleratorException(
                neutral, operation, "the call failed", advice, new VendorError(library, code, hipblasName(code)), null);
    }

    private static String hipblasName(int code) {
        return switch (code) {
            case 1 -> "HIPBLAS_STATUS_NOT_INITIALIZED";
            case 2 -> "HIPBLAS_STATUS_ALLOC_FAILED";
            case 3 -> "HIPBLAS_STATUS_INVALID_VALUE";
            case 4 -> "HIPBLAS_STATUS_MAPPING_ERROR";
            case 5 -> "HIPBLAS_STATUS_EXECUTION_FAILED";
            case 6 -> "HIPBLAS_STATUS_INTERNAL_ERROR";
            case 7 -> "HIPBLAS_STATUS_NOT_SUPPORTED";
            case 8 -> "HIPBLAS_STATUS_ARCH_MISMATCH";
            case 9 -> "HIPBLAS_STATUS_HANDLE_IS_NULLPTR";
            case 10 -> "HIPBLAS_STATUS_INVALID_ENUM";
            default -> "hipblasStatus " + code;
        };
    }

    /** A result of the run-time compiler. */
    static AcceleratorException hiprtc(String library, String operation, int code, String log) {
        String line =
                log.lines().filter(text -> text.contains("error")).findFirst().orElse("the call failed");
        return new AcceleratorException(
                ErrorCode.VENDOR,
                operation,
                line.strip(),
                "the compiler does not fit the runtime, or does not know the chip; install both from one ROCm release",
                new VendorError(library, code, code == 6 ? "HIPRTC_ERROR_COMPILATION" : "hiprtcResult " + code),
                null);
    }
}
