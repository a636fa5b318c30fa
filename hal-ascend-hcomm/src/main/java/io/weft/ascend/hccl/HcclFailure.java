// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import io.weft.api.AcceleratorException;
import io.weft.api.VendorError;

/** Puts to a failure the code and the words that users of HCCL and of the runtime know. */
enum HcclFailure {
    /** Ranks give different arguments. */
    ARGUMENTS("libhccl.so", 1, "EI0005: arguments differ across ranks"),
    /** A rank did not come to a collective. */
    EXECUTE("libhccl.so", 9, "EI0002: notify wait timed out"),
    /** A rank did not join. */
    CONNECT("libhccl.so", 9, "EI0006: link set-up timed out"),
    /** No device memory for the buffers. */
    MEMORY("libhccl.so", 24, "EI0011: out of device memory"),
    /** The operator is not there for these arguments. */
    NOT_SUPPORTED("libhccl.so", 5, "not supported"),
    /** Used in a way that the library leaves undefined. */
    STREAMS("libhccl.so", 1, "EI0003: one communicator on two streams without order"),
    /** Used with devices that do not belong together. */
    PLACEMENT("libhccl.so", 1, "EI0014: rank table check failed"),
    /** The runtime has no stream left. */
    NO_STREAM("libascendcl.so", 207_008, "EL0009: no stream left"),
    /** The runtime has no event left. */
    NO_EVENT("libascendcl.so", 207_007, "EL0008: no event left");

    private final String library;
    private final long number;
    private final String text;

    HcclFailure(String library, long number, String text) {
        this.library = library;
        this.number = number;
        this.text = text;
    }

    /** The same failure with this code. */
    AcceleratorException of(AcceleratorException plain) {
        AcceleratorException told = new AcceleratorException(
                plain.code(),
                plain.operation(),
                plain.detail(),
                plain.nextStep(),
                new VendorError(library, number, text),
                plain.getCause());
        told.setStackTrace(plain.getStackTrace());
        return told;
    }
}
