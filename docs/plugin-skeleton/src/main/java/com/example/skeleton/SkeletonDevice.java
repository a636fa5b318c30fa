// SPDX-License-Identifier: Apache-2.0
package com.example.skeleton;

import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import io.weft.api.EventOptions;
import io.weft.api.MemoryInfo;
import io.weft.api.MemoryKind;
import io.weft.api.StreamOptions;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Set;

/** One device. */
final class SkeletonDevice implements DeviceDriver {
    private static final DeviceProperties PROPERTIES = new DeviceProperties(
            0, // ordinal
            "Skeleton",
            "skeleton-1",
            1, // compute units
            1 << 20, // bytes of memory
            1e9, // bytes/s
            Map.of(ElementType.FP32, 1e9), // FLOP/s of the types that Gemm takes
            Set.of(ElementType.FP32),
            0, // copy engines
            1, // hardware queues
            1, // priorities
            256, // allocation alignment
            "", // bus address, empty when unknown
            -1, // NUMA node, -1 when unknown
            Map.of());

    private final SkeletonStream defaultStream = new SkeletonStream(this);

    @Override
    public DeviceProperties properties() {
        return PROPERTIES;
    }

    @Override
    public DeviceMemory allocate(MemoryKind kind, long bytes) {
        throw NotYet.written("allocate");
    }

    @Override
    public void free(DeviceMemory memory) {
        throw NotYet.written("free");
    }

    @Override
    public MemoryInfo memoryInfo() {
        return new MemoryInfo(PROPERTIES.memoryBytes(), PROPERTIES.memoryBytes());
    }

    @Override
    public StreamDriver defaultStream() {
        return defaultStream;
    }

    @Override
    public StreamDriver createStream(StreamOptions options) {
        throw NotYet.written("create stream");
    }

    @Override
    public EventDriver createEvent(EventOptions options) {
        throw NotYet.written("create event");
    }

    @Override
    public void write(DeviceMemory destination, long offset, MemorySegment source) {
        throw NotYet.written("write");
    }

    @Override
    public void read(MemorySegment destination, DeviceMemory source, long offset) {
        throw NotYet.written("read");
    }

    @Override
    public boolean canAccess(DeviceDriver peer) {
        return false;
    }

    @Override
    public void enablePeerAccess(DeviceDriver peer) {
        throw NotYet.written("enable peer access");
    }

    @Override
    public void disablePeerAccess(DeviceDriver peer) {
        throw NotYet.written("disable peer access");
    }

    @Override
    public void synchronize() {
        throw NotYet.written("synchronize");
    }
}
