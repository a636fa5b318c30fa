// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.ErrorCode;

/** One block of a symmetric heap, all of which is there from the start. */
final class SymmetricSource implements SegmentSource {
    private final Buffer block;
    private final long step;

    SymmetricSource(SymmetricHeap.Rank rank, long offset, long bytes) {
        this.step = Math.max(PoolOptions.SEGMENT_STEP, rank.windowAlignment());
        if (bytes < step || bytes % step != 0 || offset % step != 0) {
            throw new AcceleratorException(
                    ErrorCode.MISALIGNED,
                    "pool",
                    "offset " + offset + " and length " + bytes + " of a symmetric block must be multiples of " + step
                            + " bytes");
        }
        this.block = rank.local(offset, bytes);
    }

    @Override
    public long stepBytes() {
        return step;
    }

    @Override
    public boolean contiguous() {
        return true;
    }

    @Override
    public long rangeBytes() {
        return block.bytes();
    }

    @Override
    public boolean obtain(long offset, long bytes) {
        return offset + bytes <= block.bytes();
    }

    @Override
    public void giveBack(long offset, long bytes) {
        // It stays the heap's.
    }

    @Override
    public Buffer buffer(long offset, long bytes, Buffer.Owner owner) {
        return block.suballocate(offset, bytes, owner);
    }

    @Override
    public void close() {
        block.close();
    }
}
