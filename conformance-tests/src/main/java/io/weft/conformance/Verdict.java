// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import java.util.List;
import java.util.Objects;

/**
 * The verdict on one rule.
 *
 * @param rule which
 * @param outcome what became of it
 * @param proof the method that failed, or that ran last; empty when none ran
 * @param expected what was expected; empty unless it failed
 * @param actual what was seen; empty unless it failed
 * @param reason why it was not judged, does not apply or is waived; empty otherwise
 * @param details further lines for people, such as a stack or what each rank did last
 * @param nanos real time that its proofs took
 */
public record Verdict(
        Rule rule,
        Outcome outcome,
        String proof,
        String expected,
        String actual,
        String reason,
        List<String> details,
        long nanos) {
    public Verdict {
        Objects.requireNonNull(rule);
        Objects.requireNonNull(outcome);
        Objects.requireNonNull(proof);
        Objects.requireNonNull(expected);
        Objects.requireNonNull(actual);
        Objects.requireNonNull(reason);
        details = List.copyOf(details);
    }

    static Verdict without(Rule rule, Outcome outcome, String reason) {
        return new Verdict(rule, outcome, "", "", "", reason, List.of(), 0);
    }

    Verdict as(Outcome other, String why) {
        return new Verdict(rule, other, proof, expected, actual, why, details, nanos);
    }

    /** The failure in words: the rule, expected, actual, what to check first. Several lines. */
    public String text() {
        StringBuilder text = new StringBuilder(rule.id()).append(": ").append(rule.sentence());
        if (!expected.isEmpty()) {
            text.append("\n  expected:    ").append(expected);
        }
        if (!actual.isEmpty()) {
            text.append("\n  actual:      ").append(actual);
        }
        if (!reason.isEmpty()) {
            text.append("\n  reason:      ").append(reason);
        }
        text.append("\n  check first: ").append(rule.check());
        if (!proof.isEmpty()) {
            text.append("\n  proof:       ").append(proof);
        }
        details.forEach(line -> text.append("\n  ").append(line));
        return text.toString();
    }
}
