// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** What a look at the reference tells of a reckoned time, ns. */
class DeviceClockTest {
    @Test
    void aLookAsNarrowAsTheyComeTellsItsMiddle() {
        DeviceClock.Look look = new DeviceClock.Look(1, 1_000, 1_008);
        assertEquals(1_004, look.nearest(900, look.span()));
        assertEquals(1_004, look.nearest(1_100, look.span()));
    }

    @Test
    void aLookThatWasHeldUpOnOneWayDoesNotMoveAClockThatMayBeRight() {
        // There in 4, back in 90: the middle would put the clock 43 ahead of what it can be.
        DeviceClock.Look look = new DeviceClock.Look(1, 1_000, 1_094);
        assertEquals(1_004, look.nearest(1_004, 8));
        assertEquals(1_020, look.nearest(1_020, 8));
    }

    @Test
    void itMovesOneThatIsCertainlyWrongNoFurtherThanItMust() {
        DeviceClock.Look look = new DeviceClock.Look(1, 1_000, 1_094);
        assertEquals(1_004, look.nearest(990, 8));
        assertEquals(1_090, look.nearest(1_200, 8));
    }
}
