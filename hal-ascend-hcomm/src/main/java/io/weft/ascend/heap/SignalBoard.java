// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.heap;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Stream;
import io.weft.spi.Patience;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The signals of one rank: 64-bit words of its heap which others set or add to, and which it waits for. All updates go through one stream of the rank's device, so that additions of several ranks do not lose one another;
 * each waits for the data that it announces. A waiting host sees an update when the device has carried it out.
 *
 * <p>A signal is changed by signal operations alone; one that nobody has touched is 0. Safe for any thread.
 */
final class SignalBoard implements AutoCloseable {
    /** Bytes of a signal. */
    static final int BYTES = 8;

    /** How often a host looks for a signal before it gives up. */
    private static final int LOOKS = 20;

    /** One update on its way: what the signal is after it. */
    private record Update(long offset, long after, Event done) {}

    private final Device device;
    private final Stream lane;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition moved = lock.newCondition();
    private final ArrayDeque<Update> pending = new ArrayDeque<>();
    private final Map<Long, Long> issued = new HashMap<>();
    private final Map<Long, Long> visible = new HashMap<>();
    private long updates;

    SignalBoard(Device device) {
        this.device = device;
        this.lane = device.createStream();
    }

    /**
     * Issues an update.
     *
     * @param word the signal's eight bytes
     * @param data what must be complete first, or null
     */
    void update(long offset, Buffer word, SignalOp op, long value, Event data) {
        if (offset % BYTES != 0) {
            throw new AcceleratorException(
                    ErrorCode.MISALIGNED, "signal", "offset " + offset + " must be a multiple of " + BYTES + " bytes");
        }
        lock.lock();
        try {
            long after = op.apply(issued.getOrDefault(offset, 0L), value);
            if (data != null) {
                lane.waitFor(data);
            }
            fill(word, 0, (int) after);
            fill(word, Integer.BYTES, (int) (after >>> Integer.SIZE));
            Event done = device.createEvent(EventOptions.untimed());
            lane.record(done);
            issued.put(offset, after);
            pending.addLast(new Update(offset, after, done));
            updates++;
            moved.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void fill(Buffer word, int at, int bits) {
        lane.fill(BufferView.vector(word, at, 1, ElementType.INT32), bits);
    }

    /** The signal as the device has it now. */
    long value(long offset) {
        lock.lock();
        try {
            settle();
            return visible.getOrDefault(offset, 0L);
        } finally {
            lock.unlock();
        }
    }

    /** Takes over what the device has carried out; updates end in their order. */
    private void settle() {
        while (!pending.isEmpty() && pending.peekFirst().done.query()) {
            apply(pending.pollFirst());
        }
    }

    private void apply(Update update) {
        visible.put(update.offset, update.after);
        update.done.close();
    }

    /**
     * Waits on the host.
     *
     * @return the value that satisfied it
     * @throws AcceleratorException TIMEOUT when nobody issues what is missing in time
     */
    long await(long offset, Compare compare, long value, int rank, Duration timeout) {
        lock.lock();
        try {
            Patience patience = Patience.ofLooks(timeout.toNanos(), LOOKS);
            while (true) {
                long now = visible.getOrDefault(offset, 0L);
                if (compare.holds(now, value)) {
                    return now;
                }
                if (!pending.isEmpty()) {
                    // Virtual time passes while the host waits for the next update.
                    Update next = pending.pollFirst();
                    next.done.synchronize();
                    apply(next);
                } else {
                    awaitNews(offset, compare, value, rank, timeout, patience);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    @SuppressWarnings("WaitNotInLoop") // Both callers look again and again.
    private void awaitNews(long offset, Compare compare, long value, int rank, Duration timeout, Patience patience) {
        if (patience.isOver()) {
            throw new AcceleratorException(
                    ErrorCode.TIMEOUT,
                    "signal wait",
                    "the signal at offset " + offset + " of rank " + rank + " is " + visible.getOrDefault(offset, 0L)
                            + " and must be " + compare + " " + value + "; nobody has changed it for "
                            + timeout.toMillis() + " ms (" + updates + " updates so far)",
                    "look at the rank that should have sent it",
                    null,
                    null);
        }
        try {
            moved.awaitNanos(patience.stepNanos());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new AcceleratorException(
                    ErrorCode.ABORTED, "signal wait", "rank " + rank + " was interrupted while it waited for a signal");
        }
    }

    /** Makes a stream wait until the signal satisfies a comparison; the update that does it must be issued before, which the host waits for. */
    void awaitOnStream(Stream stream, long offset, Compare compare, long value, int rank, Duration timeout) {
        lock.lock();
        try {
            Patience patience = Patience.ofLooks(timeout.toNanos(), LOOKS);
            while (true) {
                if (compare.holds(visible.getOrDefault(offset, 0L), value)) {
                    return;
                }
                for (Update update : pending) {
                    if (update.offset == offset && compare.holds(update.after, value)) {
                        stream.waitFor(update.done);
                        return;
                    }
                }
                awaitNews(offset, compare, value, rank, timeout, patience);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits until everything issued so far is carried out. */
    void quiet() {
        lock.lock();
        try {
            lane.synchronize();
            settle();
        } finally {
            lock.unlock();
        }
    }

    /** Forgets a signal whose memory is freed. */
    void forget(long offset, long bytes) {
        lock.lock();
        try {
            quietLocked();
            for (Iterator<Long> known = issued.keySet().iterator(); known.hasNext(); ) {
                long at = known.next();
                if (at >= offset && at < offset + bytes) {
                    known.remove();
                    visible.remove(at);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void quietLocked() {
        while (!pending.isEmpty()) {
            Update next = pending.pollFirst();
            next.done.synchronize();
            apply(next);
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            quietLocked();
            lane.close();
        } finally {
            lock.unlock();
        }
    }
}
