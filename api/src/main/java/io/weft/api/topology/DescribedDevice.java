// SPDX-License-Identifier: Apache-2.0
package io.weft.api.topology;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A device of a {@link DescribedMachine}.
 *
 * @param ordinal its number there, from 0
 * @param name product, or what the source calls it; empty when unknown
 * @param architecture architecture id, empty when unknown
 * @param address bus or network address, empty when unknown
 * @param server the server that it sits in, from 0
 * @param numaNode host NUMA node, -1 when unknown
 * @param group the devices that one fabric joins have the same group; empty when it is joined to none
 * @param facts further facts for people, in order
 */
public record DescribedDevice(
        int ordinal,
        String name,
        String architecture,
        String address,
        int server,
        int numaNode,
        String group,
        Map<String, String> facts) {
    public DescribedDevice {
        Objects.requireNonNull(name);
        Objects.requireNonNull(architecture);
        Objects.requireNonNull(address);
        Objects.requireNonNull(group);
        facts = Collections.unmodifiableMap(new LinkedHashMap<>(facts));
    }
}
