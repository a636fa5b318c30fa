// SPDX-License-Identifier: Apache-2.0
package com.example.skeleton;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.PlatformUri;
import io.weft.spi.AcceleratorProvider;
import io.weft.spi.PlatformDriver;
import io.weft.spi.Probe;
import io.weft.spi.ProviderDescriptor;
import io.weft.spi.SpiVersion;
import io.weft.spi.Target;
import java.util.List;

/** The entry point. Rename it, its id and its target. */
public final class SkeletonProvider implements AcceleratorProvider {
    @Override
    public ProviderDescriptor descriptor() {
        return new ProviderDescriptor(
                "skeleton", "Example", "A plugin that refuses everything.", "1", new SpiVersion(1, 0));
    }

    @Override
    public Probe probe() {
        // Look for a device file or a library here, and answer new Probe.Absent("why") when it is not there.
        return new Probe.Available("nothing is implemented yet");
    }

    @Override
    public List<Target> targets() {
        return List.of(new Target("none", "one device that refuses everything"));
    }

    @Override
    public PlatformDriver open(PlatformUri uri) {
        if (!uri.target().equals("none")) {
            throw new AcceleratorException(
                    ErrorCode.NOT_FOUND,
                    "open " + uri,
                    "there is no target '" + uri.target() + "'; known is skeleton:none");
        }
        if (!uri.options().isEmpty()) {
            throw AcceleratorException.invalid(
                    "open " + uri, "options " + uri.options().keySet() + " are unknown; skeleton:none takes none");
        }
        return new SkeletonPlatform();
    }
}
