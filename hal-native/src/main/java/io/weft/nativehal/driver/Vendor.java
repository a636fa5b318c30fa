// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

import io.weft.api.DeviceProperties;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What a vendor supplies for one open platform. What is empty is a power less.
 *
 * @param name the vendor's name
 * @param runtime devices, memory, streams, events
 * @param kernels loads a device's own kernels
 * @param gemms matrix products
 * @param collectives communicators
 * @param pages virtual memory
 * @param versions of the driver and the libraries, for people
 */
public record Vendor(
        String name,
        DeviceRuntime runtime,
        KernelLoader kernels,
        Optional<GemmLibrary> gemms,
        Optional<CollectiveLibrary> collectives,
        Optional<PageDriver> pages,
        Map<String, String> versions) {
    /** Loads the kernels of a device. */
    public interface KernelLoader {
        /** The kernels of the current device. */
        DeviceKernels load(DeviceProperties device);
    }

    public Vendor {
        Objects.requireNonNull(name);
        Objects.requireNonNull(runtime);
        Objects.requireNonNull(kernels);
        versions = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(versions));
    }
}
