// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.Buffer;
import io.weft.api.Capability;
import io.weft.api.Device;
import io.weft.api.MemoryKind;
import io.weft.spi.VirtualMemoryDriver;

/** Where a pool's memory comes from, as {@link PageSource}, and the buffers over it. */
public interface SegmentSource extends PageSource, AutoCloseable {
    /** Device memory in pages behind one address range of twice the device's memory where the platform has virtual memory, in segments otherwise. */
    static SegmentSource best(Device device) {
        if (!device.platform().has(Capability.VIRTUAL_MEMORY)) {
            return device(device);
        }
        long page = device.platform()
                .extension(VirtualMemoryDriver.class)
                .map(VirtualMemoryDriver::pageBytes)
                .orElse(PoolOptions.SEGMENT_STEP);
        long unit = Math.max(PoolOptions.SEGMENT_STEP, page);
        return virtualMemory(device, (2 * device.properties().memoryBytes() + unit - 1) / unit * unit);
    }

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

    /** A buffer over a range inside obtained memory. */
    Buffer buffer(long offset, long bytes, Buffer.Owner owner);

    /** Hands everything back. */
    @Override
    void close();
}
