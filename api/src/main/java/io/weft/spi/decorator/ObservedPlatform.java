// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.api.Capability;
import io.weft.api.PlatformProperties;
import io.weft.api.topology.Topology;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.GemmTuningDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.PlatformDriver;
import io.weft.spi.StreamDriver;
import io.weft.spi.SymmetricMemoryDriver;
import io.weft.spi.VirtualMemoryDriver;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Wraps a platform so that an observer sees every call. Devices, streams, events, communicators and graphs are wrapped; memory is not, since it only passes through.
 * Wrappers are taken off again wherever one is handed back to the backend, so a backend never meets one.
 */
public final class ObservedPlatform implements PlatformDriver {
    private final PlatformDriver backend;
    private final DriverObserver observer;
    private final List<ObservedDevice> devices;

    /** Wraps an open platform and owns it. */
    public ObservedPlatform(PlatformDriver backend, DriverObserver observer) {
        this.backend = Objects.requireNonNull(backend);
        this.observer = Objects.requireNonNull(observer);
        this.devices = backend.devices().stream()
                .map(device -> new ObservedDevice(device, observer))
                .toList();
        observer.opened(backend);
    }

    @Override
    public PlatformProperties properties() {
        return backend.properties();
    }

    @Override
    public List<? extends DeviceDriver> devices() {
        return devices;
    }

    @Override
    public Topology topology() {
        return backend.topology();
    }

    @Override
    public Set<Capability> capabilities() {
        return backend.capabilities();
    }

    @Override
    public <T> Optional<T> extension(Class<T> type) {
        return backend.extension(type).map(found -> type.cast(wrap(type, found)));
    }

    private Object wrap(Class<?> type, Object found) {
        if (type == CollectiveDriver.class) {
            return new ObservedCollectives((CollectiveDriver) found, observer);
        }
        if (type == GraphDriver.class) {
            return new ObservedGraphs((GraphDriver) found, observer);
        }
        if (type == SymmetricMemoryDriver.class) {
            return new ObservedSymmetricMemory((SymmetricMemoryDriver) found, observer);
        }
        if (type == VirtualMemoryDriver.class) {
            return new ObservedVirtualMemory((VirtualMemoryDriver) found, observer);
        }
        if (type == GemmTuningDriver.class) {
            return new ObservedGemmTuning((GemmTuningDriver) found);
        }
        return found; // speaks of no drivers, so there is nothing to wrap or unwrap
    }

    @Override
    public long nanoTime() {
        return backend.nanoTime();
    }

    @Override
    public void close() {
        observer.beforeClose(backend);
        backend.close();
    }

    /** The backend's own device behind a wrapper. */
    static DeviceDriver unwrap(DeviceDriver device) {
        return device instanceof ObservedDevice observed ? observed.backend() : device;
    }

    /** The backend's own stream behind a wrapper. */
    static StreamDriver unwrap(StreamDriver stream) {
        return stream instanceof ObservedStream observed ? observed.backend() : stream;
    }
}
