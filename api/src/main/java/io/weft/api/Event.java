// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.spi.EventDriver;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A point in the order of a stream: recorded on one stream, waited for on others or by the host. If the stream it was recorded on has failed, the failure is
 * passed on to whoever waits. Safe for any thread.
 */
public final class Event implements AutoCloseable {
    private final Device device;
    private final EventOptions options;
    private final EventDriver driver;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean recorded;

    Event(Device device, EventOptions options, EventDriver driver) {
        this.device = device;
        this.options = options;
        this.driver = driver;
    }

    /** Its device. */
    public Device device() {
        return device;
    }

    /** The backend's side. */
    public EventDriver driver() {
        return driver;
    }

    /** Whether it was recorded at least once. */
    public boolean isRecorded() {
        return recorded;
    }

    void markRecorded() {
        recorded = true;
    }

    /** Whether its last record is complete; true when it was never recorded. */
    public boolean query() {
        requireOpen("query event");
        return driver.query();
    }

    /** Waits for its last record; returns at once when it was never recorded. */
    public void synchronize() {
        requireOpen("synchronize event");
        driver.synchronize();
    }

    /**
     * Time from another event's record to this one's, ns of the platform's clock. Negative when this one came first.
     *
     * @throws AcceleratorException {@link ErrorCode#INVALID_STATE} when one has no time stamp or was never recorded, {@link ErrorCode#NOT_READY} when one is not
     *     complete, {@link ErrorCode#WRONG_DEVICE} when they belong to different platforms
     */
    public double nanosSince(Event start) {
        requireOpen("event time");
        start.requireOpen("event time");
        if (start.device.platform() != device.platform()) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE, "event time", "the events belong to different platforms");
        }
        requireTime();
        start.requireTime();
        return driver.timestampNanos() - start.driver.timestampNanos();
    }

    private void requireTime() {
        if (!options.timing()) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE, "event time", "an event was created without timing");
        }
        if (!recorded) {
            throw new AcceleratorException(ErrorCode.INVALID_STATE, "event time", "an event was never recorded");
        }
        if (!driver.query()) {
            throw new AcceleratorException(
                    ErrorCode.NOT_READY, "event time", "an event is not complete", "synchronize it first", null, null);
        }
    }

    void requireOpen(String operation) {
        if (closed.get()) {
            throw new AcceleratorException(ErrorCode.CLOSED, operation, "the event was closed before");
        }
        device.platform().requireOpen(operation);
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            throw new AcceleratorException(ErrorCode.CLOSED, "close", "the event was closed before");
        }
        driver.close();
    }
}
