// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.spi.Patience;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Where a host thread waits in real time because only another thread can help: when virtual time can go no further, the missing part may be about to be issued.
 *
 * <p>It waits no longer than it makes sense. When no other thread of the application can run, a short grace is enough (for one that is just being started or woken);
 * otherwise the wait ends when nobody has issued anything for the whole time limit. Time counts only in small steps, after each of which whoever waits has run: while the process is stopped, or has no processor to run on, others cannot
 * come either. Used under the platform's lock.
 */
final class Rendezvous {
    /** Long enough for a thread to start or to wake up, short enough for a person, ns. */
    private static final long GRACE_NANOS = 250_000_000;
    /** How often whoever waits must have run at least before it gives up. */
    private static final int LOOKS = 10;

    private final ReentrantLock lock;
    private final Condition changed;
    private final long limitNanos;
    private final long graceNanos;
    private final Set<Thread> threads = Collections.newSetFromMap(new WeakHashMap<>());
    private final Set<Thread> waiting = Collections.newSetFromMap(new WeakHashMap<>());
    private Thread last;
    private long progress;
    private Quiet polled;

    /**
     * @param lock the platform's
     * @param limitMillis most real time without progress
     */
    Rendezvous(ReentrantLock lock, long limitMillis) {
        this.lock = lock;
        this.changed = lock.newCondition();
        this.limitNanos = TimeUnit.MILLISECONDS.toNanos(limitMillis);
        this.graceNanos = Math.min(GRACE_NANOS, limitNanos);
    }

    /** The current thread uses the platform. */
    void here() {
        Thread current = Thread.currentThread();
        if (current != last) {
            last = current;
            threads.add(current);
        }
    }

    /** Something was issued. */
    void progressed() {
        progress++;
        changed.signalAll();
    }

    /** Grows with everything that is issued. */
    long progress() {
        return progress;
    }

    /**
     * Waits until a condition holds, giving the lock away meanwhile.
     *
     * @param done may throw to end the wait
     * @param hopeless what to throw when it will not come to pass
     */
    void await(BooleanSupplier done, Supplier<AcceleratorException> hopeless) {
        Quiet quiet = new Quiet();
        boolean interrupted = false;
        try {
            while (!done.getAsBoolean()) {
                if (quiet.isHopeless()) {
                    throw hopeless.get();
                }
                waiting.add(Thread.currentThread());
                try {
                    changed.awaitNanos(graceNanos / LOOKS);
                } catch (InterruptedException request) {
                    interrupted = true;
                    throw hopeless.get();
                } finally {
                    waiting.remove(Thread.currentThread());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** For polls that find nothing left to happen: whether nothing was issued for so long that nothing will be. */
    boolean isHopeless() {
        if (polled == null || polled.since != progress) {
            polled = new Quiet();
        }
        return polled.isHopeless();
    }

    /** For how long nothing was issued, as the looks of one waiter or of those who poll tell. */
    private final class Quiet {
        private final Patience patience = Patience.ofLooks(limitNanos, LOOKS);
        /** For the time at its end in which no other thread could run either. */
        private final Patience grace = Patience.ofLooks(graceNanos, LOOKS);

        private long since = progress;

        /** Looks: whether nothing will be issued any more. */
        boolean isHopeless() {
            if (since != progress) {
                since = progress;
                patience.restart();
                grace.restart();
            } else if (othersCanRun()) {
                grace.restart();
            }
            return patience.isOver() || grace.isOver();
        }
    }

    /** Whether a thread that may be about to issue something is able to: one that has used the platform, or any of the application's own. */
    private boolean othersCanRun() {
        Iterator<Thread> known = threads.iterator();
        boolean some = false;
        while (known.hasNext()) {
            Thread thread = known.next();
            if (thread.isAlive()) {
                some |= canRun(thread);
            } else {
                known.remove();
            }
        }
        return some || applicationThreads().anyMatch(this::canRun);
    }

    private boolean canRun(Thread thread) {
        if (thread == Thread.currentThread() || waiting.contains(thread)) {
            return false;
        }
        if (lock.hasQueuedThread(thread)) {
            return true; // It comes in when we give the lock away.
        }
        return switch (thread.getState()) {
            case RUNNABLE, TIMED_WAITING, BLOCKED -> true;
            // One that waits without a limit cannot help unless somebody wakes it.
            case WAITING, NEW, TERMINATED -> false;
        };
    }

    /** Threads that keep the process alive; those of the JVM and of libraries are daemons. */
    private static Stream<Thread> applicationThreads() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group != null && group.getParent() != null) {
            group = group.getParent();
        }
        if (group == null) {
            return Stream.empty(); // The current thread is ending.
        }
        Thread[] all = new Thread[2 * group.activeCount() + 16];
        int count = group.enumerate(all, true);
        return Arrays.stream(all, 0, count)
                .filter(thread -> !thread.isDaemon() && !thread.getName().equals("DestroyJavaVM"));
    }
}
