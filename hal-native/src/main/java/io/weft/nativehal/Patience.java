// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import java.util.function.LongSupplier;

/**
 * How long to go on asking for something that may never come. Time counts only in small steps, one for each question: while this process is stopped, or has no processor to run on, its other threads cannot come either, and what they lack is not patience. For one thread.
 */
final class Patience {
    /** Most that counts between two questions, ns; they are usually 20 to 50 us apart. */
    static final long STEP_NANOS = 1_000_000;

    private final long nanos;
    private final LongSupplier clock;
    private long last;
    private long spent;

    /**
     * Begins.
     *
     * @param nanos how long to wait
     */
    Patience(long nanos) {
        this(nanos, System::nanoTime);
    }

    Patience(long nanos, LongSupplier clock) {
        this.nanos = nanos;
        this.clock = clock;
        this.last = clock.getAsLong();
    }

    /** Asks: whether it is over. To be asked after each look at what is waited for. */
    boolean isOver() {
        long now = clock.getAsLong();
        spent += Math.min(now - last, STEP_NANOS);
        last = now;
        return spent > nanos;
    }
}
