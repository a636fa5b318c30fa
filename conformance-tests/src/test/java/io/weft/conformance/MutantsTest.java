// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.conformance.mutants.Mutant;
import io.weft.conformance.mutants.MutantProvider;
import io.weft.conformance.mutants.Mutants;
import io.weft.sim.provider.SimProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The suite is tested: each mutant of the reference backend breaks exactly its rule.
 *
 * <p>Light, unless {@code -Dweft.conformance=full}: the rule, what it requires, and a sample of others. Full: every rule. {@code -Dweft.mutant=STR-003} picks mutants by the
 * start of their rule's id.
 */
class MutantsTest {
    private static final Duration PATIENCE = Duration.ofMillis(1500);
    private static final int SAMPLE = 12;
    /** Rules that take four fifths of the suite's time together, most of them for going through all types, operations and sizes. */
    static final Set<String> COSTLY = Set.of(
            "COL-013", "COL-014", "COL-015", "COL-016", "COL-017", "COL-018", "GEM-003", "GRF-003", "GRF-005",
            "STR-015", "STR-016", "SYM-035");
    /** Of the costly ones that are drawn as others, one in so many is run. */
    private static final int COSTLY_ONE_IN = 6;

    private static final long SEED = 1;
    private static final Catalogue CATALOGUE = Catalogue.standard();
    private static final ProofBook PROOFS = ProofBook.standard(CATALOGUE);

    static boolean isFull() {
        return "full".equals(System.getProperty("weft.conformance"));
    }

    @AfterAll
    static void end() {
        Mutants.end();
    }

    @TestFactory
    Stream<DynamicTest> eachMutantBreaksExactlyItsRule() {
        String wanted = System.getProperty("weft.mutant", "");
        return Mutants.all().stream()
                .filter(mutant -> mutant.rule().startsWith(wanted))
                .map(mutant -> DynamicTest.dynamicTest(mutant.toString(), () -> isCaught(mutant)));
    }

    private static void isCaught(Mutant mutant) {
        Report report = run(mutant, PATIENCE);
        boolean hung = report.verdicts().stream().anyMatch(verdict -> verdict.outcome() == Outcome.HUNG);
        if (hung && !failed(report).equals(Set.of(mutant.rule()))) {
            // On a machine that is busy with other things a proof may take its time.
            report = run(mutant, RunOptions.DEFAULT_PATIENCE);
        }
        Report last = report;
        assertEquals(
                Set.of(mutant.rule()),
                failed(last),
                () -> mutant + "\n"
                        + last.verdicts().stream()
                                .filter(verdict ->
                                        verdict.outcome().isExecuted() && verdict.outcome() != Outcome.PASSED)
                                .map(Verdict::text)
                                .collect(Collectors.joining("\n"))
                        + last.problems());
    }

    private static Report run(Mutant mutant, Duration patience) {
        Subject subject = Subject.of(
                new MutantProvider(new SimProvider(), mutant.mutation().get()), mutant.uri(), List.of());
        RunOptions options = RunOptions.defaults()
                .withSeed(SEED)
                .withPatience(patience)
                .withFigures(false)
                .withRules(isFull() ? List.of() : light(mutant));
        return Conformance.run(subject, options, CATALOGUE, PROOFS);
    }

    private static Set<String> failed(Report report) {
        return report.verdicts().stream()
                .filter(verdict -> verdict.outcome().isBad() || verdict.outcome() == Outcome.NOT_FOLLOWED)
                .map(verdict -> verdict.rule().id())
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** The rule, what it requires, and a sample of others; every rule for a standing one. */
    private static List<String> light(Mutant mutant) {
        Rule rule = CATALOGUE.rule(mutant.rule());
        if (rule.standing()) {
            return List.of(); // Any proof may be the one that leaves something behind.
        }
        Set<String> wanted = new LinkedHashSet<>();
        CATALOGUE.required(rule).forEach(required -> wanted.add(required.id()));
        wanted.add(rule.id());
        List<Rule> others = new ArrayList<>(CATALOGUE.rules());
        Random random = new Random(mutant.toString().hashCode());
        Collections.shuffle(others, random);
        for (Rule other : others.subList(0, Math.min(SAMPLE, others.size()))) {
            if (COSTLY.contains(other.id()) && random.nextInt(COSTLY_ONE_IN) != 0) {
                continue;
            }
            CATALOGUE.required(other).forEach(required -> wanted.add(required.id()));
            wanted.add(other.id());
        }
        return List.copyOf(wanted);
    }

    @Test
    void everyMustRuleHasAMutant() {
        Set<String> caught = Mutants.all().stream().map(Mutant::rule).collect(Collectors.toSet());
        List<String> holes = CATALOGUE.rules().stream()
                .filter(rule -> rule.obligation() == Obligation.MUST && !rule.isUnproven())
                .map(Rule::id)
                .filter(id -> !caught.contains(id))
                .toList();
        assertEquals(List.of(), holes, "no mutant breaks these rules, so nobody knows whether their proofs can fail");
    }

    @Test
    void everyCostlyRuleIsARule() {
        assertTrue(COSTLY.stream().allMatch(id -> CATALOGUE.find(id).isPresent()), COSTLY::toString);
    }

    @Test
    void everyMutantNamesARule() {
        for (Mutant mutant : Mutants.all()) {
            assertTrue(CATALOGUE.find(mutant.rule()).isPresent(), mutant.toString());
        }
    }
}
