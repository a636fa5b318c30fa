// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Collects what is logged as a warning or worse, as far as it goes to the JDK's own logging. */
final class Warnings extends Handler implements AutoCloseable {
    /** The leak decorator tells of handles that proofs leave open on purpose. */
    private static final String OF_A_DECORATOR = "io.weft.leaks";

    private final List<String> lines = new ArrayList<>();

    private Warnings() {
        setLevel(Level.WARNING);
    }

    /** Collects from now on, until it is closed. */
    static Warnings begin() {
        Warnings warnings = new Warnings();
        Logger.getLogger("").addHandler(warnings);
        return warnings;
    }

    @Override
    public synchronized void publish(LogRecord line) {
        if (isLoggable(line) && !OF_A_DECORATOR.equals(line.getLoggerName())) {
            lines.add(line.getLevel() + " of " + line.getLoggerName() + ": " + line.getMessage());
        }
    }

    @Override
    public void flush() {
        // Nothing is kept back.
    }

    /** What was logged since the last call. */
    synchronized List<String> take() {
        List<String> taken = List.copyOf(lines);
        lines.clear();
        return taken;
    }

    @Override
    public void close() {
        Logger.getLogger("").removeHandler(this);
    }
}
