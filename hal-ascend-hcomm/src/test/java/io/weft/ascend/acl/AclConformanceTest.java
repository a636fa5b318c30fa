// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.ascend.AscendProvider;
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

/** The native platform against the whole suite, on the stand-in. */
class AclConformanceTest {
    @Test
    void everyRuleHolds() {
        AclStandIn standIn = AclStandIn.apart("judged");
        Report report = Conformance.run(
                Subject.of(
                        new AscendProvider(),
                        standIn.uri("stall-timeout-ms=100").toString(),
                        List.of()),
                RunOptions.defaults()
                        .withLevel(Level.FULL)
                        .withPatience(Duration.ofSeconds(60))
                        .withFigures(false));
        String broken = report.verdicts().stream()
                .filter(verdict -> verdict.outcome().isBad())
                .map(Verdict::text)
                .collect(Collectors.joining("\n"));
        assertEquals("", broken);
        assertTrue(report.counts().getOrDefault(Outcome.PASSED, 0) > 80, "most rules were judged: " + report.counts());
    }
}
