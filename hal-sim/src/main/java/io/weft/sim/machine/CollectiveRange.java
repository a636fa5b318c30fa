// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

/**
 * What the collective library does up to a size.
 *
 * @param maxBytes greatest size, where size is the larger of what one rank gives and gets
 * @param algorithm how data are passed on
 * @param channels rings that run at once, for RING; ring c joins each rank with the one c + 1 places further on
 * @param baseNanos ns before data flow, on top of the launch
 * @param stepNanos ns for each step of the algorithm
 * @param computeUnits compute units that it holds on every rank
 * @param efficiency share of the links' payload bandwidth that the protocol reaches
 */
public record CollectiveRange(
        long maxBytes,
        CollectiveAlgorithm algorithm,
        int channels,
        double baseNanos,
        double stepNanos,
        int computeUnits,
        double efficiency) {}
