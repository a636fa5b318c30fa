// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.VirtualMemoryDriver;

/** Address ranges whose pages are mapped on demand, by the vendor's virtual memory calls. */
final class NativeVirtualMemory implements VirtualMemoryDriver {
    /**
     * Pages that a device's memory is cut into, if the driver's granularity is no coarser. Each is a piece of memory of its own, and what pieces cost is by number, not by size: on an H200 some 40 us to let a device in and 40 to 60 us to unmap
     * one, of 2 MiB as of 32 (docs/reports/h200). All of a device's memory is so mapped in about a second, and a live range wastes less than a page.
     */
    private static final long MOST_PAGES = 1 << 14;

    private final NativePlatform platform;
    private final long pageBytes;

    NativeVirtualMemory(NativePlatform platform) {
        this.platform = platform;
        long largest = 1;
        for (NativeDevice device : platform.own()) {
            largest = Math.max(
                    largest,
                    pageBytes(
                            platform.pages().pageBytes(device.runtimeOrdinal()),
                            device.properties().memoryBytes()));
        }
        pageBytes = largest;
    }

    /** The page of a device, bytes: its driver's granularity, doubled until its memory has no more than {@link #MOST_PAGES}. */
    static long pageBytes(long granularity, long memoryBytes) {
        long page = granularity;
        while (memoryBytes / page > MOST_PAGES) {
            page *= 2;
        }
        return page;
    }

    @Override
    public long pageBytes() {
        return pageBytes;
    }

    @Override
    public MappedRange reserve(DeviceDriver device, long bytes) {
        NativeDevice owner = platform.own("reserve", device);
        if (bytes < 1 || bytes % pageBytes != 0) {
            throw AcceleratorException.invalid(
                    "reserve", bytes + " bytes are no whole number of pages; accepted are multiples of " + pageBytes);
        }
        owner.makeCurrent();
        long address = platform.pages().reserve(bytes, pageBytes);
        return owner.adopt(new MappedRange(owner, address, bytes, pageBytes, owner.visitors()));
    }

    @Override
    public void map(DeviceMemory range, long offset, long bytes) {
        MappedRange own = own("map", range);
        own.device().makeCurrent();
        own.map(offset, bytes);
    }

    @Override
    public void unmap(DeviceMemory range, long offset, long bytes) {
        MappedRange own = own("unmap", range);
        own.device().makeCurrent();
        own.unmap(offset, bytes);
    }

    private static MappedRange own(String operation, DeviceMemory range) {
        if (range instanceof MappedRange own) {
            return own;
        }
        throw AcceleratorException.invalid(operation, "the memory was not reserved as a range of pages");
    }
}
