// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.transport;

/** What a sender knows of one path: what it has sent and how fast that went. Not for several threads at once. */
final class PathState {
    /** How much the newest observation counts in the estimate of a path's rate. */
    private static final double NEWEST = 0.5;

    private final PathSpec spec;
    private double rate;
    private long inFlightBytes;
    private int inFlight;
    private boolean suspect;
    private boolean dead;
    private long deliveredBytes;
    private long flaps;
    private long retransmissions;

    PathState(PathSpec spec) {
        this.spec = spec;
        this.rate = spec.bytesPerSecond();
    }

    PathSpec spec() {
        return spec;
    }

    void sent(long bytes) {
        inFlightBytes += bytes;
        inFlight++;
    }

    /** A chunk is not on its way any more, arrived or not. */
    void over(long bytes) {
        inFlightBytes -= bytes;
        inFlight--;
    }

    /** A chunk has taken so long on the wire. */
    void observed(long bytes, double nanos) {
        suspect = false;
        if (nanos > 0) {
            rate += NEWEST * (bytes / nanos * 1e9 - rate);
        }
    }

    void delivered(long bytes) {
        deliveredBytes += bytes;
    }

    /** Share of the bandwidth that something else takes, as far as is known: 0 to 1. */
    double congestion() {
        return Math.clamp(1 - rate / spec.bytesPerSecond(), 0, 1);
    }

    /** When a chunk given to it now would have arrived, ns from now. */
    double arrivalNanos(long bytes) {
        return (inFlightBytes + bytes) / rate * 1e9 + spec.latencyNanos();
    }

    boolean hasRoom() {
        return !dead && !suspect && inFlight < spec.queueDepth();
    }

    int inFlight() {
        return inFlight;
    }

    boolean isSuspect() {
        return suspect;
    }

    /** Something is overdue on it: nothing more goes there until it arrives. */
    void suspect() {
        suspect = true;
    }

    boolean isDead() {
        return dead;
    }

    void die() {
        dead = true;
        flaps++;
    }

    /** The link is back. Its rate is not known yet, so it starts from what the link should give. */
    void revive() {
        dead = false;
        suspect = false;
        rate = spec.bytesPerSecond();
    }

    void retransmitted() {
        retransmissions++;
    }

    long deliveredBytes() {
        return deliveredBytes;
    }

    long flaps() {
        return flaps;
    }

    long retransmissions() {
        return retransmissions;
    }
}
