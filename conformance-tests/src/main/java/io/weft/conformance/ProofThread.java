// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.conformance.bench.Leftovers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The thread on which proofs run, with a watchdog beside it.
 *
 * <p>The caller waits without a time limit and the watchdog, a daemon, ends the wait. It looks many times before it does: while this process is stopped, or has no processor to run on, the proof cannot get on either, and time that the
 * watchdog did not see does not count. A backend may ask whether another thread of the application could still issue what
 * it lacks; a caller in a timed wait would look like one.
 */
final class ProofThread {
    private static final int FRAMES = 16;
    /** How often the watchdog looks before it ends a wait. */
    private static final int LOOKS = 20;

    /** What became of a proof. */
    sealed interface Result {}

    /**
     * It came to its end.
     *
     * @param failure what it threw, or null
     * @param leftovers what it left behind
     */
    record Ended(Throwable failure, Leftovers leftovers) implements Result {}

    /**
     * It did not end in time.
     *
     * @param stack where it is
     */
    record Hung(List<String> stack) implements Result {}

    private final Duration patience;
    private final ExecutorService worker;
    private final ScheduledExecutorService watchdog;
    private volatile Thread thread;

    ProofThread(Duration patience) {
        this.patience = patience;
        this.worker = Executors.newSingleThreadExecutor(task -> {
            thread = Thread.ofPlatform().daemon().name("conformance proof").unstarted(task);
            return thread;
        });
        this.watchdog = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("conformance watchdog").factory());
    }

    /** Runs a proof. */
    Result run(Callable<Ended> proof) {
        List<String> stack = new ArrayList<>();
        Future<Ended> future = worker.submit(proof);
        try {
            return await(future, stack, patience);
        } catch (HangException hang) {
            return new Hung(stack);
        } catch (ExecutionException failure) {
            return new Ended(failure.getCause(), new Leftovers());
        }
    }

    /**
     * Runs something else.
     *
     * @throws AcceleratorException TIMEOUT when it hangs
     */
    <T> T call(String what, Callable<T> body) {
        return call(what, patience, body);
    }

    /** Runs something that may take longer than a proof. */
    <T> T call(String what, Duration limit, Callable<T> body) {
        List<String> stack = new ArrayList<>();
        try {
            return await(worker.submit(body), stack, limit);
        } catch (HangException hang) {
            throw new AcceleratorException(
                    ErrorCode.TIMEOUT,
                    what,
                    "it did not end within " + limit.toSeconds() + " s; "
                            + String.join(" ", stack.stream().map(String::strip).toList()),
                    hang);
        } catch (ExecutionException failure) {
            switch (failure.getCause()) {
                case RuntimeException thrown -> throw thrown;
                case Error thrown -> throw thrown;
                default -> throw new IllegalStateException(failure.getCause());
            }
        }
    }

    private <T> T await(Future<T> future, List<String> stack, Duration limit) throws ExecutionException, HangException {
        AtomicInteger looks = new AtomicInteger();
        long between = Math.max(1, limit.toNanos() / LOOKS);
        ScheduledFuture<?> alarm = watchdog.scheduleWithFixedDelay(
                () -> {
                    if (looks.incrementAndGet() == LOOKS && !future.isDone()) {
                        stack.addAll(stack());
                        future.cancel(true);
                    }
                },
                between,
                between,
                TimeUnit.NANOSECONDS);
        try {
            return future.get();
        } catch (java.util.concurrent.CancellationException cancelled) {
            throw new HangException(cancelled);
        } catch (InterruptedException stopped) {
            future.cancel(true);
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the run was interrupted", stopped);
        } finally {
            alarm.cancel(false);
        }
    }

    private List<String> stack() {
        List<String> lines = new ArrayList<>();
        Thread current = thread;
        if (current != null) {
            lines.add("the proof's thread is at:");
            for (StackTraceElement frame : current.getStackTrace()) {
                if (lines.size() > FRAMES) {
                    break;
                }
                lines.add("  at " + frame);
            }
        }
        return lines;
    }

    /** Lets go of the thread, which may hang for ever; it is a daemon. */
    void abandon() {
        worker.shutdownNow();
        watchdog.shutdownNow();
    }

    private static final class HangException extends Exception {
        private static final long serialVersionUID = 1L;

        HangException(Throwable cause) {
            super(cause);
        }
    }
}
