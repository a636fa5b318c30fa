// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.ElementType;
import io.weft.runtime.json.JsonReader;
import io.weft.runtime.json.JsonValue;
import io.weft.runtime.json.JsonValue.ArrayValue;
import io.weft.runtime.json.JsonValue.ObjectValue;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.Schedule;
import io.weft.scheduler.verify.VerificationResult.Difference;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class RunReportTest {
    private static RunReport report(Optional<RunReport.Check> check) {
        return new RunReport(
                "model",
                "sim:mesh-8",
                OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 8, 4, 4, ElementType.BF16, 2),
                7,
                List.of(new RunReport.Run(Schedule.serial(), 12.5, 1, check)),
                "",
                List.of());
    }

    private static Map<String, JsonValue> run(RunReport report) {
        ObjectValue root = (ObjectValue) JsonReader.parse("run", "run.json", report.json());
        return ((ObjectValue) ((ArrayValue) root.members().get("runs")).items().getFirst()).members();
    }

    @Test
    void aRunHasExactlyTheKeysOfTheContractInTheirOrder() {
        RunReport good = report(Optional.of(new RunReport.Check(true, 1, true, Optional.empty())));
        assertTrue(good.isGood());
        assertEquals(
                List.of("schedule", "chunks", "us", "speedup", "verified", "maxUlp", "bitIdentical"),
                List.copyOf(run(good).keySet()));
    }

    @Test
    void whatWasNotCheckedIsNullAndNotFalse() {
        RunReport unchecked = report(Optional.empty());
        assertTrue(unchecked.isGood());
        assertEquals("null", run(unchecked).get("verified").describe());
    }

    @Test
    void aWrongNumberIsNamedAndANumberThatJsonLacksIsNull() {
        RunReport bad = report(Optional.of(
                new RunReport.Check(false, 99, false, Optional.of(new Difference(1, 2, 3, 0.5, Double.NaN)))));
        assertFalse(bad.isGood());
        Map<String, JsonValue> difference = ((ObjectValue) run(bad).get("difference")).members();
        assertEquals("1", difference.get("rank").describe());
        assertEquals("0.5", difference.get("expected").describe());
        assertEquals("null", difference.get("actual").describe());
    }
}
