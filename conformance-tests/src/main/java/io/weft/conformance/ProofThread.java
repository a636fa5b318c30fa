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

/**
 * The thread on which proofs run, with a watchdog beside it.
 *
 * <p>The caller waits without a time limit and the watchdog, a daemon, ends the wait. A backend may ask whether another thread of the application could still issue what
 * it lacks; a caller in a timed wait would look like one.
 */
final class ProofThread {
    private static final int FRAMES = 16;

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
            return await(future, stack);
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
        List<String> stack = new ArrayList<>();
        try {
            return await(worker.submit(body), stack);
        } catch (HangException hang) {
            throw new AcceleratorException(
                    ErrorCode.TIMEOUT,
                    what,
                    "it did not end within " + patience.toSeconds() + " s; "
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

    private <T> T await(Future<T> future, List<String> stack) throws ExecutionException, HangException {
        ScheduledFuture<?> alarm = watchdog.schedule(
                () -> {
                    if (!future.isDone()) {
                        stack.addAll(stack());
                        future.cancel(true);
                    }
                },
                patience.toMillis(),
                TimeUnit.MILLISECONDS);
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
