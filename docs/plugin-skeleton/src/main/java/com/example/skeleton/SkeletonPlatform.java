// SPDX-License-Identifier: Apache-2.0
package com.example.skeleton;

import io.weft.api.Capability;
import io.weft.api.Figures;
import io.weft.api.PlatformProperties;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.spi.PlatformDriver;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** An opened machine. */
final class SkeletonPlatform implements PlatformDriver {
    private final SkeletonDevice device = new SkeletonDevice();

    @Override
    public PlatformProperties properties() {
        return new PlatformProperties("none", "Example", Figures.MEASURED, Map.of());
    }

    @Override
    public List<SkeletonDevice> devices() {
        return List.of(device);
    }

    @Override
    public Topology topology() {
        Link self = new Link(0, 0, LinkKind.SELF, "memory", 1, 0, 0, 1, true, true);
        return new Topology(1, List.of(self), new int[] {-1});
    }

    @Override
    public Set<Capability> capabilities() {
        // STORAGE says that buffers hold data. Add more as you implement them; each brings its rules.
        return Set.of(Capability.STORAGE);
    }

    @Override
    public <T> Optional<T> extension(Class<T> type) {
        return Optional.empty();
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void close() {
        // Release everything that is still open.
    }
}
