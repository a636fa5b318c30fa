// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import io.weft.memory.PageSource;

/** A device's memory as mere numbers: one contiguous range with a limit. Counts its calls. */
public final class CountedPages implements PageSource {
    private final long limit;
    private final boolean contiguous;
    private long held;
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

    /** Bytes held now. */
    public long heldBytes() {
        return held;
    }
}
