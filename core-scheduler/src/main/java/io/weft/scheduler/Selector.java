// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

/** Chooses a schedule for a problem. The same problem always gets the same answer. Safe for any thread. */
public interface Selector {
    /** The name used in commands, such as {@code model}. */
    String name();

    /** Chooses. Serial is a legal answer. */
    Selection select(OverlapProblem problem);
}
