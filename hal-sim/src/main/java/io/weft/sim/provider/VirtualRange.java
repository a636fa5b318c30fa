// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.sim.execute.HostBlock;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/**
 * A reserved address range whose pages are mapped on demand. Host memory stands behind the pages from the first to the last mapped one; it moves when they
 * outgrow it, which nobody sees because a device address is only a number.
 */
final class VirtualRange extends SimMemory {
    private final long pageBytes;
    private final boolean storage;
    private final BitSet mapped = new BitSet();
    private HostBlock block;
    /** The page at which the block starts. */
    private int firstPage;

    VirtualRange(SimDevice device, long address, long bytes, long pageBytes, boolean storage) {
        super(device, MemoryKind.DEVICE, address, bytes);
        this.pageBytes = pageBytes;
        this.storage = storage;
    }

    /** Bytes that have device memory behind them. */
    long mappedBytes() {
        return mapped.cardinality() * pageBytes;
    }

    /** Whether a page of the range is mapped. */
    boolean anyMapped(long offset, long length) {
        int page = mapped.nextSetBit(page(offset));
        return page >= 0 && page < page(offset + length);
    }

    /** Whether all pages of the range are mapped. */
    boolean allMapped(long offset, long length) {
        return mapped.nextClearBit(page(offset)) >= page(offset + length - 1) + 1;
    }

    /**
     * Puts poisoned memory behind pages, none of which is mapped.
     *
     * @throws AcceleratorException OUT_OF_MEMORY when the host's memory is short
     */
    void map(long offset, long length) {
        int from = page(offset);
        int to = page(offset + length);
        if (storage) {
            cover(from, to);
            block.segment().asSlice((from - firstPage) * pageBytes, length).fill(POISON);
        }
        mapped.set(from, to);
    }

    /** Takes the memory of mapped pages back. */
    void unmap(long offset, long length) {
        mapped.clear(page(offset), page(offset + length));
        if (mapped.isEmpty()) {
            releaseBacking();
        }
    }

    @Override
    public MemorySegment backing(long offset, long length) {
        requireUsable(offset, length);
        return block.segment().asSlice(offset - firstPage * pageBytes, length);
    }

    @Override
    void requireMapped(long offset, long length) {
        if (length > 0 && !allMapped(offset, length)) {
            long missing = mapped.nextClearBit(page(offset)) * pageBytes;
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_BOUNDS,
                    "execute",
                    "a command uses byte " + Math.max(offset, missing) + " of " + this + ", where no page is mapped",
                    "map the page first and keep it mapped until the command is complete",
                    null,
                    null);
        }
    }

    @Override
    void releaseBacking() {
        if (block != null) {
            device().hostMemory().give(block.segment().byteSize());
            block.release();
            block = null;
        }
    }

    private int page(long offset) {
        return Math.toIntExact(offset / pageBytes);
    }

    /** Makes the segment reach over the pages as well; grows by half, so that mapping page by page costs linear time. */
    private void cover(int from, int to) {
        int last = block == null ? 0 : firstPage + (int) (block.segment().byteSize() / pageBytes);
        if (block != null && from >= firstPage && to <= last) {
            return;
        }
        int start = block == null ? from : Math.min(from, firstPage);
        long pages = (long) (block == null ? to : Math.max(to, last)) - start;
        if (block != null && to > last) {
            pages = Math.max(pages, (last - firstPage) * 3L / 2);
        }
        pages = Math.min(pages, bytes() / pageBytes - start);
        long size = pages * pageBytes;
        device().takeHostMemory("map", size);
        HostBlock wider = allocate(size);
        if (block != null) {
            MemorySegment old = block.segment();
            MemorySegment.copy(old, 0, wider.segment(), (firstPage - start) * pageBytes, old.byteSize());
            releaseBacking();
        }
        block = wider;
        firstPage = start;
    }

    private HostBlock allocate(long size) {
        try {
            return HostBlock.allocate(size, 4096);
        } catch (OutOfMemoryError refused) {
            device().hostMemory().give(size);
            throw device().hostIsShort("map", size);
        }
    }
}
