// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.VirtualMemoryDriver;

/** Address ranges whose pages are mapped on demand. */
final class SimVirtualMemory implements VirtualMemoryDriver {
    /** The granularity of AMD's and NVIDIA's virtual memory management. */
    private static final long PAGE_BYTES = 2L << 20;

    private final SimPlatform platform;

    SimVirtualMemory(SimPlatform platform) {
        this.platform = platform;
    }

    @Override
    public long pageBytes() {
        return PAGE_BYTES;
    }

    @Override
    public DeviceMemory reserve(DeviceDriver device, long bytes) {
        platform.enter("reserve");
        try {
            if (bytes < 1 || bytes % PAGE_BYTES != 0) {
                throw AcceleratorException.invalid(
                        "reserve", "size " + bytes + " must be a positive multiple of the page size " + PAGE_BYTES);
            }
            return ((SimDevice) device).reserveRange(bytes, PAGE_BYTES);
        } finally {
            platform.leave();
        }
    }

    @Override
    public void map(DeviceMemory range, long offset, long bytes) {
        platform.enter("map");
        try {
            VirtualRange pages = pages("map", range, offset, bytes);
            if (pages.anyMapped(offset, bytes)) {
                throw new AcceleratorException(
                        ErrorCode.INVALID_STATE,
                        "map",
                        "a page of bytes " + offset + " to " + (offset + bytes) + " of " + pages
                                + " is mapped already");
            }
            SimDevice device = pages.device();
            device.takeDeviceMemory("map", bytes);
            platform.effects().flush(); // Its memory may move.
            try {
                pages.map(offset, bytes);
            } catch (AcceleratorException refused) {
                device.giveDeviceMemory(bytes);
                throw refused;
            }
        } finally {
            platform.leave();
        }
    }

    @Override
    public void unmap(DeviceMemory range, long offset, long bytes) {
        platform.enter("unmap");
        try {
            VirtualRange pages = pages("unmap", range, offset, bytes);
            if (!pages.allMapped(offset, bytes)) {
                throw new AcceleratorException(
                        ErrorCode.INVALID_STATE,
                        "unmap",
                        "not every page of bytes " + offset + " to " + (offset + bytes) + " of " + pages
                                + " is mapped");
            }
            platform.effects().flush();
            pages.unmap(offset, bytes);
            pages.device().giveDeviceMemory(bytes);
        } finally {
            platform.leave();
        }
    }

    private static VirtualRange pages(String operation, DeviceMemory range, long offset, long bytes) {
        if (!(range instanceof VirtualRange pages)) {
            throw AcceleratorException.invalid(operation, range + " is no reserved range");
        }
        if (pages.isFreed()) {
            throw new AcceleratorException(ErrorCode.CLOSED, operation, pages + " was given back before");
        }
        if (offset < 0 || bytes < 1 || offset % PAGE_BYTES != 0 || bytes % PAGE_BYTES != 0) {
            throw new AcceleratorException(
                    ErrorCode.MISALIGNED,
                    operation,
                    "offset " + offset + " and size " + bytes + " must be multiples of the page size " + PAGE_BYTES);
        }
        if (bytes > pages.bytes() - offset) {
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_BOUNDS,
                    operation,
                    bytes + " bytes at " + offset + " do not fit a range of " + pages.bytes() + " bytes");
        }
        return pages;
    }
}
