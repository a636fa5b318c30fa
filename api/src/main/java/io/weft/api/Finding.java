// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import java.util.Objects;

/**
 * Something that was noticed about a machine, its files or its settings, in words that help.
 *
 * @param severity how much it matters
 * @param check the name of what was looked at: lower-case words joined by dashes, stable between versions
 * @param seen what was seen, with the place; one line
 * @param why why it matters; empty when there is nothing to explain
 * @param source where that is written: a page, an issue, a source file; empty when what was seen speaks for itself
 * @param fix what to do; empty when nothing has to be done
 */
public record Finding(Severity severity, String check, String seen, String why, String source, String fix) {
    /** How much a finding matters. */
    public enum Severity {
        /** Looked at, and as it should be. */
        GOOD,
        /** Worth knowing; nothing has to change. */
        NOTE,
        /** Costs speed or clarity. */
        WARNING,
        /** Wrong: something will not work, or two sources say different things. */
        PROBLEM
    }

    public Finding {
        Objects.requireNonNull(severity);
        Objects.requireNonNull(check);
        Objects.requireNonNull(seen);
        Objects.requireNonNull(why);
        Objects.requireNonNull(source);
        Objects.requireNonNull(fix);
    }

    /** A finding that explains itself. */
    public static Finding of(Severity severity, String check, String seen) {
        return new Finding(severity, check, seen, "", "", "");
    }
}
