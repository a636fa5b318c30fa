// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.conformance.mutants.Mutant;
import io.weft.conformance.mutants.MutantProvider;
import io.weft.conformance.mutants.Mutants;
import io.weft.sim.provider.SimProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WaiversTest {
    private static final Catalogue CATALOGUE = Catalogue.standard();
    private static final LocalDate TODAY = LocalDate.of(2026, 12, 1);
    private static final String KNOWN = """
            known-failures:
              - rule: DEV-003
                reason: the driver gives no name
                issue: https://example.org/issues/7
                device: mesh
                expires: 2027-01-31
            """;

    private static Waivers parse(String text) {
        return Waivers.parse("waivers.yaml", text, CATALOGUE);
    }

    private static void refused(String part, String text) {
        UnusableInput refusal = assertThrows(UnusableInput.class, () -> parse(text));
        assertTrue(refusal.getMessage().contains(part), refusal.getMessage());
        assertTrue(refusal.getMessage().startsWith("waivers.yaml"), refusal.getMessage());
        assertEquals(1, refusal.getMessage().lines().count(), refusal.getMessage());
    }

    /** A backend whose fourth device has no name. */
    private static Subject nameless() {
        Mutant mutant = Mutants.all().stream()
                .filter(one -> one.rule().equals("DEV-003"))
                .findFirst()
                .orElseThrow();
        return Subject.of(
                new MutantProvider(new SimProvider(), mutant.mutation().get()), Mutant.MESH, List.of());
    }

    private static Report run(Subject subject, String waivers) {
        return Conformance.run(
                subject,
                RunOptions.defaults()
                        .withFigures(false)
                        .withToday(TODAY)
                        .withRules(List.of("DEV-001", "DEV-003"))
                        .withWaivers(parse(waivers)));
    }

    private static Outcome outcome(Report report, String rule) {
        return report.verdicts().stream()
                .filter(verdict -> verdict.rule().id().equals(rule))
                .findFirst()
                .orElseThrow()
                .outcome();
    }

    @Test
    void whatCannotBeReadIsNamed() {
        refused("there is no key 'knwon-failures'", KNOWN.replace("known-failures", "knwon-failures"));
        refused(
                "there is no key 'expirse'",
                KNOWN.replace("expires: 2027-01-31", "expires: 2027-01-31\n    expirse: 1"));
        refused("a day such as 2027-01-31", KNOWN.replace("2027-01-31", "next month"));
        refused("'issue' is missing", KNOWN.replace("    issue: https://example.org/issues/7\n", ""));
        refused("DEV has DEV-001 to", KNOWN.replace("DEV-003", "DEV-999"));
        refused("'device' or 'driver' must say where", KNOWN.replace("    device: mesh\n", ""));
        refused("is no regular expression", KNOWN.replace("device: mesh", "device: '['"));
        refused("must be a list", "known-failures: all of them");
        refused("is not known; known are", "unsupported:\n  - capability: teleport\n    reason: none\n");
        refused("this is no YAML", "known-failures: [");
        refused("DEV-003 is waived twice", KNOWN + KNOWN.lines().skip(1).reduce("", (a, b) -> a + b + "\n"));
    }

    @Test
    void aMissingFileIsNamed(@TempDir Path folder) throws Exception {
        Path missing = folder.resolve("none.yaml");
        UnusableInput refusal = assertThrows(UnusableInput.class, () -> Waivers.read(missing, CATALOGUE));
        assertTrue(refusal.getMessage().contains("none.yaml"), refusal.getMessage());
        Path binary = Files.write(folder.resolve("binary.yaml"), new byte[] {(byte) 0xC3, 0x28, 0});
        assertThrows(UnusableInput.class, () -> Waivers.read(binary, CATALOGUE));
        assertEquals(Waivers.NONE, Waivers.read(Files.writeString(folder.resolve("empty.yaml"), ""), CATALOGUE));
    }

    @Test
    void aKnownFailureIsWaived() {
        Report report = run(nameless(), KNOWN);
        assertEquals(Outcome.WAIVED, outcome(report, "DEV-003"));
        assertTrue(report.isGood(), () -> report.problems().toString());
    }

    @Test
    void aWaivedRuleThatHoldsFailsTheRun() {
        Report report = run(Subject.of(new SimProvider(), Mutant.MESH, List.of()), KNOWN);
        assertEquals(Outcome.UNEXPECTED_PASS, outcome(report, "DEV-003"));
        assertFalse(report.isGood());
    }

    @Test
    void anExpiredWaiverFailsTheRunAndWaivesNothing() {
        Report report = run(nameless(), KNOWN.replace("2027-01-31", "2026-11-30"));
        assertEquals(Outcome.BROKEN, outcome(report, "DEV-003"));
        assertTrue(
                report.problems().getFirst().contains("expired on 2026-11-30"),
                () -> report.problems().toString());
    }

    @Test
    void aWaiverForOtherDevicesWaivesNothing() {
        assertEquals(
                Outcome.BROKEN, outcome(run(nameless(), KNOWN.replace("device: mesh", "device: ^Torus")), "DEV-003"));
        assertEquals(
                Outcome.BROKEN,
                outcome(run(nameless(), KNOWN.replace("device: mesh", "driver: '^driver=1\\.'")), "DEV-003"));
        assertEquals(
                Outcome.WAIVED,
                outcome(run(nameless(), KNOWN.replace("device: mesh", "driver: '^mode=func'")), "DEV-003"));
    }

    @Test
    void anUnsupportedCapabilityMustBeMissing() {
        String waivers = "unsupported:\n  - capability: storage\n    reason: it only keeps time\n";
        Report wrong = run(Subject.of(new SimProvider(), Mutant.MESH, List.of()), waivers);
        assertTrue(
                wrong.problems().getFirst().contains("the platform declares it"),
                () -> wrong.problems().toString());
        RunOptions options = RunOptions.defaults()
                .withFigures(false)
                .withStrict(true)
                .withRules(List.of("DEV-001", "MEM-002"))
                .withWaivers(parse(waivers));
        Subject timing = Subject.of(new SimProvider(), "sim:mesh-8?mode=timing", List.of());
        Report right = Conformance.run(timing, options);
        assertEquals(Outcome.UNSUPPORTED, outcome(right, "MEM-002"));
        assertTrue(right.isGood(), () -> right.problems().toString());
        Report silent = Conformance.run(timing, options.withWaivers(Waivers.NONE));
        assertEquals(Outcome.NOT_APPLICABLE, outcome(silent, "MEM-002"));
        assertTrue(
                silent.problems().getFirst().contains("does not declare STORAGE"),
                () -> silent.problems().toString());
    }
}
