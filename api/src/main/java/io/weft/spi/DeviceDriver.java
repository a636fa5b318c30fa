// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.DeviceProperties;
import io.weft.api.EventOptions;
import io.weft.api.MemoryInfo;
import io.weft.api.MemoryKind;
import io.weft.api.StreamOptions;
import java.lang.foreign.MemorySegment;

/** One device of an open platform. */
public interface DeviceDriver {
    /** What it is. */
    DeviceProperties properties();

    /**
     * Allocates memory. The content is undefined.
     *
     * @param bytes 1 or more
     * @throws io.weft.api.AcceleratorException OUT_OF_MEMORY
     */
    DeviceMemory allocate(MemoryKind kind, long bytes);

    /**
     * Allocates pinned host memory near a NUMA node of the host. A driver that cannot choose gives what {@link #allocate} gives; where the memory lies is told by {@link
     * DeviceMemory#numaNode()}.
     *
     * @param numaNode the node, -1 for the one of this device
     * @param bytes 1 or more
     * @throws io.weft.api.AcceleratorException OUT_OF_MEMORY; INVALID_ARGUMENT for a node that the host does not have, where the driver knows them
     */
    default DeviceMemory allocateHost(int numaNode, long bytes) {
        return allocate(MemoryKind.HOST_PINNED, bytes);
    }

    /**
     * Gives an allocation of this device back. Called once for each. Work in flight that uses it is the caller's fault; drivers that can tell report it.
     */
    void free(DeviceMemory memory);

    /** Memory now. */
    MemoryInfo memoryInfo();

    /** The device's default stream, which joins every blocking stream. It lives as long as the platform. */
    StreamDriver defaultStream();

    /** A new stream. */
    StreamDriver createStream(StreamOptions options);

    /** A new event, not recorded yet. */
    EventDriver createEvent(EventOptions options);

    /** Copies host memory into device memory and returns when it is there. Waits for no stream. */
    void write(DeviceMemory destination, long offset, MemorySegment source);

    /** Copies device memory into host memory and returns when it is there. Waits for no stream. */
    void read(MemorySegment destination, DeviceMemory source, long offset);

    /** Whether kernels of this device can load and store in the peer's memory once access is enabled. A device is not its own peer. */
    boolean canAccess(DeviceDriver peer);

    /** Lets this device address the peer's memory. */
    void enablePeerAccess(DeviceDriver peer);

    /** Takes it back. */
    void disablePeerAccess(DeviceDriver peer);

    /** Waits until everything issued to this device is complete. Throws the first failure. */
    void synchronize();
}
