// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.bench;

import java.util.Objects;

/** A proof found that its rule does not hold. */
public final class RuleBroken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String expected;
    private final String actual;

    public RuleBroken(String expected, String actual) {
        super("expected " + expected + ", but " + actual);
        this.expected = Objects.requireNonNull(expected);
        this.actual = Objects.requireNonNull(actual);
    }

    /** What should have been. */
    public String expected() {
        return expected;
    }

    /** What was. */
    public String actual() {
        return actual;
    }
}
