// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.SymmetricMemoryDriver;
import java.util.List;

/** Symmetric memory whose reservations an observer sees. */
final class ObservedSymmetricMemory implements SymmetricMemoryDriver {
    private final SymmetricMemoryDriver backend;
    private final DriverObserver observer;

    ObservedSymmetricMemory(SymmetricMemoryDriver backend, DriverObserver observer) {
        this.backend = backend;
        this.observer = observer;
    }

    @Override
    public long windowAlignment() {
        return backend.windowAlignment();
    }

    @Override
    public List<? extends DeviceMemory> reserve(List<? extends DeviceDriver> devices, long bytes) {
        List<? extends DeviceMemory> memories =
                backend.reserve(devices.stream().map(ObservedPlatform::unwrap).toList(), bytes);
        memories.forEach(memory -> observer.allocated(memory.device(), memory));
        return memories;
    }
}
