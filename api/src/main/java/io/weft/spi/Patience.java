// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import java.util.function.LongSupplier;

/**
 * How long to go on asking for something that may never come. Time counts only in small steps, one for each question: while this process is stopped, or has no processor to run on, its other threads cannot come either, and what they lack is not patience. For one
 * thread at a time.
 */
public final class Patience {
    /** Most that counts between two questions of who asks every 20 to 50 us, ns. */
    static final long STEP_NANOS = 1_000_000;

    private final long nanos;
    private final long stepNanos;
    private final LongSupplier clock;
    private long last;
    private long spent;

    /**
     * Begins, for who asks again and again.
     *
     * @param nanos how long to wait, ns
     */
    public Patience(long nanos) {
        this(nanos, STEP_NANOS, System::nanoTime);
    }

    Patience(long nanos, long stepNanos, LongSupplier clock) {
        this.nanos = nanos;
        this.stepNanos = stepNanos;
        this.clock = clock;
        this.last = clock.getAsLong();
    }

    /**
     * Begins, for who waits for a notice between questions, no longer than {@link #stepNanos()} each time.
     *
     * @param nanos how long to wait, ns
     * @param looks how often to have looked before it is over
     */
    public static Patience ofLooks(long nanos, int looks) {
        return new Patience(nanos, nanos / looks + 1, System::nanoTime);
    }

    /** Most that counts between two questions, ns. */
    public long stepNanos() {
        return stepNanos;
    }

    /** Begins anew: something has come. */
    public void restart() {
        last = clock.getAsLong();
        spent = 0;
    }

    /** Asks: whether it is over. To be asked after each look at what is waited for. */
    public boolean isOver() {
        long now = clock.getAsLong();
        spent += Math.min(now - last, stepNanos);
        last = now;
        return spent > nanos;
    }
}
