// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.reference;

import io.weft.api.ElementType;
import java.util.Optional;

/** What some elements should be and how far they may be off. The arrays belong to whoever made it and are not copied. */
public final class Expectation {
    private final ElementType type;
    private final double[] values;
    private final double[] slack;
    private final int ulps;

    /**
     * @param type of the result
     * @param values before rounding to the type
     * @param slack absolute error allowed before rounding, for each element: what the order of fp32 additions may change
     * @param ulps units in the last place allowed after rounding
     */
    public Expectation(ElementType type, double[] values, double[] slack, int ulps) {
        this.type = type;
        this.values = values;
        this.slack = slack;
        this.ulps = ulps;
    }

    /** The value of each element before rounding. */
    public double[] values() {
        return values;
    }

    /** The absolute error allowed for each element before rounding. */
    public double[] slack() {
        return slack;
    }

    /** Units in the last place allowed after rounding. */
    public int ulps() {
        return ulps;
    }

    /** Elements that must have exactly these bits; NaNs match any NaN. */
    public static Expectation exact(ElementType type, int[] bits) {
        double[] values = new double[bits.length];
        for (int i = 0; i < bits.length; i++) {
            values[i] = Codec.of(type).decode(bits[i]);
        }
        return new Expectation(type, values, new double[bits.length], 0);
    }

    /**
     * Compares.
     *
     * @param actual patterns, one for each element
     * @return the first element that is wrong, in words; empty when all are right
     */
    public Optional<Mismatch> compare(int[] actual) {
        if (actual.length != values.length) {
            throw new IllegalArgumentException(actual.length + " elements are compared with " + values.length);
        }
        Codec codec = Codec.of(type);
        for (int i = 0; i < actual.length; i++) {
            double found = codec.decode(actual[i]);
            if (!fits(codec, i, found)) {
                return Optional.of(new Mismatch(i, codec.decode(codec.encode(values[i])), found, allowed(codec, i)));
            }
        }
        return Optional.empty();
    }

    private boolean fits(Codec codec, int index, double found) {
        double wanted = codec.decode(codec.encode(values[index]));
        if (Double.isNaN(wanted) || Double.isNaN(found)) {
            return Double.isNaN(wanted) && Double.isNaN(found);
        }
        if (wanted == found) {
            return true;
        }
        if (ulps == 0 && slack[index] == 0) {
            return false;
        }
        if (Double.isInfinite(wanted) || Double.isInfinite(found)) {
            // Only where the allowance itself reaches beyond the largest value.
            return found == codec.decode(codec.encode(values[index] + Math.signum(found) * allowed(codec, index)));
        }
        double low = codec.decode(codec.encode(values[index] - slack[index]));
        double high = codec.decode(codec.encode(values[index] + slack[index]));
        return found >= low - ulps * codec.ulp(low) && found <= high + ulps * codec.ulp(high);
    }

    private double allowed(Codec codec, int index) {
        return slack[index] + ulps * codec.ulp(values[index]);
    }

    /**
     * One wrong element.
     *
     * @param index which
     * @param expected the value rounded to the type
     * @param actual the value found
     * @param allowed the distance that would have been accepted
     */
    public record Mismatch(int index, double expected, double actual, double allowed) {
        @Override
        public String toString() {
            return "element " + index + " is " + actual + ", not " + expected
                    + (allowed == 0 ? " exactly" : " within " + allowed);
        }
    }
}
