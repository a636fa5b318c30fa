// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * A small fixed pool of daemon threads that shares the tasks of one job among itself and the calling thread.
 *
 * <p>Which thread runs which task is not fixed, so a job must give the same bytes whatever the order: every kernel in this package
 * writes disjoint outputs and keeps the order of arithmetic inside a task. Jobs may come from any thread, also from inside a task,
 * and several at a time; the caller always works itself, so progress never waits for a free thread of the pool.
 */
public final class ComputePool implements AutoCloseable {
    /** Work of one job. */
    @FunctionalInterface
    public interface Task {
        /**
         * Runs one task.
         *
         * @param index which, from 0
         * @param lane a number below {@link ComputePool#lanes()} that no other running task of the same job has, for scratch memory
         */
        void run(int index, int lane);
    }

    private static final int SPINS = 200;

    private final int lanes;
    private final ForkJoinPool threads;

    /** A pool that works on {@code lanes} threads at a time, the caller being one of them. */
    public ComputePool(int lanes) {
        if (lanes < 1) {
            throw new IllegalArgumentException("a compute pool needs at least 1 lane, not " + lanes);
        }
        this.lanes = lanes;
        this.threads = lanes == 1
                ? null
                : new ForkJoinPool(
                        lanes - 1,
                        pool -> {
                            ForkJoinWorkerThread thread =
                                    ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
                            thread.setName("weft-compute-" + thread.getPoolIndex());
                            return thread;
                        },
                        null,
                        true);
    }

    /** The pool that platforms of this process share: one lane for each processor. Never closed. */
    public static ComputePool shared() {
        return Shared.POOL;
    }

    private static final class Shared {
        static final ComputePool POOL = new ComputePool(Runtime.getRuntime().availableProcessors());
    }

    /** How many tasks run at a time at most. */
    public int lanes() {
        return lanes;
    }

    /**
     * Runs tasks 0 to {@code count - 1} and returns when all are done. The first exception of a task is thrown on; tasks not yet started
     * are then left out.
     */
    public void run(int count, Task task) {
        if (count <= 1 || lanes == 1) {
            for (int i = 0; i < count; i++) {
                task.run(i, 0);
            }
            return;
        }
        Job job = new Job(count, task);
        int helpers = Math.min(count, lanes) - 1;
        for (int i = 0; i < helpers; i++) {
            threads.execute(job);
        }
        job.run();
        job.await();
    }

    @Override
    public void close() {
        if (threads != null) {
            threads.shutdown();
        }
    }

    private static final class Job implements Runnable {
        private final int count;
        private final Task task;
        private final Thread caller = Thread.currentThread();
        private final AtomicInteger lane = new AtomicInteger();
        private final AtomicInteger next = new AtomicInteger();
        private final AtomicInteger left;
        private final AtomicReference<Throwable> failure = new AtomicReference<>();

        Job(int count, Task task) {
            this.count = count;
            this.task = task;
            this.left = new AtomicInteger(count);
        }

        @Override
        public void run() {
            int mine = lane.getAndIncrement();
            for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
                try {
                    if (failure.getPlain() == null) {
                        task.run(i, mine);
                    }
                } catch (Throwable problem) { // handed to the caller, whatever it is
                    failure.compareAndSet(null, problem);
                } finally {
                    if (left.decrementAndGet() == 0) {
                        LockSupport.unpark(caller);
                    }
                }
            }
        }

        void await() {
            boolean interrupted = false;
            for (int spin = 0; left.get() != 0; spin++) {
                if (spin < SPINS) {
                    Thread.onSpinWait();
                } else {
                    LockSupport.park(this);
                    interrupted |= Thread.interrupted();
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            switch (failure.get()) {
                case null -> {}
                case RuntimeException problem -> throw problem;
                case Error problem -> throw problem;
                case Throwable problem -> throw new IllegalStateException(problem);
            }
        }
    }
}
