// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.sketch;

import io.weft.api.Capability;
import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import io.weft.api.EventOptions;
import io.weft.api.Figures;
import io.weft.api.MemoryInfo;
import io.weft.api.MemoryKind;
import io.weft.api.Platform;
import io.weft.api.PlatformProperties;
import io.weft.api.PlatformUri;
import io.weft.api.StreamOptions;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.EventDriver;
import io.weft.spi.PerformanceModel;
import io.weft.spi.PlatformDriver;
import io.weft.spi.StreamDriver;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A backend that has a shape and names, computes nothing, and predicts by {@link FlatModel}: enough to draw and to plan. */
public final class SketchPlatform implements PlatformDriver {
    private final String deviceName;
    private final Topology topology;

    private SketchPlatform(String deviceName, Topology topology) {
        this.deviceName = deviceName;
        this.topology = topology;
    }

    /** Devices in a line or ring, each linked to the next at 50 GB/s and back at {@code backward}. */
    public static Platform ring(int devices, double backward, String deviceName) {
        List<Link> links = new ArrayList<>();
        for (int from = 0; from < devices; from++) {
            for (int to = 0; to < devices; to++) {
                if (from == to) {
                    links.add(new Link(from, to, LinkKind.SELF, "self", 0, 0, 0, 1, true, true));
                } else if (to == (from + 1) % devices) {
                    links.add(new Link(from, to, LinkKind.FABRIC, "wire", 50, 500, 1, 2, true, true));
                } else if (from == (to + 1) % devices) {
                    links.add(new Link(from, to, LinkKind.FABRIC, "wire", backward, 500, 1, 2, true, true));
                } else {
                    links.add(new Link(from, to, LinkKind.NONE, "none", 0, 0, 0, 0, false, false));
                }
            }
        }
        int[] numa = new int[devices];
        Arrays.fill(numa, -1);
        return new Platform(
                PlatformUri.parse("sketch:ring-" + devices),
                new SketchPlatform(deviceName, new Topology(devices, links, numa)));
    }

    @Override
    public PlatformProperties properties() {
        return new PlatformProperties("ring", "sketch", Figures.MODEL, Map.of());
    }

    @Override
    public List<? extends DeviceDriver> devices() {
        List<SketchDevice> devices = new ArrayList<>();
        for (int i = 0; i < topology.devices(); i++) {
            devices.add(new SketchDevice(new DeviceProperties(
                    i,
                    deviceName,
                    "sketch",
                    64,
                    1L << 34,
                    1e12,
                    Map.of(ElementType.BF16, 1e14),
                    Set.of(ElementType.BF16),
                    2,
                    4,
                    2,
                    128,
                    "",
                    -1,
                    Map.of())));
        }
        return devices;
    }

    @Override
    public Topology topology() {
        return topology;
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.of(Capability.PERFORMANCE_MODEL, Capability.DEVICE_GRAPHS);
    }

    @Override
    public <T> Optional<T> extension(Class<T> type) {
        return type == PerformanceModel.class ? Optional.of(type.cast(new FlatModel())) : Optional.empty();
    }

    @Override
    public long nanoTime() {
        return 0;
    }

    @Override
    public void close() {}

    private record SketchDevice(DeviceProperties properties) implements DeviceDriver {
        private static UnsupportedOperationException drawing() {
            return new UnsupportedOperationException("a sketch computes nothing");
        }

        @Override
        public DeviceMemory allocate(MemoryKind kind, long bytes) {
            throw drawing();
        }

        @Override
        public void free(DeviceMemory memory) {
            throw drawing();
        }

        @Override
        public MemoryInfo memoryInfo() {
            throw drawing();
        }

        @Override
        public StreamDriver defaultStream() {
            return null;
        }

        @Override
        public StreamDriver createStream(StreamOptions options) {
            throw drawing();
        }

        @Override
        public EventDriver createEvent(EventOptions options) {
            throw drawing();
        }

        @Override
        public void write(DeviceMemory destination, long offset, MemorySegment source) {
            throw drawing();
        }

        @Override
        public void read(MemorySegment destination, DeviceMemory source, long offset) {
            throw drawing();
        }

        @Override
        public boolean canAccess(DeviceDriver peer) {
            return false;
        }

        @Override
        public void enablePeerAccess(DeviceDriver peer) {
            throw drawing();
        }

        @Override
        public void disablePeerAccess(DeviceDriver peer) {
            throw drawing();
        }

        @Override
        public void synchronize() {}
    }
}
