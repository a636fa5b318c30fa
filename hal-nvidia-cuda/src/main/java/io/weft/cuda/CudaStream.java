// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.cuda.ffi.CudaRuntime;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** A stream of the runtime, and the failure that it keeps. */
final class CudaStream implements StreamDriver, IssuePlace {
    private final CudaDevice device;
    private final long handle;
    private final boolean isDefault;
    private final Priority priority;
    private final String name;
    private final Workspace workspace;
    private final AtomicBoolean closed = new AtomicBoolean();
    /** Keeps the runtime's stream alive while others than its user ask about it. */
    private final Object handleLock = new Object();

    private volatile AcceleratorException failure;
    /** Streams whose events this one waits for, as their failures are its own. Guarded by itself. */
    private final List<CudaStream> upstream = new ArrayList<>(2);

    CudaStream(CudaDevice device, long handle, boolean isDefault, Priority priority, String name) {
        this.device = device;
        this.handle = handle;
        this.isDefault = isDefault;
        this.priority = priority;
        this.name = isDefault ? "the default stream" : name.isEmpty() ? "stream" : "stream " + name;
        this.workspace = new Workspace(device);
    }

    @Override
    public CudaDevice device() {
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
        requireUsable("enqueue");
        device.makeCurrent();
        device.issuer().issue(command, this);
        return Enqueue.ACCEPTED;
    }

    @Override
    public void record(EventDriver event) {
        requireUsable("record");
        CudaEvent own = (CudaEvent) event;
        device.makeCurrent();
        device.runtime().record(own.handle(), handle);
        own.recordedOn(this, own.isTimed() ? device.clock().now() : null);
    }

    @Override
    public void waitFor(EventDriver event) {
        requireUsable("wait");
        CudaEvent other = (CudaEvent) event;
        CudaStream source = other.stream();
        if (source == null) {
            return;
        }
        device.makeCurrent();
        device.runtime().waitEvent(handle, other.handle());
        if (source != this) {
            synchronized (upstream) {
                if (!upstream.contains(source)) {
                    upstream.add(source);
                }
            }
        }
    }

    @Override
    public boolean query() {
        int code = device.runtime().queryStream(handle);
        if (CudaRuntime.isNotReady(code)) {
            throwIfFailed("query");
            return false;
        }
        settle("query", code);
        return true;
    }

    @Override
    public void synchronize() {
        settle(
                "synchronize",
                device.platform()
                        .await(
                                "synchronize",
                                () -> device.runtime().synchronizeStream(handle),
                                () -> device.runtime().queryStream(handle)));
    }

    /** Whether its work is complete; a failure counts as complete, and so does having been closed. */
    boolean isIdle() {
        synchronized (handleLock) {
            return closed.get() || !CudaRuntime.isNotReady(device.runtime().queryStream(handle));
        }
    }

    /** Waits for its work, unless it was closed. */
    void drain() {
        synchronized (handleLock) {
            if (!closed.get()) {
                device.runtime().synchronizeStream(handle);
            }
        }
    }

    private void settle(String operation, int code) {
        if (code != 0) {
            fail(device.runtime().failure(operation, code));
        }
        synchronized (upstream) {
            for (CudaStream source : upstream) {
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
        if (closed.get()) {
            throw new AcceleratorException(ErrorCode.CLOSED, operation, name() + " was closed before");
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
        if (isDefault || !closed.compareAndSet(false, true)) {
            return;
        }
        device.forget(this);
        // What was issued completes; its workspace must outlive it.
        if (failure == null) {
            device.platform()
                    .await(
                            "close stream",
                            () -> device.runtime().synchronizeStream(handle),
                            () -> device.runtime().queryStream(handle));
        }
        device.makeCurrent();
        synchronized (handleLock) {
            device.runtime().destroyStream(handle);
        }
        workspace.close();
    }
}
