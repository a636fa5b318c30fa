// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PatienceTest {
    private static final long STEP = 1_000;

    private long now;

    private Patience patience(long nanos) {
        return new Patience(nanos, STEP, () -> now);
    }

    @Test
    void timeBetweenQuestionsCounts() {
        Patience patience = patience(100);
        now = 100;
        assertFalse(patience.isOver());
        now = 101;
        assertTrue(patience.isOver());
    }

    @Test
    void aProcessThatWasStoppedHasAsLongAsEver() {
        Patience patience = patience(10 * STEP);
        for (int question = 0; question < 10; question++) {
            now += 1_000 * STEP;
            assertFalse(patience.isOver(), "after " + question + " stops");
        }
        now++;
        assertTrue(patience.isOver());
    }

    @Test
    void whatHasComeBeginsItAnew() {
        Patience patience = patience(100);
        now = 90;
        assertFalse(patience.isOver());
        patience.restart();
        now = 190;
        assertFalse(patience.isOver());
        now = 191;
        assertTrue(patience.isOver());
    }

    @Test
    void whoWaitsForNoticesHasLookedOftenBeforeItIsOver() {
        Patience patience = Patience.ofLooks(1_000, 20);
        assertEquals(51, patience.stepNanos());
        for (int look = 0; look < 19; look++) {
            assertFalse(patience.isOver(), "after " + look + " looks");
        }
    }
}
