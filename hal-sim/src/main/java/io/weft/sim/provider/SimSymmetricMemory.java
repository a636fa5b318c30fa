// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.MemoryKind;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.SymmetricMemoryDriver;
import java.util.ArrayList;
import java.util.List;

/** Equal allocations on several devices; all or none. */
final class SimSymmetricMemory implements SymmetricMemoryDriver {
    /** What the collective libraries ask of a window. */
    static final long WINDOW_ALIGNMENT = 4096;

    private final long alignment;

    SimSymmetricMemory(long alignment) {
        this.alignment = alignment;
    }

    @Override
    public long windowAlignment() {
        return alignment;
    }

    @Override
    public List<? extends DeviceMemory> reserve(List<? extends DeviceDriver> devices, long bytes) {
        List<DeviceMemory> made = new ArrayList<>(devices.size());
        try {
            for (DeviceDriver device : devices) {
                made.add(((SimDevice) device).allocate(MemoryKind.DEVICE, bytes, alignment));
            }
        } catch (RuntimeException refused) {
            made.forEach(memory -> memory.device().free(memory));
            throw refused;
        }
        return made;
    }
}
