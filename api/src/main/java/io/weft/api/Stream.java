// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.api.graph.Command;
import io.weft.spi.Enqueue;
import io.weft.spi.StreamDriver;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An in-order queue of work on one device. Calls return before the work is done. A stream that failed stays failed: every later call throws {@link
 * ErrorCode#STREAM_FAILED} with the first cause, and so does everyone who waits for an event recorded on it.
 *
 * <p>Safe for any thread; the order of commands issued by several threads is the order of their calls.
 */
public final class Stream implements AutoCloseable {
    private final Device device;
    private final StreamDriver driver;
    private final boolean isDefault;
    private final AtomicBoolean closed = new AtomicBoolean();

    Stream(Device device, StreamDriver driver, boolean isDefault) {
        this.device = device;
        this.driver = driver;
        this.isDefault = isDefault;
    }

    /** Its device. */
    public Device device() {
        return device;
    }

    /** The backend's side. */
    public StreamDriver driver() {
        return driver;
    }

    /** What the backend made of the wished priority. */
    public Priority effectivePriority() {
        return driver.effectivePriority();
    }

    /** Copies elements between views of the same shape and type, choosing the method by the backend's own table. */
    public void copy(BufferView destination, BufferView source) {
        copy(destination, source, CopyMethod.AUTO);
    }

    /** Copies elements between views of the same shape and type; gaps are allowed. */
    public void copy(BufferView destination, BufferView source, CopyMethod method) {
        boolean contiguous =
                destination.isContiguous() && source.isContiguous() && destination.layout() == source.layout();
        enqueue(
                contiguous
                        ? new Command.Copy(destination, source, method)
                        : new Command.CopyStrided(destination, source, method));
    }

    /**
     * Issues copies in their order, together where the backend can: many small ones then cost the host little more than one. The same as {@link #enqueue} of each.
     *
     * @throws AcceleratorException as {@link #enqueue}, before any of them is issued
     */
    public void copyAll(List<Command.Copy> copies) {
        requireOpen("enqueue");
        copies.forEach(copy -> OperandCheck.check(copy, device));
        for (int i = driver.enqueueAll(copies); i < copies.size(); i++) {
            enqueue(copies.get(i));
        }
    }

    /** Sets every element of a view to a bit pattern. */
    public void fill(BufferView destination, int bits) {
        enqueue(new Command.Fill(destination, bits));
    }

    /** {@code C = A * B}. */
    public void gemm(BufferView c, BufferView a, BufferView b) {
        enqueue(Command.Gemm.of(c, a, b));
    }

    /** Elementwise reduction of the inputs in their order. */
    public void reduce(BufferView destination, List<BufferView> inputs, ReduceOp op) {
        enqueue(new Command.Reduce(destination, inputs, op));
    }

    /**
     * Issues a command; waits for room when the queue is full.
     *
     * @throws AcceleratorException for operands that are slots, closed, or out of this device's reach; {@link ErrorCode#STREAM_FAILED}
     */
    public void enqueue(Command command) {
        if (tryEnqueue(command) == Enqueue.QUEUE_FULL) {
            driver.synchronize();
            if (driver.enqueue(command) == Enqueue.QUEUE_FULL) {
                throw new AcceleratorException(
                        ErrorCode.INTERNAL, "enqueue", "an idle stream of " + device + " reports a full queue");
            }
        }
    }

    /** Issues a command unless the queue is full, in which case nothing happens. */
    public Enqueue tryEnqueue(Command command) {
        requireOpen("enqueue");
        OperandCheck.check(command, device);
        return driver.enqueue(command);
    }

    /**
     * Records an event after all work issued so far.
     *
     * @throws AcceleratorException {@link ErrorCode#WRONG_DEVICE} when it belongs to another device
     */
    public void record(Event event) {
        requireOpen("record");
        event.requireOpen("record");
        if (event.device() != device) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE,
                    "record",
                    "the event belongs to " + event.device() + " and the stream to " + device);
        }
        driver.record(event.driver());
        event.markRecorded();
    }

    /** Makes later work wait for an event's last record, on any device of the same platform. Never recorded: nothing to wait for. */
    public void waitFor(Event event) {
        requireOpen("wait");
        event.requireOpen("wait");
        if (event.device().platform() != device.platform()) {
            throw new AcceleratorException(ErrorCode.WRONG_DEVICE, "wait", "the event belongs to another platform");
        }
        if (event.isRecorded()) {
            driver.waitFor(event.driver());
        }
    }

    /** Whether all work issued so far is complete. */
    public boolean query() {
        requireOpen("query");
        return driver.query();
    }

    /** Waits for all work issued so far. */
    public void synchronize() {
        requireOpen("synchronize");
        driver.synchronize();
    }

    /** Whether {@link #close()} was called; it may still be completing what was issued. */
    public boolean isClosed() {
        return closed.get();
    }

    void requireOpen(String operation) {
        if (closed.get()) {
            throw new AcceleratorException(ErrorCode.CLOSED, operation, "the stream was closed before");
        }
        device.platform().requireOpen(operation);
    }

    /** Completes what was issued, then releases the stream. The default stream cannot be closed. */
    @Override
    public void close() {
        if (isDefault) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE, "close", "the default stream lives as long as its device");
        }
        if (!closed.compareAndSet(false, true)) {
            throw new AcceleratorException(ErrorCode.CLOSED, "close", "the stream was closed before");
        }
        driver.close();
    }
}
