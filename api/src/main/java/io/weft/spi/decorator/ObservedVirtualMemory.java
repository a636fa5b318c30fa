// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.VirtualMemoryDriver;

/** Virtual memory whose reservations an observer sees. */
final class ObservedVirtualMemory implements VirtualMemoryDriver {
    private final VirtualMemoryDriver backend;
    private final DriverObserver observer;

    ObservedVirtualMemory(VirtualMemoryDriver backend, DriverObserver observer) {
        this.backend = backend;
        this.observer = observer;
    }

    @Override
    public long pageBytes() {
        return backend.pageBytes();
    }

    @Override
    public DeviceMemory reserve(DeviceDriver device, long bytes) {
        DeviceMemory memory = backend.reserve(ObservedPlatform.unwrap(device), bytes);
        observer.allocated(memory.device(), memory);
        return memory;
    }

    @Override
    public void map(DeviceMemory range, long offset, long bytes) {
        backend.map(range, offset, bytes);
    }

    @Override
    public void unmap(DeviceMemory range, long offset, long bytes) {
        backend.unmap(range, offset, bytes);
    }
}
