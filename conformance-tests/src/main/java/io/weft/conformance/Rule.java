// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.api.Capability;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * One rule of the catalogue.
 *
 * @param id such as {@code STR-003}; never used again for another rule
 * @param area where it belongs
 * @param sentence what a backend must or should do, with the word MUST or SHOULD
 * @param obligation which of the two
 * @param since the suite's version that has it first
 * @param level from which level on a run asks for it
 * @param capabilities what a platform must declare for the rule to apply
 * @param profile the feature it belongs to, if any
 * @param check what to look at first when it is broken
 * @param requires rules that must hold for this one to be judged, nearest first
 * @param unproven why there is no proof; empty when there is one
 * @param standing whether it is judged by what every proof leaves behind
 */
public record Rule(
        String id,
        Area area,
        String sentence,
        Obligation obligation,
        String since,
        Level level,
        Set<Capability> capabilities,
        Optional<Profile> profile,
        String check,
        List<String> requires,
        String unproven,
        boolean standing) {
    public Rule {
        Objects.requireNonNull(id);
        Objects.requireNonNull(area);
        Objects.requireNonNull(sentence);
        Objects.requireNonNull(obligation);
        Objects.requireNonNull(since);
        Objects.requireNonNull(level);
        Objects.requireNonNull(profile);
        Objects.requireNonNull(check);
        Objects.requireNonNull(unproven);
        capabilities = Set.copyOf(capabilities);
        requires = List.copyOf(requires);
    }

    /** Whether it has no proof. */
    public boolean isUnproven() {
        return !unproven.isEmpty();
    }
}
