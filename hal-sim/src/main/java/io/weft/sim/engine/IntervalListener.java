// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

/**
 * Hears which activity held what, and when; for traces. Off unless given to
 * {@link Engine#intervals(IntervalListener)}, and then costs one call per resource of an activity, at its end.
 */
public interface IntervalListener {
    /**
     * An activity has used a resource.
     *
     * @param kind the activity's code
     * @param id the activity's id
     * @param resource resource number
     * @param startPs start of the fluid phase, ps
     * @param endPs end of the fluid phase (or the abort), ps
     * @param units units of the resource consumed in between
     */
    void onFlow(int kind, int id, int resource, long startPs, long endPs, double units);

    /**
     * An activity has held a place of a serial queue.
     *
     * @param kind the activity's code
     * @param id the activity's id
     * @param queue queue number
     * @param startPs when its turn came, ps
     * @param endPs when it left, ps
     */
    default void onService(int kind, int id, int queue, long startPs, long endPs) {}
}
