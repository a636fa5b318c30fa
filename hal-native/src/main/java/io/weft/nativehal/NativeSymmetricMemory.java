// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.SymmetricMemoryDriver;
import java.util.ArrayList;
import java.util.List;

/**
 * Equal memory on every device, which all of them reach: plain allocations, as peer access among a platform's devices is on. NVLink multicast would give one address for all and is never used.
 */
final class NativeSymmetricMemory implements SymmetricMemoryDriver {
    /** What NCCL asks of a window: NCCL_WIN_REQUIRED_ALIGNMENT, nccl.h. */
    private static final long ALIGNMENT = 4096;

    private final NativePlatform platform;

    NativeSymmetricMemory(NativePlatform platform) {
        this.platform = platform;
    }

    @Override
    public long windowAlignment() {
        return ALIGNMENT;
    }

    @Override
    public List<NativeMemory> reserve(List<? extends DeviceDriver> devices, long bytes) {
        if (bytes < 1 || bytes % ALIGNMENT != 0) {
            throw AcceleratorException.invalid(
                    "reserve symmetric memory",
                    bytes + " bytes are no multiple of " + ALIGNMENT + ", the alignment of windows");
        }
        List<NativeMemory> reserved = new ArrayList<>();
        try {
            for (DeviceDriver device : devices) {
                NativeDevice owner = platform.own("reserve symmetric memory", device);
                // Whole pages of the driver, so that a window never shares one with another allocation.
                reserved.add(owner.allocateWindow(bytes));
            }
        } catch (AcceleratorException refused) {
            for (DeviceMemory memory : reserved) {
                memory.device().free(memory);
            }
            throw refused;
        }
        return reserved;
    }
}
