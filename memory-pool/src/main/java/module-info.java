// SPDX-License-Identifier: Apache-2.0
/**
 * Memory pools in front of any backend: tiered and stream-ordered, with a span arena and a symmetric heap.
 *
 * <p>Depends on the API alone, so that pools work for every plugin and can be tested without one.
 *
 * <ul>
 *   <li>Requires {@code io.weft.api} transitively: pools take and hand out its types.
 *   <li>Exports {@code io.weft.memory}: applications and the scheduler build pools.
 *   <li>Exports {@code io.weft.memory.replay}: the command line replays recorded traces.
 * </ul>
 */
module io.weft.memory {
    requires transitive io.weft.api;

    exports io.weft.memory;
    exports io.weft.memory.replay;
}
