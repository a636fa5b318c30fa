// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.spi.DeviceDriver;
import io.weft.spi.EventDriver;

/** An event whose calls an observer sees. */
final class ObservedEvent implements EventDriver {
    private final EventDriver backend;
    private final ObservedDevice device;
    private final DriverObserver observer;

    ObservedEvent(EventDriver backend, ObservedDevice device, DriverObserver observer) {
        this.backend = backend;
        this.device = device;
        this.observer = observer;
    }

    static EventDriver unwrap(EventDriver event) {
        return event instanceof ObservedEvent observed ? observed.backend : event;
    }

    @Override
    public DeviceDriver device() {
        return device;
    }

    @Override
    public boolean query() {
        return backend.query();
    }

    @Override
    public void synchronize() {
        backend.synchronize();
    }

    @Override
    public double timestampNanos() {
        return backend.timestampNanos();
    }

    @Override
    public void close() {
        observer.beforeEventClose(backend);
        backend.close();
    }
}
