// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A lock for sections of some ten nanoseconds. Not reentrant. Who does not get it looks again after a pause that doubles, so that the holder and what it works on stay
 * undisturbed and it can take the lock a few times in a row, and then yields, so that a holder which lost its core gets it back.
 */
class SpinLock extends LinePadding {
    private static final VarHandle HELD;
    /** Spins of the first pause and of the longest one: with 25 ns a spin, 1.2 and 13 us. */
    private static final int FIRST_PAUSE = 48;

    private static final int LONGEST_PAUSE = 512;
    private static final int PAUSES = 7;

    static {
        try {
            HELD = MethodHandles.lookup().findVarHandle(SpinLock.class, "held", int.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    @SuppressWarnings("unused") // Read and written through HELD.
    private int held;

    final void lock() {
        if ((int) HELD.getAndSet(this, 1) != 0) {
            await();
        }
    }

    final boolean tryLock() {
        return (int) HELD.getAndSet(this, 1) == 0;
    }

    final void unlock() {
        HELD.setRelease(this, 0);
    }

    private void await() {
        int pause = FIRST_PAUSE;
        int pauses = 0;
        do {
            if (++pauses > PAUSES) {
                yieldCore();
                continue;
            }
            for (int i = 0; i < pause; i++) {
                Thread.onSpinWait();
            }
            pause = Math.min(2 * pause, LONGEST_PAUSE);
        } while ((int) HELD.getOpaque(this) != 0 || (int) HELD.getAndSet(this, 1) != 0);
    }

    /** A lost core comes back by the scheduler alone; correctness does not depend on it. */
    @SuppressWarnings("ThreadPriorityCheck")
    private static void yieldCore() {
        Thread.yield();
    }
}
