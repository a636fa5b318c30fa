// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Ranks as threads of one process. The first failure is everybody's: later calls get it at once. */
final class LocalExchange implements SymmetricExchange {
    private final int ranks;
    private final Duration timeout;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition moved = lock.newCondition();
    private final long[] reached;
    private final String[] gone;
    private long[][] calls;
    private long[][] last;
    private long round = 1;
    private int arrived;
    private AcceleratorException failure;

    LocalExchange(int ranks, Duration timeout) {
        this.ranks = ranks;
        this.timeout = timeout;
        this.reached = new long[ranks];
        this.gone = new String[ranks];
        this.calls = new long[ranks][];
    }

    @Override
    public long[][] exchange(int rank, long number, long[] call) {
        lock.lock();
        try {
            throwFailure();
            reached[rank] = number;
            calls[rank] = call.clone();
            arrived++;
            String lost = firstGone();
            if (lost != null) {
                fail(new AcceleratorException(
                        ErrorCode.ABORTED, "symmetric heap", "round " + number + " cannot complete: " + lost));
            }
            if (arrived == ranks) {
                last = calls;
                calls = new long[ranks][];
                arrived = 0;
                round++;
                moved.signalAll();
                return last;
            }
            long left = timeout.toNanos();
            while (round == number && failure == null) {
                if (left <= 0) {
                    fail(new AcceleratorException(
                            ErrorCode.TIMEOUT,
                            "symmetric heap",
                            "round " + number + " is not complete after " + timeout.toMillis() + " ms: "
                                    + lagging(number)));
                }
                left = moved.awaitNanos(left);
            }
            throwFailure();
            return last;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            fail(new AcceleratorException(
                    ErrorCode.ABORTED, "symmetric heap", "rank " + rank + " was interrupted in round " + number));
            throw failure;
        } finally {
            lock.unlock();
        }
    }

    private String lagging(long number) {
        StringBuilder text = new StringBuilder();
        for (int rank = 0; rank < ranks; rank++) {
            if (reached[rank] < number) {
                text.append(text.isEmpty() ? "" : ", ")
                        .append("rank ")
                        .append(rank)
                        .append(reached[rank] == 0 ? " has made no call" : " was last in round " + reached[rank]);
            }
        }
        return text.toString();
    }

    private String firstGone() {
        for (int rank = 0; rank < ranks; rank++) {
            if (gone[rank] != null) {
                return "rank " + rank + " is gone (" + gone[rank] + "), last in round " + reached[rank];
            }
        }
        return null;
    }

    private void fail(AcceleratorException cause) {
        if (failure == null) {
            failure = cause;
            moved.signalAll();
        }
        throwFailure();
    }

    private void throwFailure() {
        if (failure != null) {
            throw new AcceleratorException(failure.code(), "symmetric heap", failure.detail(), failure);
        }
    }

    @Override
    public void leave(int rank, String reason) {
        lock.lock();
        try {
            gone[rank] = reason;
            if (arrived > 0 && failure == null) {
                failure = new AcceleratorException(
                        ErrorCode.ABORTED, "symmetric heap", "round " + round + " cannot complete: " + firstGone());
                moved.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }
}
