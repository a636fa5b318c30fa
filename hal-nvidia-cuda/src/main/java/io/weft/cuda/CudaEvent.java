// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.cuda.ffi.CudaRuntime;
import io.weft.spi.EventDriver;
import java.util.concurrent.atomic.AtomicBoolean;

/** An event. It remembers the stream of its last record, whose failure it passes on. */
final class CudaEvent implements EventDriver {
    private final CudaDevice device;
    private final long handle;
    private final boolean timed;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile CudaStream stream;
    private volatile DeviceClock.Epoch epoch;

    CudaEvent(CudaDevice device, long handle, boolean timed) {
        this.device = device;
        this.handle = handle;
        this.timed = timed;
    }

    @Override
    public CudaDevice device() {
        return device;
    }

    long handle() {
        return handle;
    }

    boolean isTimed() {
        return timed;
    }

    /** It was recorded on a stream. */
    void recordedOn(CudaStream where, DeviceClock.Epoch now) {
        stream = where;
        epoch = now;
    }

    /** The stream of the last record, null before the first. */
    CudaStream stream() {
        return stream;
    }

    @Override
    public boolean query() {
        CudaStream where = stream;
        if (where == null) {
            return true;
        }
        int code = device.runtime().queryEvent(handle);
        if (CudaRuntime.isNotReady(code)) {
            where.throwIfFailed("query event");
            return false;
        }
        settle("query event", where, code);
        return true;
    }

    @Override
    public void synchronize() {
        CudaStream where = stream;
        if (where != null) {
            settle(
                    "synchronize event",
                    where,
                    device.platform()
                            .await(
                                    "synchronize event",
                                    () -> device.runtime().synchronizeEvent(handle),
                                    () -> device.runtime().queryEvent(handle)));
        }
    }

    private void settle(String operation, CudaStream where, int code) {
        if (code != 0) {
            where.fail(device.runtime().failure(operation, code));
        }
        where.throwIfFailed(operation);
    }

    @Override
    public double timestampNanos() {
        DeviceClock.Epoch since = epoch;
        if (since == null) {
            throw new AcceleratorException(ErrorCode.INVALID_STATE, "event time", "the event has no time stamp");
        }
        return since.nanos(device.runtime(), handle);
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            device.forget(this);
            device.runtime().destroyEvent(handle);
        }
    }
}
