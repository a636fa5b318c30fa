// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import java.util.List;

/** Extension: memory which every rank can reach by rank and offset. */
public interface SymmetricMemoryDriver {
    /** Bytes to which windows must be aligned, a power of two. */
    long windowAlignment();

    /**
     * Reserves equal memory on every device given. The same offset names corresponding bytes on each; virtual addresses may differ.
     *
     * @param bytes a multiple of {@link #windowAlignment()}
     * @return one allocation for each device, in order; each is freed by its device
     */
    List<? extends DeviceMemory> reserve(List<? extends DeviceDriver> devices, long bytes);
}
