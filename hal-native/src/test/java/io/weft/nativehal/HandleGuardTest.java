// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HandleGuardTest {
    private static final long LONG = 10_000_000_000L;

    @Test
    void noUseBeginsOnceClosedAndClosingCountsOnce() {
        HandleGuard guard = new HandleGuard();
        guard.enter("use", "the handle");
        guard.leave();
        assertTrue(guard.close());
        assertFalse(guard.close());
        assertTrue(guard.isClosed());
        assertEquals(
                ErrorCode.CLOSED,
                assertThrows(AcceleratorException.class, () -> guard.enter("use", "the handle"))
                        .code());
        assertTrue(guard.awaitIdle(0));
    }

    @Test
    void aUseUnderWayKeepsTheHandle() {
        HandleGuard guard = new HandleGuard();
        assertTrue(guard.tryEnter());
        assertTrue(guard.close());
        assertFalse(guard.awaitIdle(1));
        guard.leave();
        assertTrue(guard.awaitIdle(LONG));
    }

    @Test
    void threadsNeverUseAHandleThatWasGivenBack() throws InterruptedException {
        for (int round = 0; round < 200; round++) {
            HandleGuard guard = new HandleGuard();
            AtomicInteger handle = new AtomicInteger(1);
            AtomicInteger wrong = new AtomicInteger();
            Thread user = Thread.ofPlatform().start(() -> {
                while (guard.tryEnter()) {
                    wrong.addAndGet(1 - handle.get());
                    guard.leave();
                }
            });
            guard.close();
            assertTrue(guard.awaitIdle(LONG));
            handle.set(0);
            user.join();
            assertEquals(0, wrong.get(), "round " + round);
        }
    }
}
