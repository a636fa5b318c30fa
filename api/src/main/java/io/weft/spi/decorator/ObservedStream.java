// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.spi.DeviceDriver;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;
import java.util.List;

/** A stream whose calls an observer sees. */
final class ObservedStream implements StreamDriver {
    private final StreamDriver backend;
    private final ObservedDevice device;
    private final DriverObserver observer;

    ObservedStream(StreamDriver backend, ObservedDevice device, DriverObserver observer) {
        this.backend = backend;
        this.device = device;
        this.observer = observer;
    }

    StreamDriver backend() {
        return backend;
    }

    @Override
    public DeviceDriver device() {
        return device;
    }

    @Override
    public Enqueue enqueue(Command command) {
        observer.beforeEnqueue(backend, command);
        Enqueue result = backend.enqueue(command);
        observer.enqueued(backend, command, result);
        return result;
    }

    @Override
    public int enqueueAll(List<Command.Copy> copies) {
        copies.forEach(copy -> observer.beforeEnqueue(backend, copy));
        int accepted = backend.enqueueAll(copies);
        for (int i = 0; i < copies.size(); i++) {
            observer.enqueued(backend, copies.get(i), i < accepted ? Enqueue.ACCEPTED : Enqueue.QUEUE_FULL);
        }
        return accepted;
    }

    @Override
    public void record(EventDriver event) {
        EventDriver own = ObservedEvent.unwrap(event);
        observer.beforeRecord(backend, own);
        backend.record(own);
    }

    @Override
    public void waitFor(EventDriver event) {
        EventDriver own = ObservedEvent.unwrap(event);
        observer.beforeWait(backend, own);
        backend.waitFor(own);
    }

    @Override
    public boolean query() {
        return backend.query();
    }

    @Override
    public void synchronize() {
        backend.synchronize();
        observer.synchronizedStream(backend);
    }

    @Override
    public Priority effectivePriority() {
        return backend.effectivePriority();
    }

    @Override
    public void close() {
        observer.beforeStreamClose(backend);
        backend.close();
    }
}
