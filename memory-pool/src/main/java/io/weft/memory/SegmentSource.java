// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Capability;
import io.weft.api.Device;
import io.weft.spi.VirtualMemoryDriver;
import java.util.Optional;

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
        return new SegmentedSource(device::allocate);
    }

    /** Host memory pinned for this device, near its own NUMA node as far as the backend knows it, in segments. */
    static SegmentSource pinnedHost(Device device) {
        return pinnedHost(device, device.properties().numaNode());
    }

    /**
     * Host memory pinned for this device near a NUMA node of the host, in segments. A backend that cannot choose ignores the node, and {@link Buffer#numaNode()} says
     * so.
     *
     * @param numaNode the node, -1 for the device's own
     */
    static SegmentSource pinnedHost(Device device, int numaNode) {
        return new SegmentedSource(bytes -> device.allocateHost(bytes, numaNode));
    }

    /**
     * A block of a symmetric heap, so that peers reach every buffer of the pool: {@link SymmetricHeap.Rank#offsetOf} tells where it lies, and {@link
     * SymmetricHeap.Rank#peer} gives the same bytes of another rank. The heap's memory is there already, so the pool only books it; closing the pool leaves the block
     * to the heap. Calls of the pool are not collective: ranks whose pools make other calls have other buffers at an offset.
     *
     * @param rank the heap on the pool's device
     * @param offset start of a block of the heap, a multiple of 2 MiB and of the window alignment
     * @param bytes its length, a multiple of them, too
     */
    static SegmentSource symmetric(SymmetricHeap.Rank rank, long offset, long bytes) {
        return new SymmetricSource(rank, offset, bytes);
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

    /** What the device said when it last had no more; empty when it never did or nothing is known. */
    default Optional<AcceleratorException> refusal() {
        return Optional.empty();
    }

    /** A buffer over a range inside obtained memory. */
    Buffer buffer(long offset, long bytes, Buffer.Owner owner);

    /** Hands everything back. */
    @Override
    void close();
}
