// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.MemoryKind;

/** Where a pool's memory comes from, as {@link PageSource}, and the buffers over it. */
public interface SegmentSource extends PageSource, AutoCloseable {
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
