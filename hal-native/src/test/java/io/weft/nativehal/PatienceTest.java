// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PatienceTest {
    private long now;

    @Test
    void timeBetweenQuestionsCounts() {
        Patience patience = new Patience(100, () -> now);
        now = 100;
        assertFalse(patience.isOver());
        now = 101;
        assertTrue(patience.isOver());
    }

    @Test
    void aProcessThatWasStoppedHasAsLongAsEver() {
        Patience patience = new Patience(10 * Patience.STEP_NANOS, () -> now);
        for (int question = 0; question < 10; question++) {
            now += 1_000 * Patience.STEP_NANOS;
            assertFalse(patience.isOver(), "after " + question + " stops");
        }
        now++;
        assertTrue(patience.isOver());
    }
}
