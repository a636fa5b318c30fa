// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.amd.AmdProvider;
import io.weft.conformance.Conformance;
import io.weft.conformance.Level;
import io.weft.conformance.Outcome;
import io.weft.conformance.Report;
import io.weft.conformance.RunOptions;
import io.weft.conformance.Subject;
import io.weft.conformance.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The native platform follows every rule on the stand-in, and a fault of the library breaks a rule that is about it. */
class HipConformanceTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static Report judge(HipStandIn standIn, int devices, RunOptions options) {
        standIn.set("devices", devices);
        return Conformance.run(
                Subject.of(new AmdProvider(), standIn.uri("stall-timeout-ms=100"), List.of()),
                options.withPatience(PATIENCE).withFigures(false));
    }

    private static void assertGood(Report report) {
        String broken = report.verdicts().stream()
                .filter(verdict -> verdict.outcome().isBad())
                .map(Verdict::text)
                .collect(Collectors.joining("\n"));
        assertEquals("", broken + String.join("\n", report.problems()));
        assertTrue(report.isGood());
    }

    @Test
    void everyRuleHoldsOnTwoDevicesOrWhereItNeedsMoreOnFour() {
        Report two = judge(
                HipStandIn.alone("conformance-2"), 2, RunOptions.defaults().withLevel(Level.FULL));
        assertGood(two);
        assertTrue(two.counts().getOrDefault(Outcome.PASSED, 0) > 250, "most rules were judged: " + two.counts());
        assertEquals(0, HipStandIn.alone("conformance-2").get("stale-handles"), "a stream was used that was closed");
        List<String> larger = two.verdicts().stream()
                .filter(verdict -> verdict.outcome() == Outcome.NOT_APPLICABLE
                        && verdict.reason().contains("devices"))
                .map(verdict -> verdict.rule().id())
                .toList();
        Report four = judge(
                HipStandIn.alone("conformance-4"), 4, RunOptions.defaults().withRules(larger));
        assertGood(four);
        assertTrue(four.counts().getOrDefault(Outcome.PASSED, 0) > 10, "collectives of more ranks: " + four.counts());
    }

    @Test
    void aLibraryWhoseStreamsDoNotWaitBreaksTheRuleOfOrder() {
        HipStandIn wrong = HipStandIn.alone("conformance-wrong");
        wrong.set("ignore-waits", 1);
        wrong.set("lazy-copies", 1);
        Report report = judge(wrong, 1, RunOptions.defaults().withRules(List.of("STR-003")));
        assertTrue(
                report.verdicts().stream().anyMatch(verdict -> verdict.outcome() == Outcome.BROKEN),
                () -> "nothing is broken: " + report.counts());
    }
}
