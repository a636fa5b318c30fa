// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.nativehal.driver.PageDriver;
import java.util.BitSet;
import java.util.List;

/**
 * A range of addresses whose pages are mapped on demand. Each page is a piece of memory of its own, since the driver takes mappings back whole only. Every device that can reach
 * this one's memory is let in. Safe for any thread.
 */
final class MappedRange extends NativeMemory {
    private final long pageBytes;
    private final List<Integer> visitors;
    private final BitSet mapped = new BitSet();

    /**
     * @param visitors runtime ordinals of the devices that may use what is mapped, its own included
     */
    MappedRange(NativeDevice device, long address, long bytes, long pageBytes, List<Integer> visitors) {
        super(device, MemoryKind.DEVICE, address, bytes, false);
        this.pageBytes = pageBytes;
        this.visitors = List.copyOf(visitors);
    }

    synchronized void map(long offset, long length) {
        check("map", offset, length);
        int from = page(offset);
        int to = page(offset + length);
        int taken = mapped.nextSetBit(from);
        if (taken >= 0 && taken < to) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE, "map", "page " + taken + " of " + this + " is mapped already");
        }
        PageDriver driver = device().pages();
        int done = from;
        try {
            for (; done < to; done++) {
                long handle = driver.createPages(device().runtimeOrdinal(), pageBytes);
                try {
                    driver.map(address() + done * pageBytes, pageBytes, handle);
                } finally {
                    driver.releasePages(handle); // The mapping keeps it alive.
                }
            }
            driver.letIn(address() + offset, length, visitors);
        } catch (AcceleratorException refused) {
            if (done > from) {
                driver.unmap(address() + offset, (done - from) * pageBytes);
            }
            throw refused;
        }
        mapped.set(from, to);
    }

    synchronized void unmap(long offset, long length) {
        check("unmap", offset, length);
        int from = page(offset);
        int to = page(offset + length);
        int hole = mapped.nextClearBit(from);
        if (hole < to) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE, "unmap", "page " + hole + " of " + this + " is not mapped");
        }
        for (int page = from; page < to; page++) {
            device().pages().unmap(address() + page * pageBytes, pageBytes);
        }
        mapped.clear(from, to);
    }

    @Override
    synchronized void requireUsable(String operation, long offset, long length) {
        requireLive(operation);
        if (length > 0 && mapped.nextClearBit(page(offset)) <= page(offset + length - 1)) {
            long missing = mapped.nextClearBit(page(offset)) * pageBytes;
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_BOUNDS,
                    operation,
                    "byte " + Math.max(offset, missing) + " of " + this + " is used, where no page is mapped",
                    "map the page first and keep it mapped until the command is complete",
                    null,
                    null);
        }
    }

    private void check(String operation, long offset, long length) {
        requireLive(operation);
        if (offset < 0 || length < 1 || length > bytes() - offset) {
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_BOUNDS, operation, length + " bytes at " + offset + " do not fit " + this);
        }
        if (offset % pageBytes != 0 || length % pageBytes != 0) {
            throw new AcceleratorException(
                    ErrorCode.MISALIGNED,
                    operation,
                    "offset " + offset + " and size " + length + " must be multiples of the page size, " + pageBytes);
        }
    }

    private int page(long offset) {
        return Math.toIntExact(offset / pageBytes);
    }

    @Override
    synchronized void release() {
        PageDriver driver = device().pages();
        for (int page = mapped.nextSetBit(0); page >= 0; page = mapped.nextSetBit(page + 1)) {
            driver.unmap(address() + page * pageBytes, pageBytes);
        }
        mapped.clear();
        driver.release(address(), bytes());
    }
}
