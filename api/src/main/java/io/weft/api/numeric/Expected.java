// SPDX-License-Identifier: Apache-2.0
package io.weft.api.numeric;

import io.weft.api.ElementType;

/**
 * What a computation should give, in double precision, with how much fp32 arithmetic may be off.
 *
 * <p>Made by {@link Reference}. Holds {@code batch * rows * columns} values, row-major. Immutable once made.
 */
public final class Expected {
    /** One unit in the last place of fp32 arithmetic relative to its result is at most 2^-23; rounding is off by half of it. */
    private static final double FP32_ROUNDING = 0x1p-24;

    private final int batch;
    private final int rows;
    private final int columns;
    private final int terms;
    private final double[] values;
    private final double[] magnitudes;

    /**
     * @param terms how many fp32 roundings may lie behind an element
     * @param magnitudes for each element, the sum of its terms' absolute values
     */
    Expected(int batch, int rows, int columns, int terms, double[] values, double[] magnitudes) {
        this.batch = batch;
        this.rows = rows;
        this.columns = columns;
        this.terms = terms;
        this.values = values;
        this.magnitudes = magnitudes;
    }

    /** The value of an element before rounding to any type. */
    public double value(int entry, int row, int column) {
        return values[index(entry, row, column)];
    }

    /**
     * How far the result of fp32 arithmetic, in any order of summation, may lie from {@link #value}, before it is rounded to the
     * output's type: {@code terms * 2^-24} times the sum of the terms' absolute values (Higham, Accuracy and Stability of Numerical
     * Algorithms, 2nd ed., section 4.2; first order). Large against the value where terms cancel.
     */
    public double slack(int entry, int row, int column) {
        return slack(index(entry, row, column));
    }

    private double slack(int index) {
        return terms * FP32_ROUNDING * magnitudes[index];
    }

    private int index(int entry, int row, int column) {
        return (entry * rows + row) * columns + column;
    }

    /**
     * Compares a result with this.
     *
     * <p>An element is right if it lies within {@code maxUlp} of the expected value rounded to its type, or between the
     * roundings of {@code value - slack} and {@code value + slack} widened by {@code maxUlp}. NaN is right where NaN is expected.
     *
     * @param actual same shape; any element type
     * @param maxUlp at least 0
     * @throws IllegalArgumentException if the shapes differ
     */
    public Comparison compare(HostMatrix actual, long maxUlp) {
        if (actual.batch() != batch || actual.rows() != rows || actual.columns() != columns) {
            throw new IllegalArgumentException("a result of [" + actual.batch() + ", " + actual.rows() + ", "
                    + actual.columns() + "] is compared with [" + batch + ", " + rows + ", " + columns + "]");
        }
        ElementType type = actual.type();
        long wrong = 0;
        long worst = 0;
        Comparison.Mismatch first = null;
        for (int entry = 0; entry < batch; entry++) {
            for (int row = 0; row < rows; row++) {
                for (int column = 0; column < columns; column++) {
                    int index = index(entry, row, column);
                    int bits = actual.bits(entry, row, column);
                    long ulps = Ulp.distance(type, Elements.nearest(type, values[index]), bits);
                    if (ulps > maxUlp && ulps != Ulp.INCOMPARABLE && !Double.isInfinite(values[index])) {
                        ulps = Math.min(ulps, beyondSlack(type, index, bits));
                    }
                    worst = Math.max(worst, ulps);
                    if (ulps > maxUlp) {
                        wrong++;
                        if (first == null) {
                            first = new Comparison.Mismatch(
                                    entry, row, column, values[index], Elements.value(type, bits), ulps);
                        }
                    }
                }
            }
        }
        return new Comparison((long) batch * rows * columns, wrong, worst, first);
    }

    // Distance to the nearest end of the interval that fp32 arithmetic may end in; 0 inside.
    private long beyondSlack(ElementType type, int index, int bits) {
        double slack = slack(index);
        double value = Elements.value(type, bits);
        int low = Elements.nearest(type, values[index] - slack);
        int high = Elements.nearest(type, values[index] + slack);
        if (value >= Elements.value(type, low) && value <= Elements.value(type, high)) {
            return 0;
        }
        return Math.min(Ulp.distance(type, low, bits), Ulp.distance(type, high, bits));
    }
}
