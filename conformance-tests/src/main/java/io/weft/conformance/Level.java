// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

/** How much a run asks for. */
public enum Level {
    /** What any program needs: the light run of everyday development. */
    CORE,
    /** Everything; the run behind a claim. */
    FULL;

    /** Whether a run of this level asks for rules of the other. */
    public boolean includes(Level other) {
        return other.compareTo(this) <= 0;
    }
}
