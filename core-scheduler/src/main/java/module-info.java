// SPDX-License-Identifier: Apache-2.0
/**
 * Overlap: problems, schedules, their lowering to command graphs, selection, execution and metrics.
 *
 * <p>Knows hardware through the API only. Nothing here names a vendor.
 *
 * <ul>
 *   <li>Requires {@code io.weft.api} and {@code io.weft.memory} transitively: the facade takes platforms and pools.
 *   <li>Exports {@code io.weft.scheduler}: the facade and the forms between planner and report.
 * </ul>
 */
module io.weft.scheduler {
    requires transitive io.weft.api;
    requires transitive io.weft.memory;

    // The facade, and the forms that pass between planner, executor and report.
    exports io.weft.scheduler;
    // Running schedules on real data and checking every number.
    exports io.weft.scheduler.verify;
}
