// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import java.util.Objects;

/**
 * One piece of the memory that a target holds from the device, for drawings.
 *
 * @param segment number of the device allocation it lies in; 0 for all where there is one growing range
 * @param start bytes from the start of the target's range
 * @param bytes its length
 * @param use what it is
 */
public record ReplayPiece(int segment, long start, long bytes, Use use) {
    /** What a piece is. */
    public enum Use {
        /** A buffer that is out. */
        OUT,
        /** Small buffers, not all of which need be out. */
        SMALL,
        /** Set aside: for a learned layout, or freed and waiting for a stream. */
        HELD,
        /** Free. */
        FREE
    }

    public ReplayPiece {
        Objects.requireNonNull(use);
    }
}
