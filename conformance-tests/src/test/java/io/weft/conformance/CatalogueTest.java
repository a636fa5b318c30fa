// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.conformance.bench.Bench;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CatalogueTest {
    private static final String RULE = """
              - id: DEV-001
                sentence: It MUST be so.
                level: core
                check: the thing
            """;

    private static Catalogue read(String rules) {
        return Catalogue.of(Map.of("rules.yaml", "area: DEV\nrules:\n" + rules));
    }

    private static void refused(String part, String rules) {
        UnusableInput refusal = assertThrows(UnusableInput.class, () -> read(rules));
        assertTrue(refusal.getMessage().contains(part), refusal.getMessage());
        assertEquals(1, refusal.getMessage().lines().count(), refusal.getMessage());
    }

    @Test
    void theSuiteHasAtLeastAHundredAndFiftyRules() {
        assertTrue(
                Catalogue.standard().rules().size() >= 150,
                () -> Catalogue.standard().rules().size() + " rules");
    }

    @Test
    void everyAreaHasRules() {
        for (Area area : Area.values()) {
            assertTrue(
                    Catalogue.standard().rules().stream().anyMatch(rule -> rule.area() == area), area + " has no rule");
        }
    }

    @Test
    void everyRuleIsProvenOrSaysWhyNot() {
        // Throws when one is neither, or both.
        assertFalse(ProofBook.standard(Catalogue.standard()).digest().isEmpty());
    }

    @Test
    void aRuleIsReadWithItsDefaults() {
        Rule rule = read(RULE).rule("DEV-001");
        assertEquals(Obligation.MUST, rule.obligation());
        assertEquals(Level.CORE, rule.level());
        assertEquals(List.of(), rule.requires());
        assertFalse(rule.isUnproven());
    }

    @Test
    void whatCannotBeReadIsNamed() {
        refused("there is no key 'sentense'", RULE + "    sentense: twice\n");
        refused("id 'MEM-001' must be DEV-", RULE.replace("DEV", "MEM"));
        refused("the id DEV-001 is taken", RULE + RULE);
        refused("must say either MUST or SHOULD", RULE.replace("MUST", "may"));
        refused("must say either MUST or SHOULD", RULE.replace("It MUST", "It MUST and SHOULD"));
        refused("'check' is missing", RULE.replace("    check: the thing\n", ""));
        refused("known are core, full", RULE.replace("core", "most"));
        refused("requires DEV-002, which is no rule", RULE + "    requires: [DEV-002]\n");
        refused("'teleport' is not known", RULE + "    capability: teleport\n");
    }

    @Test
    void rulesThatRequireEachOtherAreRefused() {
        refused(
                "requires itself",
                RULE + "    requires: [DEV-002]\n" + RULE.replace("DEV-001", "DEV-002") + "    requires: [DEV-001]\n");
    }

    @Test
    void aRuleComesAfterWhatItRequires() {
        Catalogue catalogue = read(RULE + "    requires: [DEV-002]\n" + RULE.replace("DEV-001", "DEV-002"));
        assertEquals(
                List.of("DEV-002", "DEV-001"),
                catalogue.inOrderOfDependence(catalogue.rules()).stream()
                        .map(Rule::id)
                        .toList());
    }

    @Test
    void anUnknownRuleNamesItsArea() {
        UnusableInput refusal =
                assertThrows(UnusableInput.class, () -> Catalogue.standard().rule("STR-999"));
        assertTrue(refusal.getMessage().contains("STR has STR-001 to STR-"), refusal.getMessage());
    }

    // Proofs.

    @SuppressWarnings({"unused", "DoNotCallSuggester"}) // Found by reflection.
    private static final class NamesNoRule {
        void forgotten(Bench bench) {
            bench.step("never run");
        }
    }

    @SuppressWarnings({"unused", "DoNotCallSuggester"}) // Found by reflection.
    private static final class NamesAnUnknownRule {
        @Proves("DEV-777")
        void unknown(Bench bench) {
            bench.step("never run");
        }
    }

    @SuppressWarnings({"unused", "DoNotCallSuggester"}) // Found by reflection.
    private static final class TakesNoBench {
        @Proves("DEV-001")
        void bare() {
            throw new IllegalStateException("never run");
        }
    }

    private static void noProof(String part, Class<?> type) {
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> ProofBook.of(read(RULE), List.of(type)));
        assertTrue(refusal.getMessage().contains(part), refusal.getMessage());
    }

    @Test
    void aProofWithoutARuleIsRefused() {
        noProof("names no rule", NamesNoRule.class);
        noProof("which is no rule", NamesAnUnknownRule.class);
        noProof("must take a bench", TakesNoBench.class);
    }

    @Test
    void aRuleWithoutAProofIsRefused() {
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> ProofBook.of(read(RULE), List.of()));
        assertTrue(refusal.getMessage().contains("neither a proof nor a reason"), refusal.getMessage());
    }
}
