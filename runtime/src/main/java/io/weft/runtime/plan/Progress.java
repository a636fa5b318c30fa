// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.plan;

import java.util.function.LongSupplier;

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

    /**
     * The work counts something on its way, such as a model's events, which tells how fast it is. Said after {@link #begin}.
     *
     * @param unit what is counted, in the plural
     * @param count how many so far, counted from anywhere; asked for on any thread until {@link #end}
     */
    default void counts(String unit, LongSupplier count) {}

    /** The work is over, well or badly. */
    default void end() {}
}
