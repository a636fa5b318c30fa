// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.PlatformUri;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.NotApplicable;
import io.weft.conformance.mutants.Mutant;
import io.weft.conformance.mutants.MutantProvider;
import io.weft.conformance.mutants.Mutants;
import io.weft.sim.provider.SimProvider;
import io.weft.spi.AcceleratorProvider;
import io.weft.spi.DriverDecorator;
import io.weft.spi.PlatformDriver;
import io.weft.spi.Probe;
import io.weft.spi.ProviderDescriptor;
import io.weft.spi.Target;
import io.weft.spi.decorator.DriverObserver;
import io.weft.spi.decorator.ObservedPlatform;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RunTest {
    private static final RunOptions OPTIONS = RunOptions.defaults().withFigures(false);
    private static final Subject SIM = Subject.of(new SimProvider(), Mutant.MESH, List.of());

    private static Subject mutant(String rule) {
        Mutant mutant = Mutants.all().stream()
                .filter(one -> one.rule().equals(rule))
                .findFirst()
                .orElseThrow();
        return Subject.of(
                new MutantProvider(new SimProvider(), mutant.mutation().get()), mutant.uri(), List.of());
    }

    private static Map<String, Outcome> outcomes(Report report) {
        return report.verdicts().stream()
                .collect(Collectors.toMap(verdict -> verdict.rule().id(), Verdict::outcome));
    }

    /** Rules and proofs of this test's own. */
    private static Report run(Class<?> proofs, RunOptions options, String... requirements) {
        StringBuilder rules = new StringBuilder("area: DEV\nrules:\n");
        for (int i = 1; i <= requirements.length; i++) {
            rules.append("  - id: DEV-00")
                    .append(i)
                    .append("\n    sentence: Rule ")
                    .append(i);
            rules.append(" MUST hold.\n    level: core\n    check: this test\n");
            if (!requirements[i - 1].isEmpty()) {
                rules.append("    requires: [").append(requirements[i - 1]).append("]\n");
            }
        }
        Catalogue catalogue = Catalogue.of(Map.of("rules.yaml", rules.toString()));
        return Conformance.run(SIM, options, catalogue, ProofBook.of(catalogue, List.of(proofs)));
    }

    // Proofs, one for each thing that can happen.

    @SuppressWarnings("unused") // Found by their annotation.
    private static final class Chain {
        @Proves("DEV-001")
        void breaks(Bench bench) {
            bench.that(false, "the sky to be green", "it is blue");
        }

        @Proves("DEV-002")
        void wouldHold(Bench bench) {
            bench.step("never run");
        }

        @Proves("DEV-003")
        void holds(Bench bench) {
            bench.equal("one", 1, 1);
        }
    }

    @SuppressWarnings("unused") // Found by their annotation.
    private static final class Hangs {
        @Proves("DEV-001")
        void hangs(Bench bench) {
            bench.step("waiting for what never comes");
            try (var stream = bench.device().createStream()) {
                stream.synchronize();
                while (!Thread.interrupted()) {
                    LockSupport.park(this);
                }
            }
        }

        @Proves("DEV-002")
        void goesOn(Bench bench) {
            bench.buffer(bench.device(), 64);
        }
    }

    @SuppressWarnings({"unused", "DoNotCallSuggester"}) // Found by their annotation.
    private static final class NothingApplies {
        @Proves("DEV-001")
        void inapplicable(Bench bench) {
            bench.step("looking for something to look at");
            throw new NotApplicable("there is nothing to look at on " + bench.platform());
        }
    }

    @SuppressWarnings({"unused", "DoNotCallSuggester"}) // Found by their annotation.
    private static final class Throws {
        @Proves("DEV-001")
        void throwsSomething(Bench bench) {
            bench.step("dividing by nothing");
            throw new ArithmeticException("/ by zero");
        }
    }

    @Test
    void aRuleThatRequiresABrokenOneIsNotJudged() {
        Report report = run(Chain.class, OPTIONS, "", "DEV-001", "");
        assertEquals(
                Map.of("DEV-001", Outcome.BROKEN, "DEV-002", Outcome.NOT_JUDGED, "DEV-003", Outcome.PASSED),
                outcomes(report));
        assertFalse(report.isGood());
    }

    @Test
    void aFailureSaysRuleExpectedActualAndWhatToCheckFirst() {
        Report report = run(Chain.class, OPTIONS.withSeed(5), "", "", "");
        Verdict broken = report.bad().getFirst();
        String text = broken.text();
        assertTrue(text.startsWith("DEV-001: Rule 1 MUST hold."), text);
        assertTrue(text.contains("expected:    the sky to be green"), text);
        assertTrue(text.contains("actual:      it is blue"), text);
        assertTrue(text.contains("check first: this test"), text);
        assertEquals(
                "weft conform --on 'sim:mesh-8?stall-timeout-ms=20' --rule DEV-001 --seed 5", report.rerun(broken));
    }

    @Test
    void aProofThatHangsIsNamedAndTheRunGoesOn() {
        run(Hangs.class, OPTIONS.withRules(List.of("DEV-002")), "", ""); // Loads what the short patience is not for.
        Report report = run(Hangs.class, OPTIONS.withPatience(Duration.ofMillis(700)), "", "");
        assertEquals(Map.of("DEV-001", Outcome.HUNG, "DEV-002", Outcome.PASSED), outcomes(report));
        Verdict hung = report.bad().getFirst();
        assertTrue(hung.expected().contains("waiting for what never comes"), hung.text());
        assertTrue(hung.details().stream().anyMatch(line -> line.contains("device 0 was last asked for")), hung.text());
        assertTrue(hung.details().stream().anyMatch(line -> line.contains("Hangs.hangs")), hung.text());
    }

    @Test
    void aRunThatExecutesNothingIsBad() {
        Report report = run(NothingApplies.class, OPTIONS, "");
        assertFalse(report.isGood());
        assertEquals(List.of("no proof was executed"), report.problems());
    }

    @Test
    void anExceptionOfTheBackendIsAFailureWithItsPlace() {
        Verdict broken = run(Throws.class, OPTIONS, "").bad().getFirst();
        assertTrue(broken.actual().contains("/ by zero"), broken.text());
        assertTrue(broken.expected().contains("dividing by nothing"), broken.text());
        assertTrue(broken.details().getFirst().contains("throwsSomething"), broken.text());
    }

    @Test
    void whatAProofLeavesBehindNamesTheProofAndHowToRunItAgain() {
        Report report = Conformance.run(mutant("LIF-001"), OPTIONS.withRules(some("LIF-001")));
        Verdict left = report.bad().getFirst();
        assertEquals("LIF-001", left.rule().id());
        String other = left.details().getFirst();
        assertTrue(other.startsWith("left by: "), other);
        String rule = other.substring("left by: ".length(), "left by: ".length() + 7);
        assertTrue(report.rerun(left).contains("--rule LIF-001 --rule " + rule), report.rerun(left));
        Report again = Conformance.run(mutant("LIF-001"), OPTIONS.withRules(List.of("LIF-001", rule)));
        assertEquals(Outcome.BROKEN, outcomes(again).get("LIF-001"));
    }

    @Test
    void theRandomOrderComesFromTheSeed() {
        List<String> catalogue = order(OPTIONS);
        List<String> first = order(OPTIONS.withOrder(Order.RANDOM).withSeed(3));
        assertEquals(first, order(OPTIONS.withOrder(Order.RANDOM).withSeed(3)));
        assertFalse(first.equals(catalogue), "the random order is that of the catalogue");
        assertEquals(Set.copyOf(catalogue), Set.copyOf(first));
    }

    private static List<String> order(RunOptions options) {
        List<String> order = new ArrayList<>();
        Conformance.run(
                SIM,
                options.withRules(some())
                        .withProgress(verdict -> order.add(verdict.rule().id())));
        return order;
    }

    /** The first rules of the catalogue, and others: enough for what does not depend on which rules they are. */
    private static List<String> some(String... more) {
        return Stream.concat(
                        Stream.of(more),
                        Conformance.rules(OPTIONS).stream()
                                .filter(rule -> !rule.standing())
                                .limit(60)
                                .map(Rule::id))
                .toList();
    }

    @Test
    void aRunOfCoreAsksForCoreAlone() {
        Report report = Conformance.run(SIM, OPTIONS.withLevel(Level.CORE));
        assertTrue(report.isGood(), () -> report.bad().toString());
        assertTrue(report.verdicts().stream().allMatch(verdict -> verdict.rule().level() == Level.CORE));
    }

    @Test
    void aProfileAsksForItsRulesAndDemandsItsCapability() {
        RunOptions graphs = OPTIONS.withProfiles(Set.of(Profile.GRAPHS));
        Report report = Conformance.run(SIM, graphs);
        assertTrue(report.isGood(), () -> report.bad().toString());
        assertTrue(report.verdicts().stream()
                .allMatch(verdict -> verdict.rule().profile().orElseThrow() == Profile.GRAPHS));
        Report without = Conformance.run(mutant("PRV-012"), OPTIONS.withProfiles(Set.of(Profile.VIRTUAL_MEMORY)));
        assertTrue(
                without.problems().getFirst().contains("the profile virtual-memory demands VIRTUAL_MEMORY"),
                () -> without.problems().toString());
    }

    @Test
    void anUnknownRuleCannotBeRun() {
        assertThrows(UnusableInput.class, () -> Conformance.run(SIM, OPTIONS.withRules(List.of("DEV-999"))));
    }

    // Absent hardware.

    private static final class AbsentProvider implements AcceleratorProvider {
        @Override
        public ProviderDescriptor descriptor() {
            return new SimProvider().descriptor();
        }

        @Override
        public Probe probe() {
            return new Probe.Absent("no such card");
        }

        @Override
        public List<Target> targets() {
            return List.of();
        }

        @Override
        public PlatformDriver open(PlatformUri uri) {
            throw new IllegalStateException("absent hardware is not opened");
        }
    }

    @Test
    void onlyAbsentHardwareSkipsARunAndStrictForbidsIt() {
        Subject absent = Subject.of(new AbsentProvider(), "sim:mesh-8", List.of());
        Report lenient = Conformance.run(absent, OPTIONS);
        assertTrue(lenient.isGood());
        assertEquals("no such card", lenient.absent());
        Report strict = Conformance.run(absent, OPTIONS.withStrict(true));
        assertFalse(strict.isGood());
        assertTrue(strict.problems().getFirst().contains("no such card"));
    }

    @Test
    void aPlatformThatCannotBeClosedIsAProblemOfTheRun() {
        DriverDecorator stubborn = new DriverDecorator() {
            @Override
            public String name() {
                return "stubborn";
            }

            @Override
            public String description() {
                return "a platform that cannot be closed";
            }

            @Override
            public PlatformDriver decorate(PlatformDriver platform) {
                return new ObservedPlatform(platform, new DriverObserver() {
                    @Override
                    public void beforeClose(PlatformDriver closing) {
                        throw new IllegalStateException("a queue is not empty");
                    }
                });
            }
        };
        Subject subject = Subject.of(new SimProvider(), Mutant.MESH, List.of(stubborn));
        Report report = Conformance.run(subject, OPTIONS.withRules(List.of("DEV-001")));
        assertFalse(report.isGood());
        assertTrue(
                report.problems().getFirst().contains("a queue is not empty"),
                () -> report.problems().toString());
    }

    @Test
    void figuresAreTakenApart() {
        Report report = Conformance.run(SIM, RunOptions.defaults().withRules(List.of("DEV-001")));
        assertTrue(report.figures().size() >= 4, () -> report.figures().toString());
        assertTrue(
                report.figures().values().stream().allMatch(value -> value > 0),
                () -> report.figures().toString());
    }
}
