// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import java.util.Objects;

/**
 * How a pool behaves.
 *
 * @param name what messages and reports call it
 * @param role what its memory is for
 * @param softLimit reserved bytes above which the pool hands idle memory back before it grows
 * @param hardLimit reserved bytes which it never exceeds
 * @param segmentBytes smallest segment that it asks the device for, a multiple of 2 MiB; larger requests get a segment of their own size. Over one address range
 *     it is the most that the pool grows by beyond what a request needs
 * @param alignment bytes to which every buffer's start is aligned, a power of two from 128 to 16384; from 4096 bytes on a buffer is aligned to 512 in any case
 * @param checking whether each buffer gets guard bytes, poison and the place where it was allocated; slow, for finding faults
 * @param waitAcrossStreams whether memory freed on a busy stream may be given to another stream behind an inserted wait, where the alternative is to ask the
 *     device for more
 * @param idleNanos ns of the platform's clock after which idle memory goes back to the device; the pool doubles them for itself, each time memory is wanted again
 *     soon after it went back, and halves them after a while without
 */
public record PoolOptions(
        String name,
        PoolRole role,
        long softLimit,
        long hardLimit,
        long segmentBytes,
        long alignment,
        boolean checking,
        boolean waitAcrossStreams,
        long idleNanos) {
    /** The unit in which segments are sized: the page size of device memory on every machine known. */
    public static final long SEGMENT_STEP = 2L << 20;

    private static final long DEFAULT_SEGMENT = 64L << 20;
    private static final long DEFAULT_IDLE_NANOS = 300_000_000L;

    public PoolOptions {
        Objects.requireNonNull(name);
        Objects.requireNonNull(role);
        if (softLimit < 1 || hardLimit < softLimit) {
            throw AcceleratorException.invalid(
                    "pool options",
                    "soft limit " + softLimit + " and hard limit " + hardLimit
                            + " must be positive, the soft one no greater than the hard one");
        }
        if (segmentBytes < SEGMENT_STEP || segmentBytes % SEGMENT_STEP != 0) {
            throw AcceleratorException.invalid(
                    "pool options",
                    "segment size " + segmentBytes + " must be a positive multiple of " + SEGMENT_STEP + " bytes");
        }
        if (alignment < 128 || alignment > 16384 || Long.bitCount(alignment) != 1) {
            throw AcceleratorException.invalid(
                    "pool options", "alignment " + alignment + " must be a power of two from 128 to 16384");
        }
        if (idleNanos < 0) {
            throw AcceleratorException.invalid("pool options", "idle time " + idleNanos + " ns must not be negative");
        }
    }

    /** No limits of its own, segments of 64 MiB, 128-byte alignment, idle memory goes back after 300 ms. */
    public static PoolOptions defaults() {
        return new PoolOptions(
                "pool",
                PoolRole.COMPUTE,
                Long.MAX_VALUE,
                Long.MAX_VALUE,
                DEFAULT_SEGMENT,
                128,
                false,
                false,
                DEFAULT_IDLE_NANOS);
    }

    /** The same with another name. */
    public PoolOptions withName(String other) {
        return new PoolOptions(
                other, role, softLimit, hardLimit, segmentBytes, alignment, checking, waitAcrossStreams, idleNanos);
    }

    /** The same for another role. */
    public PoolOptions withRole(PoolRole other) {
        return new PoolOptions(
                name, other, softLimit, hardLimit, segmentBytes, alignment, checking, waitAcrossStreams, idleNanos);
    }

    /** The same with limits on reserved bytes. */
    public PoolOptions withLimits(long soft, long hard) {
        return new PoolOptions(name, role, soft, hard, segmentBytes, alignment, checking, waitAcrossStreams, idleNanos);
    }

    /** The same with another segment size. */
    public PoolOptions withSegmentBytes(long bytes) {
        return new PoolOptions(
                name, role, softLimit, hardLimit, bytes, alignment, checking, waitAcrossStreams, idleNanos);
    }

    /** The same with another alignment. */
    public PoolOptions withAlignment(long bytes) {
        return new PoolOptions(
                name, role, softLimit, hardLimit, segmentBytes, bytes, checking, waitAcrossStreams, idleNanos);
    }

    /** The same with checking on or off. */
    public PoolOptions withChecking(boolean on) {
        return new PoolOptions(
                name, role, softLimit, hardLimit, segmentBytes, alignment, on, waitAcrossStreams, idleNanos);
    }

    /** The same with inserted waits on or off. */
    public PoolOptions withWaitAcrossStreams(boolean on) {
        return new PoolOptions(name, role, softLimit, hardLimit, segmentBytes, alignment, checking, on, idleNanos);
    }

    /** The same with another idle time. */
    public PoolOptions withIdleNanos(long nanos) {
        return new PoolOptions(
                name, role, softLimit, hardLimit, segmentBytes, alignment, checking, waitAcrossStreams, nanos);
    }
}
