// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.api.Capability;
import java.util.Locale;

/** A feature that a plugin can claim by itself: a run with a profile judges that feature's rules and demands its capability. */
public enum Profile {
    COLLECTIVES(Capability.COLLECTIVES),
    SYMMETRIC_MEMORY(Capability.SYMMETRIC_MEMORY),
    GRAPHS(Capability.DEVICE_GRAPHS),
    VIRTUAL_MEMORY(Capability.VIRTUAL_MEMORY);

    private final Capability capability;

    Profile(Capability capability) {
        this.capability = capability;
    }

    /** What a platform must declare to claim it. */
    public Capability capability() {
        return capability;
    }

    /** The name in options and files, such as {@code symmetric-memory}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
