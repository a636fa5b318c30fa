// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.plan;

/** Hears how long work gets on. Calls of {@link #step(String)} may come from several threads at once and in any order. */
public interface Progress {
    /** Hears nothing. */
    Progress NONE = new Progress() {};

    /**
     * The work starts.
     *
     * @param what what is done, such as {@code estimating}
     * @param steps steps that it takes
     */
    default void begin(String what, int steps) {}

    /** A step is done. */
    default void step(String label) {}

    /** The work is over, well or badly. */
    default void end() {}
}
