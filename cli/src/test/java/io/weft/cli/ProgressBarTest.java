// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** Users of other simulators waited for days without a sign (astra-sim issue 222) and asked how many events a second there are (Frontier issue 7). */
class ProgressBarTest {
    private final StringWriter shown = new StringWriter();
    private long now;
    private long events;

    private ProgressBar bar(boolean visible) {
        return new ProgressBar(new PrintWriter(shown, true), visible, () -> now);
    }

    @Test
    void longWorkShowsHowFarItHasComeAndItsEventsPerSecond() {
        ProgressBar bar = bar(true);
        events = 5_000_000;
        bar.begin("planning", 4);
        bar.counts("events", () -> events);
        now = 2_000_000_000L;
        events += 6_000_000;
        bar.step("llama on ring");
        assertEquals(
                "\r[########........................] 1/4 planning llama on ring, 0.5/s, 3.0 M events/s\033[K",
                shown.toString());
        now = 4_000_000_000L;
        bar.end();
        assertTrue(
                shown.toString()
                        .endsWith("\r\033[Kplanning: 1 in 4.0 s, 0.3/s, 1.5 M events/s" + System.lineSeparator()),
                shown::toString);
    }

    @Test
    void aLineIsWipedBeforeAResultIsPrintedAndDrawnAgainAfterIt() {
        ProgressBar bar = bar(true);
        bar.begin("timing", 2);
        now = 1_000_000_000L;
        bar.step("1 KiB");
        bar.wipe();
        bar.wipe();
        now += 1;
        bar.step("2 KiB");
        bar.end();
        assertEquals(
                "\r[################................] 1/2 timing 1 KiB\033[K\r\033[K"
                        + "\r[################################] 2/2 timing 2 KiB\033[K\r\033[K",
                shown.toString());
    }

    @Test
    void shortWorkAndAPipeShowNothing() {
        ProgressBar brief = bar(true);
        brief.begin("timing", 1);
        brief.counts("events", () -> events);
        now = 1_000_000;
        brief.step("");
        brief.end();
        ProgressBar pipe = bar(false);
        pipe.begin("timing", 1);
        now += 5_000_000_000L;
        pipe.counts("events", () -> events);
        pipe.step("");
        pipe.end();
        assertEquals("", shown.toString());
    }
}
