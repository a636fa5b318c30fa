// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

/**
 * What has gone through a resource up to the moment of asking.
 *
 * @param name the name given to {@link Engine#addResource(String, double)}
 * @param capacity present capacity, units/s
 * @param units units consumed: the integral of usage over time
 * @param busyPs time during which some activity progressed on it, ps
 * @param peak greatest usage at any time, units/s; never above the greatest capacity it has had
 */
public record ResourceUsage(String name, double capacity, double units, long busyPs, double peak) {
    /**
     * Mean usage over a span as a share of the present capacity.
     *
     * @param spanPs length of the span, ps, above 0
     * @return 0 to 1; above 1 only if the capacity was lowered meanwhile
     */
    public double utilisation(long spanPs) {
        return units / (capacity * VirtualTime.toSeconds(spanPs));
    }
}
