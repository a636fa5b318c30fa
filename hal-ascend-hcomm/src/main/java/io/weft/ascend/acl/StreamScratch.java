// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Device memory for what is computed on a stream in several steps. It belongs to the stream, whose order keeps steps apart, and goes with it. Safe for any thread. */
final class StreamScratch {
    /** Pieces of a stream. */
    static final int SLOTS = 6;

    private static final long LEAST = 4096;

    private final AclRuntime runtime;
    private final Map<Long, long[]> addresses = new ConcurrentHashMap<>();
    private final Map<Long, long[]> sizes = new ConcurrentHashMap<>();
    private final Map<Long, Object> locks = new ConcurrentHashMap<>();

    StreamScratch(AclRuntime runtime) {
        this.runtime = runtime;
    }

    /** Held by a caller while it issues several steps that use a stream's pieces, since others may issue to the same stream. Never taken by a device's thread. */
    Object lock(long stream) {
        return locks.computeIfAbsent(stream, ignored -> new Object());
    }

    /** The address of a piece of at least so many bytes. A piece that is too small is replaced when the stream is through with it. */
    long get(long stream, int slot, long bytes) {
        long[] at = addresses.computeIfAbsent(stream, ignored -> new long[SLOTS]);
        long[] size = sizes.computeIfAbsent(stream, ignored -> new long[SLOTS]);
        if (size[slot] < bytes) {
            if (at[slot] != 0) {
                runtime.synchronizeStream(stream);
                runtime.free(at[slot]);
            }
            long wanted = Long.highestOneBit(Math.max(LEAST, bytes) - 1) << 1;
            at[slot] = 0;
            size[slot] = 0;
            at[slot] = runtime.allocate(wanted);
            size[slot] = wanted;
        }
        return at[slot];
    }

    /** A stream has ended. */
    void release(long stream) {
        sizes.remove(stream);
        locks.remove(stream);
        long[] at = addresses.remove(stream);
        if (at != null) {
            runtime.synchronizeStream(stream);
            for (long address : at) {
                if (address != 0) {
                    runtime.free(address);
                }
            }
        }
    }
}
