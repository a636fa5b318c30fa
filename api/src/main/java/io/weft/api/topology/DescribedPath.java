// SPDX-License-Identifier: Apache-2.0
package io.weft.api.topology;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A directed path between two devices of a {@link DescribedMachine}.
 *
 * @param from source ordinal
 * @param to destination ordinal
 * @param kind neutral kind
 * @param name the vendor's name for it
 * @param direct whether a link of its own joins the two; false for a path that leads through others, or through a switch or host
 * @param hops device-to-device hops, 0 when unknown
 * @param width parallel links at the narrowest place, 0 when unknown
 * @param bandwidth nominal GB/s (1e9 bytes per second) one way at the narrowest place, as the sources state it and not as anyone measured it; NaN when unknown
 * @param via ordinals of the devices that it leads through, empty when there are none or it is not known
 * @param facts further facts for people, in order
 */
public record DescribedPath(
        int from,
        int to,
        LinkKind kind,
        String name,
        boolean direct,
        int hops,
        int width,
        double bandwidth,
        List<Integer> via,
        Map<String, String> facts) {
    public DescribedPath {
        Objects.requireNonNull(kind);
        Objects.requireNonNull(name);
        via = List.copyOf(via);
        facts = Collections.unmodifiableMap(new LinkedHashMap<>(facts));
    }
}
