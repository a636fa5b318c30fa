// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

/** The rules that are judged by what every proof leaves behind. */
final class Standing {
    /** Memory is back at its baseline once everything is closed. */
    static final String MEMORY_RETURNS = "LIF-001";
    /** Closing what was opened does not fail. */
    static final String CLOSING_WORKS = "LIF-002";
    /** Nothing writes outside of its operands. */
    static final String NOTHING_OUTSIDE = "MEM-001";

    /** Nothing is logged at level WARNING or above. */
    static final String NO_WARNINGS = "LIF-017";

    private Standing() {}
}
