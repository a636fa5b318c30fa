// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.transport;

import io.weft.api.AcceleratorException;

/**
 * One way between two devices.
 *
 * @param name for people, unique in a set
 * @param kind how it fails
 * @param bytesPerSecond one way
 * @param latencyNanos from the last byte's leaving to its arrival
 * @param queueDepth chunks that may be on their way at once
 * @param lossless whether packets wait under load instead of being dropped
 * @param roce the connection's settings; used for {@link PathKind#ROCE} alone
 */
public record PathSpec(
        String name,
        PathKind kind,
        double bytesPerSecond,
        double latencyNanos,
        int queueDepth,
        boolean lossless,
        RoceSettings roce) {
    /** Chunks on their way that keep a path busy: one moves, others wait behind it. */
    public static final int USUAL_DEPTH = 4;

    public PathSpec {
        if (!(bytesPerSecond > 0) || !(latencyNanos >= 0) || queueDepth < 1) {
            throw AcceleratorException.invalid(
                    "path " + name,
                    "a path needs a positive bandwidth, a latency of 0 or more and a queue of at least 1, not "
                            + bytesPerSecond + " B/s, " + latencyNanos + " ns and " + queueDepth);
        }
    }

    /** A link of the mesh inside a server: about 28 GB/s one way on Atlas A2 (third-party measurements, 10 % doubt). */
    public static PathSpec hccs(String name) {
        return new PathSpec(name, PathKind.HCCS, 28e9, 1_000, USUAL_DEPTH, true, RoceSettings.DEFAULTS);
    }

    /** PCIe 4.0 x16 through the host: 31.5 GB/s by the standard's rate and coding, of which four fifths are usual. */
    public static PathSpec pcie(String name) {
        return new PathSpec(name, PathKind.PCIE, 25e9, 2_000, USUAL_DEPTH, true, RoceSettings.DEFAULTS);
    }

    /** A card of 200 Gb/s, as {@code hccn_tool} reports of Atlas A2. */
    public static PathSpec roce(String name, RoceSettings settings) {
        return new PathSpec(name, PathKind.ROCE, 25e9, 5_000, USUAL_DEPTH, true, settings);
    }

    /** The same path where packets are dropped under load. */
    public PathSpec lossy() {
        return new PathSpec(name, kind, bytesPerSecond, latencyNanos, queueDepth, false, roce);
    }
}
