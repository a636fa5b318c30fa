// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class RendezvousTest {
    /** Longer than the grace, ns. */
    private static final long LONG = 300_000_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final Rendezvous rendezvous = new Rendezvous(lock, 10_000);

    private void await(BooleanSupplier done) {
        lock.lock();
        try {
            rendezvous.await(
                    done, () -> new AcceleratorException(ErrorCode.TIMEOUT, "wait", "nothing will happen any more"));
        } finally {
            lock.unlock();
        }
    }

    /** What a stopped process or a busy machine does to whoever waits. */
    private static void stand() {
        long end = System.nanoTime() + LONG;
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    private int looksUntilHopeless(BooleanSupplier done) {
        AtomicInteger looks = new AtomicInteger();
        assertThrows(
                AcceleratorException.class,
                () -> await(() -> {
                    looks.incrementAndGet();
                    return done.getAsBoolean();
                }));
        return looks.get();
    }

    @Test
    void timeInWhichNobodyRanIsNotHeldAgainstTheOthers() {
        AtomicBoolean stood = new AtomicBoolean();
        int looks = looksUntilHopeless(() -> {
            if (!stood.getAndSet(true)) {
                stand();
            }
            return false;
        });
        assertTrue(looks >= 5, () -> "it gave up after " + looks + " looks");
    }

    @Test
    void theGraceBeginsWhenTheLastOtherThreadHasStopped() {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger after = new AtomicInteger();
        Thread other = Thread.ofPlatform().start(() -> {
            while (!stop.get()) {
                Thread.onSpinWait();
            }
        });
        long begun = System.nanoTime();
        looksUntilHopeless(() -> {
            if (stop.get()) {
                after.incrementAndGet();
            } else if (System.nanoTime() - begun > LONG) {
                stop.set(true);
                join(other);
            }
            return false;
        });
        assertTrue(after.get() >= 5, () -> "it gave up " + after + " looks after the other had stopped");
    }

    @Test
    void aThreadThatStandsAtTheLockIsWaitedFor() {
        AtomicBoolean came = new AtomicBoolean();
        AtomicBoolean stood = new AtomicBoolean();
        Thread other = Thread.ofPlatform().unstarted(() -> {
            lock.lock();
            try {
                came.set(true);
                rendezvous.progressed();
            } finally {
                lock.unlock();
            }
        });
        await(() -> {
            if (!stood.getAndSet(true)) {
                stand();
                other.start();
                while (!lock.hasQueuedThread(other)) {
                    Thread.onSpinWait();
                }
            }
            return came.get();
        });
        join(other);
        assertEquals(Thread.State.TERMINATED, other.getState());
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException stopped) {
            throw new AssertionError(stopped);
        }
    }
}
