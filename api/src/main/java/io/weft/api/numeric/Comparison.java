// SPDX-License-Identifier: Apache-2.0
package io.weft.api.numeric;

/**
 * The outcome of {@link Expected#compare}.
 *
 * @param elements how many were compared
 * @param wrong how many were further off than allowed
 * @param maxUlp largest distance seen, in units in the last place beyond what cancellation explains
 * @param first the first wrong element in row-major order, or null
 */
public record Comparison(long elements, long wrong, long maxUlp, Mismatch first) {
    /**
     * One wrong element.
     *
     * @param entry batch entry
     * @param row from 0
     * @param column from 0
     * @param expected value before rounding to the result's type
     * @param actual value found
     * @param ulps distance, {@link Ulp#INCOMPARABLE} if one of them is NaN
     */
    public record Mismatch(int entry, int row, int column, double expected, double actual, long ulps) {}

    /** Whether every element was right. */
    public boolean right() {
        return wrong == 0;
    }
}
