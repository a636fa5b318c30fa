// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ExactnessTest {
    private static boolean exact(double... terms) {
        Exactness exactness = new Exactness();
        for (double term : terms) {
            exactness.add(term);
        }
        return exactness.holds();
    }

    @Test
    void wholeNumbersAreExactUpToTheMantissaOfFp32() {
        assertEquals(true, exact(1, 2, 3, -4));
        assertEquals(true, exact(1, (1 << 24) - 1));
        assertEquals(false, exact(1, 1 << 24));
    }

    @Test
    void fractionsCountInTheirSmallestUnit() {
        assertEquals(true, exact(0.5, 0.25, 1000));
        assertEquals(false, exact(0x1p-20, 17));
    }

    @Test
    void whatIsNotFiniteIsNeverExact() {
        assertEquals(false, exact(1, Double.NaN));
        assertEquals(false, exact(Double.POSITIVE_INFINITY));
        assertEquals(true, exact());
    }
}
