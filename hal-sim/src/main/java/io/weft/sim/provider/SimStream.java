// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Priority;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.spi.CommandFactors;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * An in-order queue of work. It runs on one of the device's hardware queues; streams that share a hardware queue share its order as well, so work behind a wait waits
 * too, whichever stream it belongs to.
 */
final class SimStream implements StreamDriver {
    private final SimDevice device;
    private final int lane;
    private final boolean isDefault;
    private final boolean blocking;
    private final Priority priority;
    private final String name;
    private Work tail;
    private int outstanding;
    private AcceleratorException failure;
    /** Whether somebody has heard of the failure. */
    private boolean told;

    private boolean closed;

    SimStream(SimDevice device, int lane, boolean isDefault, StreamOptions options) {
        this.device = device;
        this.lane = lane;
        this.isDefault = isDefault;
        this.blocking = options.blocking();
        this.priority = device.effective(options.priority());
        this.name = isDefault ? "the default stream" : options.name().isEmpty() ? "stream" : "stream " + options.name();
    }

    @Override
    public SimDevice device() {
        return device;
    }

    int lane() {
        return lane;
    }

    boolean isBlocking() {
        return blocking;
    }

    /** The last work issued, null when everything is complete. */
    Work tail() {
        return tail;
    }

    AcceleratorException failure() {
        return failure;
    }

    /** For people. */
    String name() {
        return name + " of device " + device.ordinal();
    }

    @Override
    public Priority effectivePriority() {
        return priority;
    }

    @Override
    public Enqueue enqueue(Command command) {
        SimPlatform platform = device.platform();
        platform.enter("enqueue");
        try {
            requireUsable("enqueue");
            CommandFactors.check(command);
            if (outstanding >= platform.options().queueDepth()) {
                // A refusal costs time like any poll, so that trying again ends.
                platform.poll(device, tail);
                return Enqueue.QUEUE_FULL;
            }
            long issued = device.issue(platform.time().issueNanos(command, device));
            platform.time().command(new CommandWork(this, command, predecessors()), command, issued);
            return Enqueue.ACCEPTED;
        } finally {
            platform.leave();
        }
    }

    @Override
    public int enqueueAll(List<Command.Copy> copies) {
        SimPlatform platform = device.platform();
        platform.enter("enqueue");
        try {
            requireUsable("enqueue");
            int room = Math.max(0, platform.options().queueDepth() - outstanding);
            int accepted = Math.min(room, copies.size());
            for (int i = 0; i < accepted; i++) {
                Command copy = copies.get(i);
                double nanos = i == 0
                        ? platform.time().issueNanos(copy, device)
                        : platform.time().furtherIssueNanos(copy, device);
                platform.time().command(new CommandWork(this, copy, predecessors()), copy, device.issue(nanos));
            }
            return accepted;
        } finally {
            platform.leave();
        }
    }

    @Override
    public void record(EventDriver event) {
        SimPlatform platform = device.platform();
        platform.enter("record");
        try {
            requireUsable("record");
            Work marker = new Work(this, predecessors());
            platform.time().marker(marker, device.issueEvent());
            ((SimEvent) event).moveTo(marker);
        } finally {
            platform.leave();
        }
    }

    @Override
    public void waitFor(EventDriver event) {
        SimPlatform platform = device.platform();
        platform.enter("wait");
        try {
            requireUsable("wait");
            Work record = ((SimEvent) event).lastRecord();
            long at = device.issueEvent();
            if (record == null || (record.isDone() && record.failure() == null)) {
                return;
            }
            platform.time().marker(new Work(this, predecessors(record)), at);
        } finally {
            platform.leave();
        }
    }

    @Override
    public boolean query() {
        SimPlatform platform = device.platform();
        platform.enter("query");
        try {
            boolean complete = platform.poll(device, tail);
            throwToWaiter("query", this, failure);
            return complete;
        } finally {
            platform.leave();
        }
    }

    @Override
    public void synchronize() {
        SimPlatform platform = device.platform();
        platform.enter("synchronize");
        try {
            platform.await("synchronize", device, tail);
            throwToWaiter("synchronize", this, failure);
        } finally {
            platform.leave();
        }
    }

    @Override
    public void close() {
        SimPlatform platform = device.platform();
        platform.enterToClose();
        try {
            if (!closed) {
                closed = true;
                platform.drain(device, tail);
                device.forget(this);
                if (failure != null && !told) {
                    device.noteUnreported(failure);
                }
            }
        } finally {
            platform.leave();
        }
    }

    /** Checks that work can be issued. */
    void requireUsable(String operation) {
        if (closed) {
            throw new AcceleratorException(ErrorCode.CLOSED, operation, name() + " was closed before");
        }
        throwFailure(operation, this, failure);
    }

    /** Fails for good, unless it has failed before. */
    void fail(AcceleratorException cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    /** What the next work must wait for: the work before it, what joins the default stream, and one more thing if not null. */
    Work[] predecessors(Work... more) {
        List<Work> before = new ArrayList<>(2 + more.length);
        if (tail != null) {
            before.add(tail);
        }
        if (isDefault) {
            device.blockingTails(before);
        } else if (blocking) {
            Work joined = device.defaultStream().tail;
            if (joined != null) {
                before.add(joined);
            }
        }
        for (Work one : more) {
            if (one != null) {
                before.add(one);
            }
        }
        return before.toArray(Work[]::new);
    }

    /** Whether what would be issued now comes after a piece of work, by the order of streams, events and the default stream. */
    boolean isBehind(Work earlier) {
        if (earlier.isDone()) {
            return true;
        }
        Set<Work> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Work> open = new ArrayDeque<>(List.of(predecessors()));
        while (!open.isEmpty()) {
            Work at = open.pop();
            if (at.equals(earlier)) {
                return true;
            }
            if (!at.isDone() && seen.add(at)) {
                Collections.addAll(open, at.after());
            }
        }
        return false;
    }

    /** Work was issued on it. */
    void issued(Work work) {
        tail = work;
        outstanding++;
    }

    /** Work of it is complete. */
    void completed(Work work) {
        outstanding--;
        if (work.equals(tail)) {
            tail = null;
        }
        if (work.failure() != null) {
            fail(work.failure());
        }
    }

    /** Throws the lasting failure of a stream to someone who waits for it, if any. Whoever waits for an aborted communicator is told just that. */
    static void throwToWaiter(String operation, SimStream stream, AcceleratorException cause) {
        if (cause != null && cause.code() == ErrorCode.ABORTED) {
            stream.told = true;
            throw new AcceleratorException(
                    ErrorCode.ABORTED, operation, stream.name() + " was freed: " + cause.detail(), cause);
        }
        throwFailure(operation, stream, cause);
    }

    /** Throws the lasting failure of a stream, if any. */
    static void throwFailure(String operation, SimStream stream, AcceleratorException cause) {
        if (cause != null) {
            stream.told = true;
            throw new AcceleratorException(
                    ErrorCode.STREAM_FAILED,
                    operation,
                    stream.name() + " has failed: " + cause.getMessage(),
                    "close it and go on with a new one",
                    null,
                    cause);
        }
    }
}
