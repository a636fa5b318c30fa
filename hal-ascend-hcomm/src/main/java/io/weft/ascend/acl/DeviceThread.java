// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;

/**
 * The one platform thread that makes all calls for a device. The vendor's context belongs to a thread, and a virtual thread may change its carrier between two calls; so whoever calls hands the work over and waits. Work
 * of one caller keeps its order.
 */
public final class DeviceThread implements AutoCloseable {
    /** The last thing in the queue. */
    private enum End implements Runnable {
        END;

        @Override
        public void run() {
            // The thread ends before it would run this.
        }
    }

    private final LinkedBlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
    private final Thread thread;
    private boolean closed;

    /**
     * Starts the thread.
     *
     * @param device ordinal, for the thread's name
     * @param first what it does before anything else: making the device its own
     */
    public DeviceThread(int device, Runnable first) {
        CompletableFuture<Void> started = new CompletableFuture<>();
        this.thread = Thread.ofPlatform().daemon().name("weft-ascend-" + device).start(() -> {
            try {
                first.run();
                started.complete(null);
            } catch (RuntimeException | Error refused) {
                started.completeExceptionally(refused);
                return;
            }
            serve();
        });
        join(started);
    }

    private void serve() {
        try {
            while (true) {
                Runnable next = work.take();
                if (next instanceof End) {
                    return;
                }
                next.run();
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Has the thread do something and gives what comes of it; at once when the caller is that thread. */
    public <T> T call(Supplier<T> task) {
        return Thread.currentThread() == thread ? task.get() : join(submit(task));
    }

    /** Has the thread do something and returns at once. */
    <T> CompletableFuture<T> submit(Supplier<T> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        hand(() -> {
            try {
                result.complete(task.get());
            } catch (RuntimeException | Error failed) {
                result.completeExceptionally(failed);
            }
        });
        return result;
    }

    private synchronized void hand(Runnable task) {
        if (closed) {
            throw new AcceleratorException(ErrorCode.CLOSED, "device thread", "the device was closed before");
        }
        work.add(task);
    }

    /** Waits for what was handed over. */
    static <T> T join(CompletableFuture<T> result) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return result.get();
                } catch (InterruptedException later) {
                    interrupted = true; // A call into the library cannot be broken off.
                } catch (ExecutionException failed) {
                    switch (failed.getCause()) {
                        case RuntimeException cause -> throw cause;
                        case Error cause -> throw cause;
                        default -> throw new IllegalStateException(failed.getCause());
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends the thread after what was handed over. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            work.add(End.END);
        }
    }
}
