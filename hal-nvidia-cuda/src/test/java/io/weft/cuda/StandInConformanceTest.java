// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

/** The plugin's whole native path by the rules, on the stand-in. */
class StandInConformanceTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static Report judge(int devices, RunOptions options) {
        StandIn standIn = StandIn.without("conformance-" + devices);
        standIn.set("devices", devices);
        return Conformance.run(
                Subject.of(new CudaProvider(), standIn.uri("stall-timeout-ms=100"), List.of()),
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
        Report two = judge(2, RunOptions.defaults().withLevel(Level.FULL));
        assertGood(two);
        assertTrue(two.counts().getOrDefault(Outcome.PASSED, 0) > 250, "most rules were judged: " + two.counts());
        List<String> larger = two.verdicts().stream()
                .filter(verdict -> verdict.outcome() == Outcome.NOT_APPLICABLE
                        && verdict.reason().contains("devices"))
                .map(verdict -> verdict.rule().id())
                .toList();
        Report four = judge(4, RunOptions.defaults().withRules(larger));
        assertGood(four);
        assertTrue(four.counts().getOrDefault(Outcome.PASSED, 0) > 10, "collectives of more ranks: " + four.counts());
    }
}
