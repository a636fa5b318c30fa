// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.nccl;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.VendorError;

/** Codes of NCCL's interface as exceptions. Numbers: nccl.h, ncclResult_t. */
final class NcclFailure {
    private NcclFailure() {}

    /**
     * The exception for a code.
     *
     * @param file the library's file
     * @param text what it says about the code
     * @param last what it says about its last failure, empty if nothing
     */
    static AcceleratorException of(String name, String file, String operation, int code, String text, String last) {
        ErrorCode neutral = switch (code) {
            case 4, 5 -> ErrorCode.INVALID_ARGUMENT;
            case 6 -> ErrorCode.ABORTED;
            case 8 -> ErrorCode.TIMEOUT;
            default -> ErrorCode.VENDOR;
        };
        String advice = switch (code) {
            case 1, 2, 3 -> "run again with NCCL_DEBUG=INFO to see what it did";
            case 4, 5 -> "this is a fault in the plugin or a version of " + name + " that it does not know; report it";
            case 6 -> "another rank failed or left; look at its error first";
            default -> "run again with NCCL_DEBUG=WARN";
        };
        return new AcceleratorException(
                neutral,
                operation,
                last.isEmpty() ? text : text + ": " + last,
                advice,
                new VendorError(file, code, text),
                null);
    }
}
