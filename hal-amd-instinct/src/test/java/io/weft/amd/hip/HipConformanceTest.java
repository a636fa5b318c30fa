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
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The native platform follows every rule on the stand-in, and a fault of the library breaks the rule that is about it. */
class HipConformanceTest {
    private static Report judge(HipStandIn standIn, RunOptions options) {
        return Conformance.run(
                Subject.of(new AmdProvider(), standIn.uri(), List.of()), options.withFigures(false).withWatched(false));
    }

    @Test
    void levelFullIsPassedWithoutWaivers() {
        Report report = judge(HipStandIn.alone("conform"), RunOptions.defaults().withLevel(Level.FULL));
        assertTrue(
                report.isGood(),
                () -> report.problems()
                        + report.bad().stream().map(Verdict::text).collect(Collectors.joining("\n\n", "\n", "")));
        assertTrue(report.counts().get(Outcome.PASSED) > 80, () -> "too little was judged: " + report.counts());
        assertEquals("", report.absent());
    }

    @Test
    void aLibraryWhoseStreamsDoNotWaitBreaksTheRulesOfOrder() {
        HipStandIn wrong = HipStandIn.alone("conform-wrong");
        wrong.set("ignore-waits", 1);
        wrong.set("late-copy-us", 2_000);
        Report report = judge(wrong, RunOptions.defaults().withRules(List.of("EV-002")));
        assertTrue(
                report.verdicts().stream().anyMatch(verdict -> verdict.outcome() == Outcome.BROKEN),
                () -> "nothing is broken: " + report.counts());
    }
}
