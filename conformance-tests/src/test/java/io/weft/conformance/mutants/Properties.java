// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import java.util.Map;
import java.util.Set;

/** Device properties with some of them changed. */
final class Properties {
    private Properties() {}

    static DeviceProperties with(
            DeviceProperties whole, Map<ElementType, Double> rates, Set<ElementType> types, String busId) {
        return new DeviceProperties(
                whole.ordinal(),
                whole.name(),
                whole.architecture(),
                whole.computeUnits(),
                whole.memoryBytes(),
                whole.memoryBandwidth(),
                rates,
                types,
                whole.copyEngines(),
                whole.hardwareQueues(),
                whole.priorities(),
                whole.allocationAlignment(),
                busId,
                whole.numaNode(),
                whole.extra());
    }
}
