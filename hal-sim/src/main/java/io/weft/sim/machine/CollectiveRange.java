// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

/**
 * One way in which the collective library carries out an operation: an algorithm and a protocol, and the sizes for which it has them.
 *
 * @param minBytes sizes above this only
 * @param maxBytes greatest size, where size is the larger of what one rank gives and gets
 * @param algorithm how data are passed on
 * @param protocol the library's name for how a step moves data and says that they are there, for people; empty when it has none
 * @param channels rings that run at once, for RING; ring c joins each rank with the one c + 1 places further on
 * @param baseNanos ns before data flow, on top of the launch
 * @param stepNanos ns for each step of the algorithm
 * @param computeUnits compute units that it holds on every rank
 * @param efficiency share of the links' payload bandwidth that the protocol reaches
 */
public record CollectiveRange(
        long minBytes,
        long maxBytes,
        CollectiveAlgorithm algorithm,
        String protocol,
        int channels,
        double baseNanos,
        double stepNanos,
        int computeUnits,
        double efficiency) {

    /** Whether it is there for a size. */
    public boolean serves(long bytes) {
        return bytes <= maxBytes && (bytes > minBytes || minBytes == 0);
    }

    /** The same with another base and share. */
    public CollectiveRange with(double otherBaseNanos, double otherEfficiency) {
        return new CollectiveRange(
                minBytes,
                maxBytes,
                algorithm,
                protocol,
                channels,
                otherBaseNanos,
                stepNanos,
                computeUnits,
                otherEfficiency);
    }

    /** Algorithm and protocol, for people. */
    public String label() {
        String name = algorithm.name().toLowerCase(java.util.Locale.ROOT);
        return protocol.isEmpty() ? name : name + " " + protocol;
    }
}
