// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.reference;

/**
 * Whether a sum of terms comes out the same in fp32 in any order: every term is a multiple of one power of two, and the terms together are at most 2^24 of it, so no
 * partial sum is ever rounded. Not for several threads.
 */
final class Exactness {
    private double sum;
    private int lowest = Integer.MAX_VALUE;
    private boolean finite = true;

    /** One more term. */
    void add(double term) {
        if (!Double.isFinite(term)) {
            finite = false;
            return;
        }
        if (term == 0) {
            return;
        }
        long bits = Double.doubleToRawLongBits(term);
        long fraction = (bits & 0xFFFFFFFFFFFFFL) | 0x10000000000000L;
        lowest = Math.min(lowest, Math.getExponent(term) - 52 + Long.numberOfTrailingZeros(fraction));
        sum += Math.abs(term);
    }

    /** Whether no order of the additions rounds. Terms that are not finite are never exact. */
    boolean holds() {
        return finite && (sum == 0 || sum <= Math.scalb(0x1p24, lowest)) && (sum == 0 || lowest > -120);
    }
}
