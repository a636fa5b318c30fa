// SPDX-License-Identifier: Apache-2.0
package io.weft.api.topology;

import java.util.List;
import java.util.Objects;

/**
 * A network card of a {@link DescribedMachine}.
 *
 * @param name its name in the system
 * @param address bus or network address, empty when unknown
 * @param server the server that it sits in, from 0
 * @param numaNode host NUMA node, -1 when unknown
 * @param bandwidth nominal GB/s (1e9 bytes per second) one way, NaN when unknown
 * @param nearest ordinals of the devices closest to it
 */
public record DescribedNetworkCard(
        String name, String address, int server, int numaNode, double bandwidth, List<Integer> nearest) {
    public DescribedNetworkCard {
        Objects.requireNonNull(name);
        Objects.requireNonNull(address);
        nearest = List.copyOf(nearest);
    }
}
