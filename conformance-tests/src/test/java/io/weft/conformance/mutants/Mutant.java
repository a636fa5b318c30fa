// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import java.util.function.Supplier;

/**
 * A backend that does one thing wrong.
 *
 * @param uri the platform on which it shows
 * @param rule the rule that it breaks, and the only one
 * @param what what it does wrong, for the table in the documentation
 * @param mutation makes it, afresh for each run
 */
public record Mutant(String uri, String rule, String what, Supplier<Mutation> mutation) {
    /** Eight devices that reach one another; waits that cannot end are refused soon. */
    public static final String MESH = "sim:mesh-8?stall-timeout-ms=20";

    /** A mutant of the reference backend's usual machine. */
    static Mutant of(String rule, String what, Supplier<Mutation> mutation) {
        return new Mutant(MESH, rule, what, mutation);
    }

    /** A mutant that shows on another machine, or with other options. */
    static Mutant on(String uri, String rule, String what, Supplier<Mutation> mutation) {
        return new Mutant(uri, rule, what, mutation);
    }

    @Override
    public String toString() {
        return rule + ": " + what;
    }
}
