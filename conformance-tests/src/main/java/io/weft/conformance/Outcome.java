// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

/** What became of a rule in a run. */
public enum Outcome {
    /** Its proofs hold. */
    PASSED("passed"),
    /** A proof failed. */
    BROKEN("broken"),
    /** A SHOULD rule whose proof failed: told, not counted against the backend unless the run is strict. */
    NOT_FOLLOWED("not followed"),
    /** A proof did not end in its time. Counts as broken. */
    HUNG("hung"),
    /** The rule speaks of a capability that the platform does not declare, and the plugin says so in its waivers. */
    UNSUPPORTED("unsupported"),
    /** The rule speaks of a capability that the platform does not declare, or of devices that it does not have. */
    NOT_APPLICABLE("not applicable"),
    /** A rule that it requires is broken, so a failure here would say nothing new. */
    NOT_JUDGED("not judged"),
    /** It is broken as its known-failure waiver says. */
    WAIVED("waived"),
    /** It has a known-failure waiver and holds: the waiver must go. */
    UNEXPECTED_PASS("unexpected pass"),
    /** The catalogue gives no proof and says why. */
    UNPROVEN("unproven");

    private final String label;

    Outcome(String label) {
        this.label = label;
    }

    /** For people and files. */
    public String label() {
        return label;
    }

    /** Whether the run fails by it. */
    public boolean isBad() {
        return this == BROKEN || this == HUNG || this == UNEXPECTED_PASS;
    }

    /** Whether a proof ran to its end. */
    public boolean isExecuted() {
        return switch (this) {
            case PASSED, BROKEN, NOT_FOLLOWED, HUNG, WAIVED, UNEXPECTED_PASS -> true;
            default -> false;
        };
    }
}
