// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.spi.Patience;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Ranks as threads of one process. The first failure is everybody's: later calls get it at once. A round that is complete is complete for every rank, also for one that wakes up so late that the others have failed in the next.
 */
final class LocalExchange implements SymmetricExchange {
    /** How often a rank looks for the others before it gives them up. */
    private static final int LOOKS = 20;

    private final int ranks;
    private final Supplier<Duration> timeout;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition moved = lock.newCondition();
    private final long[] reached;
    private final String[] gone;
    private long[][] calls;
    private long[][] last;
    private long round = 1;
    private int arrived;
    private AcceleratorException failure;

    /**
     * Makes one.
     *
     * @param timeout asked for at the start of each rank's wait
     */
    LocalExchange(int ranks, Supplier<Duration> timeout) {
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
            await(rank, number);
            return last; // The next round cannot complete without this rank.
        } finally {
            lock.unlock();
        }
    }

    /** Waits until a round is complete. */
    private void await(int rank, long number) {
        Duration limit = timeout.get();
        Patience patience = Patience.ofLooks(limit.toNanos(), LOOKS);
        boolean interrupted = false;
        while (round == number) {
            throwFailure();
            if (interrupted) {
                Thread.currentThread().interrupt();
                fail(new AcceleratorException(
                        ErrorCode.ABORTED, "symmetric heap", "rank " + rank + " was interrupted in round " + number));
            }
            if (patience.isOver()) {
                fail(new AcceleratorException(
                        ErrorCode.TIMEOUT,
                        "symmetric heap",
                        "round " + number + " is not complete after " + limit.toMillis() + " ms: " + lagging(number)));
            }
            try {
                moved.awaitNanos(patience.stepNanos());
            } catch (InterruptedException stop) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
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
