// SPDX-License-Identifier: Apache-2.0
package io.weft.amd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.conformance.Conformance;
import io.weft.conformance.Level;
import io.weft.conformance.Outcome;
import io.weft.conformance.Report;
import io.weft.conformance.RunOptions;
import io.weft.conformance.Subject;
import io.weft.conformance.Verdict;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Modelled nodes follow the conformance rules, with nothing waived. The areas in which this plugin has rules of its own are judged in full at every build; the others are the
 * simulator's, which its own tests judge, and {@code weft conform --on amd:mi300x-8 --level full} judges all.
 */
class ModelConformanceTest {
    @ParameterizedTest
    @CsvSource({
        "amd:mi250x-8, COL, 60",
        "amd:mi300x-8?HSA_ENABLE_SDMA=0, CPY, 20",
        "amd:mi300x-8?sdma-engines=1, CPY, 20",
        "amd:mi100-8, PRV, 5"
    })
    void everyRuleOfAnAreaHolds(String uri, String area, int least) {
        List<String> rules = Conformance.rules(RunOptions.defaults().withLevel(Level.FULL)).stream()
                .map(rule -> rule.id())
                .filter(id -> id.startsWith(area + "-"))
                .toList();
        Report report = Conformance.run(
                Subject.of(new AmdProvider(), uri, List.of()),
                RunOptions.defaults().withRules(rules).withFigures(false));
        String broken = report.verdicts().stream()
                .filter(verdict -> verdict.outcome().isBad())
                .map(Verdict::text)
                .collect(Collectors.joining("\n"));
        assertEquals("", broken + String.join("\n", report.problems()));
        assertTrue(report.isGood());
        assertTrue(report.counts().getOrDefault(Outcome.PASSED, 0) >= least, () -> uri + " " + report.counts());
    }
}
