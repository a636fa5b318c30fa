// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.nativehal.driver.GraphCapture;
import io.weft.nativehal.driver.IssuePlace;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.Patience;
import io.weft.spi.StreamDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A stream of the runtime, and the failure that it keeps. */
final class NativeStream implements StreamDriver, IssuePlace {
    private static final long PAUSE_NANOS = 50_000;

    private final NativeDevice device;
    private final long handle;
    private final boolean isDefault;
    private final Priority priority;
    private final String name;
    private final Workspace workspace;
    private final HandleGuard guard = new HandleGuard();

    private volatile AcceleratorException failure;
    /** Streams whose events this one waits for, as their failures are its own. Guarded by itself. */
    private final List<NativeStream> upstream = new ArrayList<>(2);

    NativeStream(NativeDevice device, long handle, boolean isDefault, Priority priority, String name) {
        this.device = device;
        this.handle = handle;
        this.isDefault = isDefault;
        this.priority = priority;
        this.name = isDefault ? "the default stream" : name.isEmpty() ? "stream" : "stream " + name;
        this.workspace = new Workspace(device);
    }

    @Override
    public NativeDevice device() {
        return device;
    }

    @Override
    public long handle() {
        return handle;
    }

    @Override
    public long workspace(long bytes) {
        return workspace.address(bytes);
    }

    @Override
    public Priority effectivePriority() {
        return priority;
    }

    @Override
    public Enqueue enqueue(Command command) {
        begin("enqueue");
        try {
            device.makeCurrent();
            device.issuer().issue(command, this);
        } finally {
            guard.leave();
        }
        return Enqueue.ACCEPTED;
    }

    @Override
    public void record(EventDriver event) {
        NativeEvent own = (NativeEvent) event;
        begin("record");
        try {
            device.makeCurrent();
            own.recordOn(this, handle);
        } finally {
            guard.leave();
        }
    }

    @Override
    public void waitFor(EventDriver event) {
        NativeEvent other = (NativeEvent) event;
        begin("wait");
        try {
            NativeStream source = other.stream();
            if (source == null) {
                return;
            }
            device.makeCurrent();
            other.holdUp(handle);
            if (source != this) {
                synchronized (upstream) {
                    if (!upstream.contains(source)) {
                        upstream.add(source);
                    }
                }
            }
        } finally {
            guard.leave();
        }
    }

    /** Launches a graph that was made ready, of this stream's device. */
    void launch(GraphCapture capture, long executable) {
        begin("launch graph");
        try {
            device.makeCurrent();
            capture.launch(executable, handle);
        } finally {
            guard.leave();
        }
    }

    /** Begins a use of the runtime's stream, which {@link #end} ends; refused when it was closed or has failed. */
    void begin(String operation) {
        if (!guard.tryEnter()) {
            throw closed(operation);
        }
        AcceleratorException cause = failure;
        if (cause != null) {
            guard.leave();
            throw lasting(operation, cause);
        }
    }

    /** Ends a use. */
    void end() {
        guard.leave();
    }

    private AcceleratorException closed(String operation) {
        return new AcceleratorException(ErrorCode.CLOSED, operation, name() + " was closed before");
    }

    @Override
    public boolean query() {
        int code;
        if (!guard.tryEnter()) {
            throw closed("query");
        }
        try {
            code = device.runtime().queryStream(handle);
        } finally {
            guard.leave();
        }
        if (device.runtime().isNotReady(code)) {
            throwIfFailed("query");
            return false;
        }
        settle("query", code);
        return true;
    }

    @Override
    public void synchronize() {
        if (!guard.tryEnter()) {
            throw closed("synchronize");
        }
        int code;
        try {
            code = await("synchronize");
        } finally {
            guard.leave();
        }
        settle("synchronize", code);
    }

    /** Waits for its work without telling of a failure; one that was closed has waited already. */
    void awaitIfOpen(String operation) {
        if (guard.tryEnter()) {
            try {
                await(operation);
            } finally {
                guard.leave();
            }
        }
    }

    private int await(String operation) {
        return device.platform()
                .await(
                        operation,
                        () -> device.runtime().synchronizeStream(handle),
                        () -> device.runtime().queryStream(handle));
    }

    /** Whether its work is complete; a failure counts as complete, and so does having been closed. */
    boolean isIdle() {
        if (!guard.tryEnter()) {
            return true;
        }
        try {
            return !device.runtime().isNotReady(device.runtime().queryStream(handle));
        } finally {
            guard.leave();
        }
    }

    /** Waits for its work, unless it was closed. Whether it ended within so many ns. */
    boolean drain(long nanos) {
        Patience patience = new Patience(nanos);
        while (!isIdle()) {
            if (patience.isOver()) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return true;
    }

    private void settle(String operation, int code) {
        if (code != 0) {
            fail(device.runtime().failure(operation, code));
        }
        synchronized (upstream) {
            for (NativeStream source : upstream) {
                AcceleratorException theirs = source.failure;
                if (theirs != null) {
                    fail(theirs);
                }
            }
            upstream.clear();
        }
        throwIfFailed(operation);
    }

    /** Fails for good, unless it has failed before. */
    void fail(AcceleratorException cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    AcceleratorException failure() {
        return failure;
    }

    /** Checks that work can be issued. */
    void requireUsable(String operation) {
        if (guard.isClosed()) {
            throw closed(operation);
        }
        if (failure != null) {
            throw lasting(operation, failure);
        }
    }

    /** Throws the lasting failure to someone who waits. Whoever waits for an aborted communicator is told just that. */
    void throwIfFailed(String operation) {
        AcceleratorException cause = failure;
        if (cause == null) {
            return;
        }
        if (cause.code() == ErrorCode.ABORTED) {
            throw new AcceleratorException(
                    ErrorCode.ABORTED, operation, name() + " was freed: " + cause.detail(), cause);
        }
        throw lasting(operation, cause);
    }

    private AcceleratorException lasting(String operation, AcceleratorException cause) {
        return new AcceleratorException(
                ErrorCode.STREAM_FAILED,
                operation,
                name() + " has failed: " + cause.getMessage(),
                "close it and go on with a new one",
                cause.vendorError().orElse(null),
                cause);
    }

    private String name() {
        return name + " of device " + device.ordinal();
    }

    @Override
    public void close() {
        if (isDefault || !guard.close()) {
            return;
        }
        device.forget(this);
        // What was issued completes; its workspace must outlive it.
        boolean over = failure != null;
        try {
            if (!over) {
                await("close stream");
                over = true;
            }
        } finally {
            // Something that never ends keeps its handle and its workspace: a leak is better than a crash.
            if (over && guard.awaitIdle(device.platform().options().stallNanos())) {
                device.makeCurrent();
                device.runtime().destroyStream(handle);
                workspace.close();
            }
        }
    }
}
