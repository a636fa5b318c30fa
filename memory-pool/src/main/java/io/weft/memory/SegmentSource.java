// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.MemoryKind;

/**
 * Where a pool's memory comes from. A pool numbers its bytes by offset from 0; the source puts memory behind ranges of offsets. Called by one thread at a time.
 *
 * <p>A contiguous source has one address range, so that a buffer may span pieces that were obtained one after the other; with any other source a buffer lies in
 * one obtained piece.
 */
public interface SegmentSource extends AutoCloseable {
    /** Device memory in segments. */
    static SegmentSource device(Device device) {
        return new SegmentedSource(device, MemoryKind.DEVICE);
    }

    /** Host memory pinned for this device, near its NUMA node as far as the backend knows it, in segments. */
    static SegmentSource pinnedHost(Device device) {
        return new SegmentedSource(device, MemoryKind.HOST_PINNED);
    }

    /**
     * Device memory in pages behind one reserved address range.
     *
     * @param rangeBytes the address range, a multiple of the page size; addresses are cheap, so take twice the memory
     * @throws io.weft.api.AcceleratorException UNSUPPORTED without the virtual-memory extension
     */
    static SegmentSource virtualMemory(Device device, long rangeBytes) {
        return new VirtualMemorySource(device, rangeBytes);
    }

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

    /** A buffer over a range inside obtained memory. */
    Buffer buffer(long offset, long bytes, Buffer.Owner owner);

    /** Hands everything back. */
    @Override
    void close();
}
