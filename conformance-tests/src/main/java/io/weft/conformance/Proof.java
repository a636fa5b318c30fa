// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.conformance.bench.Bench;

/**
 * A method that proves a rule.
 *
 * @param rule the rule's id
 * @param name class and method, for people
 * @param body runs it on a bench
 */
record Proof(String rule, String name, Body body) {
    /** What runs it. */
    @FunctionalInterface
    interface Body {
        void run(Bench bench) throws Throwable;
    }
}
