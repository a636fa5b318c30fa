// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.MemoryKind;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** One allocation of device or pinned host memory. */
public interface DeviceMemory {
    /** Its device. */
    DeviceDriver device();

    /** Where it lives. */
    MemoryKind kind();

    /** Size in bytes. */
    long bytes();

    /** The device address; an opaque number that keeps the allocation's alignment. */
    long address();

    /** The memory itself where the host may read and write it directly; empty otherwise. */
    Optional<MemorySegment> hostSegment();

    /** NUMA node of the host on which pinned host memory lies; -1 when the driver does not know, and for device memory. */
    default int numaNode() {
        return -1;
    }
}
