// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.topology.LinkKind;

/** The directed path that data take from one device to another. Immutable. */
public final class Route {
    private final int from;
    private final int to;
    private final LinkKind kind;
    private final String name;
    private final int[] links;
    private final double bandwidth;
    private final double duplexWeight;
    private final double latencyNanos;
    private final int hops;
    private final int width;
    private final boolean copyable;
    private final boolean addressable;

    Route(
            int from,
            int to,
            LinkKind kind,
            String name,
            int[] links,
            double bandwidth,
            double duplexWeight,
            double latencyNanos,
            int hops,
            int width,
            boolean copyable,
            boolean addressable) {
        this.from = from;
        this.to = to;
        this.kind = kind;
        this.name = name;
        this.links = links;
        this.bandwidth = bandwidth;
        this.duplexWeight = duplexWeight;
        this.latencyNanos = latencyNanos;
        this.hops = hops;
        this.width = width;
        this.copyable = copyable;
        this.addressable = addressable;
    }

    /** Source device. */
    public int from() {
        return from;
    }

    /** Destination device. */
    public int to() {
        return to;
    }

    /** The least direct kind of its links. */
    public LinkKind kind() {
        return kind;
    }

    /** Name of the link that decides the kind. */
    public String name() {
        return name;
    }

    /** Number of directed links. */
    public int length() {
        return links.length;
    }

    /** The i-th directed link: 2 * link for the way from its {@code from} to its {@code to}, one more for the way back. */
    public int link(int i) {
        return links[i];
    }

    /** Bytes/s for one flow: the narrowest link, and what forwarding leaves of it. */
    public double bandwidth() {
        return bandwidth;
    }

    /** What each byte weighs on what both directions of a link share; above 1 where forwarding costs more when both directions run. */
    public double duplexWeight() {
        return duplexWeight;
    }

    /** ns for the first byte. */
    public double latencyNanos() {
        return latencyNanos;
    }

    /** Device-to-device hops. */
    public int hops() {
        return hops;
    }

    /** Parallel links at the narrowest place. */
    public int width() {
        return width;
    }

    /** Whether copy engines can use it. */
    public boolean copyable() {
        return copyable;
    }

    /** Whether kernels can load and store over it. */
    public boolean addressable() {
        return addressable;
    }
}
