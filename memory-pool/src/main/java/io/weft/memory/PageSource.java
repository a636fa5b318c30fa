// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/**
 * Puts memory behind ranges of a pool's offsets, which run from 0. Called by one thread at a time.
 *
 * <p>A contiguous source has one address range, so that a block may span pieces that were obtained one after the other; with any other source a block lies in
 * one obtained piece.
 */
public interface PageSource {
    /** The unit of {@link #obtain} and {@link #giveBack}, bytes, a power of two, at least 2 MiB. */
    long stepBytes();

    /** Whether pieces join into one address range. */
    boolean contiguous();

    /** Offsets below this can be obtained. */
    long rangeBytes();

    /**
     * Puts memory behind a range of offsets, which has none.
     *
     * @return false when the device has no more; nothing happened then
     */
    boolean obtain(long offset, long bytes);

    /** Hands a range back: whole steps of a contiguous source, one piece exactly as it was obtained of any other. */
    void giveBack(long offset, long bytes);
}
