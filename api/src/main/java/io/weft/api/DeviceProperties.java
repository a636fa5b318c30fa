// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What a device is. Open string ids stand for vendor notions.
 *
 * @param ordinal index on its platform, from 0
 * @param name product name
 * @param architecture the vendor's architecture id
 * @param computeUnits units over which a kernel's tiles are spread (compute units, SMs, AI cores)
 * @param memoryBytes device memory
 * @param memoryBandwidth bytes/s of device memory, read and write together
 * @param peakFlops FLOP/s by element type, dense, one fused multiply-add being two; only the types that the GEMM supports
 * @param gemmTypes input element types of {@code Gemm}
 * @param copyEngines engines that copy beside compute; 0 when copies use compute units
 * @param hardwareQueues queues which run at the same time; more streams share them in order
 * @param priorities distinct stream priorities, at least 1
 * @param allocationAlignment bytes to which every allocation's start is aligned, a power of two, at least 128
 * @param busId PCI address such as {@code 0000:0c:00.0}, empty when unknown
 * @param numaNode host NUMA node, -1 when unknown
 * @param extra further facts for people, in a stable order
 */
public record DeviceProperties(
        int ordinal,
        String name,
        String architecture,
        int computeUnits,
        long memoryBytes,
        double memoryBandwidth,
        Map<ElementType, Double> peakFlops,
        Set<ElementType> gemmTypes,
        int copyEngines,
        int hardwareQueues,
        int priorities,
        long allocationAlignment,
        String busId,
        int numaNode,
        Map<String, String> extra) {
    public DeviceProperties {
        Objects.requireNonNull(name);
        Objects.requireNonNull(architecture);
        Objects.requireNonNull(busId);
        peakFlops = Map.copyOf(peakFlops);
        gemmTypes = Set.copyOf(gemmTypes);
        extra = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(extra));
    }
}
