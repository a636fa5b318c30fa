// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

/**
 * Receives every callback of an {@link Engine}: timers, completed activities, granted permits. One interface with two
 * ints instead of a lambda per activity, so that thousands of activities cost no allocation.
 */
@FunctionalInterface
public interface Handler {
    /**
     * Called at {@link Engine#nowPs()}. It may start, abort and schedule anything on the engine that calls it; what
     * it schedules at the present instant runs after everything already due at that instant. It must not call the
     * engine's {@code run} or {@code reset} methods. An exception ends the run and leaves the engine usable: the
     * event that threw counts as delivered.
     *
     * @param kind the code given when the event was scheduled
     * @param id the id given when the event was scheduled
     */
    void onEvent(int kind, int id);
}
