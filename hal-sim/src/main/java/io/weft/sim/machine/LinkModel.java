// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.topology.LinkKind;

/**
 * A link between two vertices (devices or switches), with a direction each way.
 *
 * @param kind what it is; a path through a switch turns FABRIC into SWITCHED_FABRIC by itself
 * @param name the fabric's name, for people
 * @param from one end's vertex number
 * @param to the other end's vertex number
 * @param bandwidth nominal bytes/s from {@code from} to {@code to} of one parallel link
 * @param reverseBandwidth nominal bytes/s the other way
 * @param efficiency share of the nominal bandwidth that payload reaches
 * @param duplexEfficiency share of the sum of both directions that is reached when both are busy; 1 when they do not disturb one another
 * @param latencyNanos ns for the first byte
 * @param width parallel links, at least 1
 * @param copyable whether copy engines can use it
 * @param addressable whether kernels can load and store over it
 */
public record LinkModel(
        LinkKind kind,
        String name,
        int from,
        int to,
        double bandwidth,
        double reverseBandwidth,
        double efficiency,
        double duplexEfficiency,
        double latencyNanos,
        int width,
        boolean copyable,
        boolean addressable) {
    /** Bytes/s of payload from {@code from} to {@code to}. */
    public double capacity() {
        return bandwidth * width * efficiency;
    }

    /** Bytes/s of payload the other way. */
    public double reverseCapacity() {
        return reverseBandwidth * width * efficiency;
    }
}
