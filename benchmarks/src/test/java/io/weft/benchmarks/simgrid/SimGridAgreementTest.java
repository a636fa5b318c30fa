// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.simgrid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The engine against what SimGrid found for the same problems; the record says which command made it. */
class SimGridAgreementTest {
    private static RecordedTimes recorded() throws IOException {
        return RecordedTimes.parse(Files.readAllLines(Path.of("simgrid", "recorded-finish-times.txt")));
    }

    static List<FluidProblem> problems() {
        return FluidProblem.all();
    }

    @Test
    void theRecordHasTheProblemsOfTheHarness() throws IOException {
        assertEquals(
                problems().stream().map(FluidProblem::name).toList(), recorded().problems());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("problems")
    void everyFlowEndsWithinOnePercentOfSimGrids(FluidProblem problem) throws IOException {
        double difference = RecordedTimes.worstDifference(recorded().of(problem.name()), problem.finishTimes());
        assertTrue(
                difference <= SimGridComparison.TOLERANCE,
                () -> problem.name() + ": a finish time differs by " + 100 * difference + " %");
    }

    @Test
    void aTimeThatIsMissingOrDifferentIsFound() {
        double[] expected = {1, 2, 4};
        assertEquals(0.25, RecordedTimes.worstDifference(expected, new double[] {1, 2.5, 4}), 1e-12);
        assertEquals(Double.POSITIVE_INFINITY, RecordedTimes.worstDifference(expected, new double[] {1, 2}));
        assertEquals(
                Double.POSITIVE_INFINITY, RecordedTimes.worstDifference(expected, new double[] {1, Double.NaN, 4}));
    }
}
