// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.spi.EventDriver;

/** An event. It remembers the stream of its last record, whose failure it passes on. */
final class NativeEvent implements EventDriver {
    private static final String NAME = "the event";

    private final NativeDevice device;
    private final long handle;
    private final boolean timed;
    private final HandleGuard guard = new HandleGuard();
    private volatile NativeStream stream;
    private volatile DeviceClock.Epoch epoch;

    NativeEvent(NativeDevice device, long handle, boolean timed) {
        this.device = device;
        this.handle = handle;
        this.timed = timed;
    }

    @Override
    public NativeDevice device() {
        return device;
    }

    /** Records it after the work of a stream of its device, which is current. */
    void recordOn(NativeStream where, long streamHandle) {
        guard.enter("record", NAME);
        try {
            DeviceClock.Epoch now = timed ? device.clock().now() : null;
            device.runtime().record(handle, streamHandle);
            stream = where;
            epoch = now;
        } finally {
            guard.leave();
        }
    }

    /** Makes later work of a stream of the runtime wait for the last record. */
    void holdUp(long streamHandle) {
        guard.enter("wait", NAME);
        try {
            device.runtime().waitEvent(streamHandle, handle);
        } finally {
            guard.leave();
        }
    }

    /** The stream of the last record, null before the first. */
    NativeStream stream() {
        return stream;
    }

    @Override
    public boolean query() {
        NativeStream where = stream;
        if (where == null) {
            return true;
        }
        int code;
        guard.enter("query event", NAME);
        try {
            code = device.runtime().queryEvent(handle);
        } finally {
            guard.leave();
        }
        if (device.runtime().isNotReady(code)) {
            where.throwIfFailed("query event");
            return false;
        }
        settle("query event", where, code);
        return true;
    }

    @Override
    public void synchronize() {
        NativeStream where = stream;
        if (where == null) {
            return;
        }
        int code;
        guard.enter("synchronize event", NAME);
        try {
            code = device.platform()
                    .await(
                            "synchronize event",
                            () -> device.runtime().synchronizeEvent(handle),
                            () -> device.runtime().queryEvent(handle));
        } finally {
            guard.leave();
        }
        settle("synchronize event", where, code);
    }

    private void settle(String operation, NativeStream where, int code) {
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
        guard.enter("event time", NAME);
        try {
            return since.nanos(device.runtime(), handle);
        } finally {
            guard.leave();
        }
    }

    @Override
    public void close() {
        if (guard.close()) {
            device.forget(this);
            if (guard.awaitIdle(device.platform().options().stallNanos())) {
                device.runtime().destroyEvent(handle);
            }
        }
    }
}
