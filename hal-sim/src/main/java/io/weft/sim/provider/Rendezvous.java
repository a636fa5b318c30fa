// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
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
 * <p>It waits no longer than it makes sense. When no other thread of the application can run, a short grace is enough (for one that is just being started);
 * otherwise the wait ends when nobody has issued anything for the whole time limit. Used under the platform's lock.
 */
final class Rendezvous {
    /** Long enough for a thread to start on a busy machine, short enough for a person. */
    private static final long GRACE_MILLIS = 250;

    private final ReentrantLock lock;
    private final Condition changed;
    private final long limitMillis;
    private final Set<Thread> threads = Collections.newSetFromMap(new WeakHashMap<>());
    private final Set<Thread> waiting = Collections.newSetFromMap(new WeakHashMap<>());
    private Thread last;
    private long progress;
    private long hopelessSince;
    private long hopelessAt = -1;

    /**
     * @param lock the platform's
     * @param limitMillis most real time without progress
     */
    Rendezvous(ReentrantLock lock, long limitMillis) {
        this.lock = lock;
        this.changed = lock.newCondition();
        this.limitMillis = limitMillis;
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
        long quietSince = System.nanoTime();
        boolean interrupted = false;
        try {
            while (!done.getAsBoolean()) {
                long before = progress;
                long quiet = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - quietSince);
                if (quiet >= patience()) {
                    throw hopeless.get();
                }
                waiting.add(Thread.currentThread());
                try {
                    changed.awaitNanos(TimeUnit.MILLISECONDS.toNanos(Math.min(GRACE_MILLIS, patience() - quiet)));
                } catch (InterruptedException request) {
                    interrupted = true;
                    throw hopeless.get();
                } finally {
                    waiting.remove(Thread.currentThread());
                }
                if (progress != before) {
                    quietSince = System.nanoTime();
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
        long now = System.nanoTime();
        if (hopelessAt != progress) {
            hopelessAt = progress;
            hopelessSince = now;
        }
        return TimeUnit.NANOSECONDS.toMillis(now - hopelessSince) >= patience();
    }

    private long patience() {
        return othersCanRun() ? limitMillis : Math.min(GRACE_MILLIS, limitMillis);
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
        if (thread == Thread.currentThread() || waiting.contains(thread) || lock.hasQueuedThread(thread)) {
            return false;
        }
        return switch (thread.getState()) {
            case RUNNABLE, TIMED_WAITING, BLOCKED -> true;
            // One that waits without a limit, for this lock or for anything else, cannot help unless somebody wakes it.
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
