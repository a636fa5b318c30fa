// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import java.util.function.Supplier;

/**
 * A backend that does one thing wrong.
 *
 * @param rule the rule that it breaks, and the only one
 * @param what what it does wrong, for the table in the documentation
 * @param mutation makes it, afresh for each run
 */
public record Mutant(String rule, String what, Supplier<Mutation> mutation) {
    /** A mutant of the reference backend. */
    static Mutant of(String rule, String what, Supplier<Mutation> mutation) {
        return new Mutant(rule, what, mutation);
    }

    @Override
    public String toString() {
        return rule + ": " + what;
    }
}
