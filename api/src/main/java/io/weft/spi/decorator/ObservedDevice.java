// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.api.DeviceProperties;
import io.weft.api.EventOptions;
import io.weft.api.MemoryInfo;
import io.weft.api.MemoryKind;
import io.weft.api.StreamOptions;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;
import java.lang.foreign.MemorySegment;

/** A device whose calls an observer sees. */
final class ObservedDevice implements DeviceDriver {
    private final DeviceDriver backend;
    private final DriverObserver observer;

    ObservedDevice(DeviceDriver backend, DriverObserver observer) {
        this.backend = backend;
        this.observer = observer;
    }

    DeviceDriver backend() {
        return backend;
    }

    @Override
    public DeviceProperties properties() {
        return backend.properties();
    }

    @Override
    public DeviceMemory allocate(MemoryKind kind, long bytes) {
        observer.beforeAllocate(backend, kind, bytes);
        DeviceMemory memory = backend.allocate(kind, bytes);
        observer.allocated(backend, memory);
        return memory;
    }

    @Override
    public DeviceMemory allocateHost(int numaNode, long bytes) {
        observer.beforeAllocate(backend, MemoryKind.HOST_PINNED, bytes);
        DeviceMemory memory = backend.allocateHost(numaNode, bytes);
        observer.allocated(backend, memory);
        return memory;
    }

    @Override
    public void free(DeviceMemory memory) {
        observer.beforeFree(backend, memory);
        backend.free(memory);
    }

    @Override
    public MemoryInfo memoryInfo() {
        return backend.memoryInfo();
    }

    @Override
    public StreamDriver defaultStream() {
        return new ObservedStream(backend.defaultStream(), this, observer);
    }

    @Override
    public StreamDriver createStream(StreamOptions options) {
        StreamDriver stream = backend.createStream(options);
        observer.streamCreated(stream, options);
        return new ObservedStream(stream, this, observer);
    }

    @Override
    public EventDriver createEvent(EventOptions options) {
        EventDriver event = backend.createEvent(options);
        observer.eventCreated(event, options);
        return new ObservedEvent(event, this, observer);
    }

    @Override
    public void write(DeviceMemory destination, long offset, MemorySegment source) {
        observer.beforeWrite(backend, destination, offset, source.byteSize());
        backend.write(destination, offset, source);
    }

    @Override
    public void read(MemorySegment destination, DeviceMemory source, long offset) {
        observer.beforeRead(backend, source, offset, destination.byteSize());
        backend.read(destination, source, offset);
    }

    @Override
    public boolean canAccess(DeviceDriver peer) {
        return backend.canAccess(ObservedPlatform.unwrap(peer));
    }

    @Override
    public void enablePeerAccess(DeviceDriver peer) {
        backend.enablePeerAccess(ObservedPlatform.unwrap(peer));
    }

    @Override
    public void disablePeerAccess(DeviceDriver peer) {
        backend.disablePeerAccess(ObservedPlatform.unwrap(peer));
    }

    @Override
    public void synchronize() {
        backend.synchronize();
    }
}
