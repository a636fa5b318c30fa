// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import io.weft.memory.PageSource;

/** A device's memory as mere numbers: one contiguous range with a limit. Counts its calls. */
public final class CountedPages implements PageSource {
    private final long limit;
    private final boolean contiguous;
    private long held;
    private long peakHeld;
    private long calls;

    /**
     * @param limit bytes that the device has
     * @param contiguous whether pieces join, as with virtual memory
     */
    public CountedPages(long limit, boolean contiguous) {
        this.limit = limit;
        this.contiguous = contiguous;
    }

    @Override
    public long stepBytes() {
        return 2L << 20;
    }

    @Override
    public boolean contiguous() {
        return contiguous;
    }

    @Override
    public long rangeBytes() {
        return 1L << 44;
    }

    @Override
    public boolean obtain(long offset, long bytes) {
        calls++;
        if (held + bytes > limit) {
            return false;
        }
        held += bytes;
        peakHeld = Math.max(peakHeld, held);
        return true;
    }

    @Override
    public void giveBack(long offset, long bytes) {
        calls++;
        held -= bytes;
    }

    /** Calls so far. */
    public long calls() {
        return calls;
    }

    /** Most bytes held at one time, ever or since {@link #forgetPeak}. */
    public long peakHeldBytes() {
        return peakHeld;
    }

    /** Starts the peak anew from what is held now. */
    public void forgetPeak() {
        peakHeld = held;
    }

    /** Bytes held now. */
    public long heldBytes() {
        return held;
    }
}
