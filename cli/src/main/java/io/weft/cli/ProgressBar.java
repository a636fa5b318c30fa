// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.runtime.plan.Progress;
import java.io.PrintWriter;

/** Shows how far long work has come, on one line of a terminal; draws nothing in a pipe. Safe for any thread. */
final class ProgressBar implements Progress {
    private static final int WIDTH = 32;

    /** Often enough to look alive, seldom enough to cost nothing. */
    private static final long REDRAW_NANOS = 100_000_000L;

    /** Work that is over sooner shows no bar, which would only flicker. */
    private static final long PATIENCE_NANOS = 300_000_000L;

    private final PrintWriter err;
    private final boolean visible;
    private String what = "";
    private int steps;
    private int done;
    private long started;
    private long lastDrawn;
    private boolean drawn;

    private ProgressBar(PrintWriter err, boolean visible) {
        this.err = err;
        this.visible = visible;
    }

    /** Draws where the setting says; {@code auto} asks whether there is a terminal. */
    @SuppressWarnings("SystemConsoleNull") // JDK 25 is back to the console that is null without a terminal
    static ProgressBar on(PrintWriter err, String setting) {
        boolean terminal = System.console() != null && System.console().isTerminal();
        return new ProgressBar(err, setting.equals("always") || (setting.equals("auto") && terminal));
    }

    @Override
    public synchronized void begin(String work, int total) {
        what = work;
        steps = total;
        done = 0;
        started = System.nanoTime();
    }

    @Override
    public synchronized void step(String label) {
        done++;
        long now = System.nanoTime();
        if (!visible || steps <= 0 || now - started < PATIENCE_NANOS || (drawn && now - lastDrawn < REDRAW_NANOS)) {
            return;
        }
        lastDrawn = now;
        drawn = true;
        int filled = (int) ((long) WIDTH * Math.min(done, steps) / steps);
        err.print("\r[" + "#".repeat(filled) + ".".repeat(WIDTH - filled) + "] " + done + "/" + steps + " " + what + " "
                + label + "\033[K");
        err.flush();
    }

    /** Wipes the line, so that what comes next starts clean. */
    @Override
    public synchronized void end() {
        if (drawn) {
            drawn = false;
            err.print("\r\033[K");
            err.flush();
        }
    }
}
