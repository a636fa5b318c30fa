// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.rccl;

import io.weft.api.ErrorCode;
import io.weft.api.VendorError;

/** RCCL's result codes ({@code ncclResult_t}). */
public enum RcclResult {
    SUCCESS(0, "ncclSuccess"),
    UNHANDLED_CUDA_ERROR(1, "ncclUnhandledCudaError"),
    SYSTEM_ERROR(2, "ncclSystemError"),
    INTERNAL_ERROR(3, "ncclInternalError"),
    INVALID_ARGUMENT(4, "ncclInvalidArgument"),
    INVALID_USAGE(5, "ncclInvalidUsage"),
    REMOTE_ERROR(6, "ncclRemoteError"),
    IN_PROGRESS(7, "ncclInProgress"),
    TIMEOUT(8, "ncclTimeout");

    private final int code;
    private final String text;

    RcclResult(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** Its number. */
    public int code() {
        return code;
    }

    /** The result that RCCL gives for a neutral failure of a collective. */
    static RcclResult of(ErrorCode failure) {
        return switch (failure) {
            case INVALID_ARGUMENT, INVALID_STATE, CLOSED, WRONG_DEVICE, UNSUPPORTED -> INVALID_ARGUMENT;
            case COLLECTIVE_MISMATCH -> INVALID_USAGE;
            case TIMEOUT -> TIMEOUT;
            case ABORTED, DEVICE_LOST -> REMOTE_ERROR;
            case STREAM_FAILED, OUT_OF_MEMORY -> UNHANDLED_CUDA_ERROR;
            default -> INTERNAL_ERROR;
        };
    }

    /** As a vendor's word in a message. */
    VendorError word() {
        return new VendorError("RCCL", code, text);
    }
}
