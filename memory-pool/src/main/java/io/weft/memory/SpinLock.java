// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A lock for sections of some ten nanoseconds. Not reentrant. Who does not get it spins a little and then yields, so that a holder which lost its core gets it
 * back.
 */
class SpinLock {
    private static final VarHandle HELD;
    private static final int SPINS = 64;

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
        int rounds = 0;
        int pause = 16;
        int most = 256;
        do {
            if (++rounds < SPINS) {
                for (int i = 0; i < pause; i++) {
                    Thread.onSpinWait();
                }
                pause = Math.min(2 * pause, most);
            } else {
                yieldCore();
            }
        } while ((int) HELD.getOpaque(this) != 0 || (int) HELD.getAndSet(this, 1) != 0);
    }

    /** A lost core comes back by the scheduler alone; correctness does not depend on it. */
    @SuppressWarnings("ThreadPriorityCheck")
    private static void yieldCore() {
        Thread.yield();
    }
}
