// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.spi.Patience;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps a vendor's handle alive while it is used. The vendor's libraries crash on a handle that was given back, and any thread may close what another one is using, so every use stands between {@link #enter} and {@link #leave}: after
 * {@link #close} no use begins, and {@link #awaitIdle} waits for those under way. Two atomic additions for each use; no allocation. Safe for any thread.
 */
final class HandleGuard {
    private static final VarHandle STATE;
    /** Added when closed: whatever the users do to the low bits, the number stays negative. */
    private static final int CLOSED = Integer.MIN_VALUE;

    private static final long PAUSE_NANOS = 20_000;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(HandleGuard.class, "state", int.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    /** Uses under way, plus {@link #CLOSED} once closed. */
    @SuppressWarnings("unused") // By the handle.
    private volatile int state;

    /** Begins a use, unless closed. Whether it began; then {@link #leave} must follow. */
    boolean tryEnter() {
        if ((int) STATE.getAndAdd(this, 1) >= 0) {
            return true;
        }
        STATE.getAndAdd(this, -1);
        return false;
    }

    /**
     * Begins a use.
     *
     * @param operation what messages say
     * @param what the handle, for messages
     * @throws AcceleratorException CLOSED
     */
    void enter(String operation, String what) {
        if (!tryEnter()) {
            throw new AcceleratorException(ErrorCode.CLOSED, operation, what + " was closed before");
        }
    }

    /** Ends a use. */
    void leave() {
        STATE.getAndAdd(this, -1);
    }

    /** Whether it was closed. */
    boolean isClosed() {
        return (int) STATE.getVolatile(this) < 0;
    }

    /** Lets no use begin any more. Whether this call closed it. */
    boolean close() {
        int seen;
        do {
            seen = (int) STATE.getVolatile(this);
            if (seen < 0) {
                return false;
            }
        } while (!STATE.compareAndSet(this, seen, seen + CLOSED));
        return true;
    }

    /** Waits until the uses that were under way when it was closed have ended. Whether they have, within so many ns; a handle that is still in use must not be given back. */
    boolean awaitIdle(long nanos) {
        Patience patience = new Patience(nanos);
        while ((int) STATE.getVolatile(this) != CLOSED) {
            if (patience.isOver()) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return true;
    }
}
