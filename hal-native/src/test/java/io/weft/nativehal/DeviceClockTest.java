// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.nativehal.driver.DeviceRuntime;
import java.lang.reflect.Proxy;
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

    /** A runtime whose events are handles that say their time in us, for nothing but the time between two. */
    private static DeviceRuntime microseconds() {
        return (DeviceRuntime) Proxy.newProxyInstance(
                DeviceRuntime.class.getClassLoader(), new Class<?>[] {DeviceRuntime.class}, (_, method, given) -> {
                    assertEquals("elapsedMillis", method.getName());
                    return ((long) given[1] - (long) given[0]) / 1e3f;
                });
    }

    @Test
    void aStepBackLeavesTheOrderOfADevicesStamps() {
        DeviceRuntime runtime = microseconds();
        DeviceClock.Epoch ahead = new DeviceClock.Epoch(0, 0, 1);
        assertEquals(998_000, ahead.nanos(runtime, 998), 1);
        DeviceClock.Epoch right = new DeviceClock.Epoch(1_000, 995_000, 1);
        ahead.end(1_000_000, right);
        double last = 0;
        for (long time : new long[] {900, 990, 994, 996, 998, 999, 1_000, 1_001, 1_002, 1_100}) {
            double stamp = ahead.nanos(runtime, time);
            assertTrue(stamp >= last, "the event of " + time + " us is stamped " + stamp + " after " + last);
            last = stamp;
        }
        // What was recorded before and came after is told by the clock that was right then.
        assertEquals(right.nanos(runtime, 1_100), ahead.nanos(runtime, 1_100));
        assertEquals(1_095_000, ahead.nanos(runtime, 1_100), 1);
    }
}
