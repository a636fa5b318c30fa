// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

/** The neutral kinds of failure. A vendor's own code travels beside it in {@link VendorError}. */
public enum ErrorCode {
    /** An argument is wrong in itself. */
    INVALID_ARGUMENT,
    /** A view or range does not fit its buffer. */
    OUT_OF_BOUNDS,
    /** An offset, pitch or size does not meet the required alignment. */
    MISALIGNED,
    /** Device or host memory is exhausted. */
    OUT_OF_MEMORY,
    /** The object was closed before. */
    CLOSED,
    /** The object is in a state that does not allow the operation. */
    INVALID_STATE,
    /** Objects of different devices or platforms were mixed. */
    WRONG_DEVICE,
    /** The backend does not have this power; see {@link Capability}. */
    UNSUPPORTED,
    /** The result is not there yet; ask again or synchronize. */
    NOT_READY,
    /** Nothing has that name. */
    NOT_FOUND,
    /** A device cannot reach the other's memory, or access was not enabled. */
    PEER_ACCESS,
    /** An earlier command on the stream failed; its cause is attached. */
    STREAM_FAILED,
    /** Ranks of a communicator disagree in operation, order, count or type. */
    COLLECTIVE_MISMATCH,
    /** The communicator was aborted. */
    ABORTED,
    /** Something did not happen within its time limit. */
    TIMEOUT,
    /** The device is gone or needs a reset. */
    DEVICE_LOST,
    /** No such backend is usable here. */
    UNAVAILABLE,
    /** A document or setting given by the user cannot be used. */
    BAD_DOCUMENT,
    /** The vendor's library reported an error that has no neutral name. */
    VENDOR,
    /** A fault in Weft or in a plugin. */
    INTERNAL
}
