// SPDX-License-Identifier: Apache-2.0
package io.weft.api.topology;

import java.util.Objects;

/**
 * The directed path from one device to another.
 *
 * @param from source device ordinal
 * @param to destination device ordinal
 * @param kind neutral kind
 * @param name the vendor's name for it, such as the fabric's
 * @param bandwidth GB/s (1e9 bytes per second) usable in this direction by one flow; 0 without a path
 * @param latencyNanos ns for the first byte
 * @param hops device-to-device hops, 1 for a direct link; 0 to itself
 * @param width parallel links, 1 or more; 0 without a path
 * @param copyable whether copy engines can use the path
 * @param addressable whether kernels can load and store over it
 */
public record Link(
        int from,
        int to,
        LinkKind kind,
        String name,
        double bandwidth,
        double latencyNanos,
        int hops,
        int width,
        boolean copyable,
        boolean addressable) {
    public Link {
        Objects.requireNonNull(kind);
        Objects.requireNonNull(name);
    }
}
