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
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The native platform against the whole suite's core, on the stand-in. */
class AclConformanceTest {
    /** Rules about what the vendor's operators cannot be put together to: 8-bit floats, and means of whole numbers. */
    private static final Set<String> KNOWN = Set.of("GEM-003", "GEM-030", "GEM-032", "COL-019");

    @Test
    void everyRuleHoldsButTheKnownFour() {
        AclStandIn standIn = AclStandIn.apart("judged");
        Report report = Conformance.run(
                Subject.of(
                        new AscendProvider(),
                        standIn.uri("stall-timeout-ms=100").toString(),
                        List.of()),
                RunOptions.defaults()
                        .withLevel(Level.CORE)
                        .withPatience(Duration.ofSeconds(60))
                        .withFigures(false));
        String unknown = report.verdicts().stream()
                .filter(verdict -> verdict.outcome().isBad())
                .filter(verdict -> !KNOWN.contains(verdict.rule().id()))
                .map(Verdict::text)
                .collect(Collectors.joining("\n"));
        assertEquals("", unknown);
        Set<String> mended = report.verdicts().stream()
                .filter(verdict -> verdict.outcome() == Outcome.PASSED)
                .map(verdict -> verdict.rule().id())
                .filter(KNOWN::contains)
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(Set.of(), mended, "a rule that holds is no known gap any more");
        assertTrue(report.counts().getOrDefault(Outcome.PASSED, 0) > 80, "most rules were judged: " + report.counts());
    }
}
