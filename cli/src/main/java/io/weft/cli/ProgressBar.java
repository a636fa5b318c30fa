// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.runtime.plan.Progress;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * Shows how far long work has come, and how fast it is, on one line of a terminal; draws nothing in a pipe. Of work that counts something, such as a model's events, a line with the rates stays. Safe for any thread.
 */
final class ProgressBar implements Progress {
    private static final int WIDTH = 32;

    /** Often enough to look alive, seldom enough to cost nothing. */
    private static final long REDRAW_NANOS = 100_000_000L;

    /** Work that is over sooner shows no bar, which would only flicker. */
    private static final long PATIENCE_NANOS = 300_000_000L;

    private static final double NANOS_PER_SECOND = 1e9;

    private final PrintWriter err;
    private final boolean visible;
    private final LongSupplier clock;
    private String what = "";
    private int steps;
    private int done;
    private long started;
    private long lastDrawn;
    private boolean drawn;
    private String unit = "";
    private LongSupplier count;
    private long countBefore;

    /** A bar that tells the time by a clock, ns. */
    ProgressBar(PrintWriter err, boolean visible, LongSupplier clock) {
        this.err = err;
        this.visible = visible;
        this.clock = clock;
    }

    /** Draws where the setting says; {@code auto} asks whether there is a terminal. */
    @SuppressWarnings("SystemConsoleNull") // JDK 25 is back to the console that is null without a terminal
    static ProgressBar on(PrintWriter err, String setting) {
        boolean terminal = System.console() != null && System.console().isTerminal();
        return new ProgressBar(err, setting.equals("always") || (setting.equals("auto") && terminal), System::nanoTime);
    }

    @Override
    public synchronized void begin(String work, int total) {
        what = work;
        steps = total;
        done = 0;
        count = null;
        started = clock.getAsLong();
    }

    @Override
    public synchronized void counts(String plural, LongSupplier counter) {
        unit = plural;
        count = counter;
        countBefore = counter.getAsLong();
    }

    @Override
    public synchronized void step(String label) {
        done++;
        long now = clock.getAsLong();
        if (!visible || steps <= 0 || now - started < PATIENCE_NANOS || (drawn && now - lastDrawn < REDRAW_NANOS)) {
            return;
        }
        lastDrawn = now;
        drawn = true;
        int filled = (int) ((long) WIDTH * Math.min(done, steps) / steps);
        err.print("\r[" + "#".repeat(filled) + ".".repeat(WIDTH - filled) + "] " + done + "/" + steps + " " + what + " "
                + label + rates(now) + "\033[K");
        err.flush();
    }

    /** Wipes the line, so that what is printed next starts clean; the next step draws it again. */
    synchronized void wipe() {
        if (drawn) {
            drawn = false;
            err.print("\r\033[K");
            err.flush();
        }
    }

    /** Wipes the line, and leaves one with the rates where something was counted. */
    @Override
    public synchronized void end() {
        boolean told = visible && count != null && clock.getAsLong() - started >= PATIENCE_NANOS;
        wipe();
        if (told) {
            long now = clock.getAsLong();
            err.println(String.format(
                    Locale.ROOT, "%s: %d in %.1f s%s", what, done, (now - started) / NANOS_PER_SECOND, rates(now)));
            err.flush();
        }
        count = null;
    }

    private String rates(long now) {
        if (count == null) {
            return "";
        }
        double seconds = Math.max(1, now - started) / NANOS_PER_SECOND;
        long counted = count.getAsLong() - countBefore;
        return String.format(Locale.ROOT, ", %.1f/s", done / seconds)
                + (counted > 0 ? ", " + abbreviated(counted / seconds) + " " + unit + "/s" : "");
    }

    private static String abbreviated(double rate) {
        return rate >= 1e6
                ? String.format(Locale.ROOT, "%.1f M", rate / 1e6)
                : rate >= 1e3
                        ? String.format(Locale.ROOT, "%.0f k", rate / 1e3)
                        : String.format(Locale.ROOT, "%.0f", rate);
    }
}
