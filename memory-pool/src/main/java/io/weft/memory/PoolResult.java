// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.Buffer;
import java.util.Objects;

/**
 * What became of a request that may be refused.
 *
 * @param code whether there is a buffer, and if not, why
 * @param buffer the memory, null unless the code is {@link Code#ALLOCATED}
 */
public record PoolResult(Code code, Buffer buffer) {
    /** Why there is a buffer or not. */
    public enum Code {
        /** There is one. */
        ALLOCATED,
        /** The pool's hard limit stands in the way: freeing buffers of this pool helps. */
        LIMIT_REACHED,
        /** The device has no more memory: freeing memory elsewhere on the device helps too. */
        DEVICE_EXHAUSTED
    }

    /** Refused by the hard limit. */
    public static final PoolResult LIMIT_REACHED = new PoolResult(Code.LIMIT_REACHED, null);

    /** Refused by the device. */
    public static final PoolResult DEVICE_EXHAUSTED = new PoolResult(Code.DEVICE_EXHAUSTED, null);

    public PoolResult {
        Objects.requireNonNull(code);
        if ((code == Code.ALLOCATED) != (buffer != null)) {
            throw new IllegalArgumentException(code + " with " + buffer);
        }
    }

    /** A success. */
    public static PoolResult of(Buffer buffer) {
        return new PoolResult(Code.ALLOCATED, buffer);
    }

    /** Whether there is a buffer. */
    public boolean isAllocated() {
        return code == Code.ALLOCATED;
    }
}
