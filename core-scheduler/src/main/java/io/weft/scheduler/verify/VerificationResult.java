// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler.verify;

import io.weft.scheduler.OverlapRun;
import io.weft.scheduler.Schedule;
import java.util.Optional;

/**
 * The outcome of one checked run.
 *
 * @param schedule what ran
 * @param verified whether every element is within its bound and, on a model and where the schedule promises so, has the bits of the serial schedule
 * @param maxUlp largest distance to the reference in units in the last place of the result's type, beyond what fp32 sums and rounded partial products explain; see {@link Verification}
 * @param bitIdentical whether every element has the bits of the serial schedule's
 * @param difference the first wrong element
 * @param run the run, for its timeline
 */
public record VerificationResult(
        Schedule schedule,
        boolean verified,
        long maxUlp,
        boolean bitIdentical,
        Optional<Difference> difference,
        OverlapRun run) {
    /**
     * One wrong element.
     *
     * @param rank whose result
     * @param row from 0, in that rank's result
     * @param column from 0
     * @param expected the reference's value, or the serial schedule's where only its bits were missed
     * @param actual the value found
     */
    public record Difference(int rank, long row, long column, double expected, double actual) {
        /** Such as {@code rank 1, row 7, column 3: expected 1.25, actual NaN}. */
        @Override
        public String toString() {
            return "rank " + rank + ", row " + row + ", column " + column + ": expected " + expected + ", actual "
                    + actual;
        }
    }
}
