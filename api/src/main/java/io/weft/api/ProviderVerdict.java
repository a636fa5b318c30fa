// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.spi.ProviderDescriptor;
import io.weft.spi.Target;
import java.util.List;
import java.util.Objects;

/**
 * What discovery found out about one provider.
 *
 * @param id its id; for one that could not be asked, the class or file that names it
 * @param state the verdict
 * @param detail what was found (LOADED), what is missing (ABSENT), or what went wrong, in one line
 * @param descriptor who it is, or null when it could not be asked
 * @param targets what it can open; empty unless LOADED
 * @param origin where it was found, for people: a module, a jar, or a plugin folder
 * @param cause what was thrown, or null
 */
public record ProviderVerdict(
        String id,
        State state,
        String detail,
        ProviderDescriptor descriptor,
        List<Target> targets,
        String origin,
        Throwable cause) {
    /** The verdicts. */
    public enum State {
        /** Usable. */
        LOADED,
        /** Works, but its hardware or driver is not here. */
        ABSENT,
        /** Turned off by a setting before it was loaded. */
        DISABLED,
        /** Compiled for an SPI version that this host does not run. */
        INCOMPATIBLE,
        /** Broken; others are not affected. */
        FAILED
    }

    public ProviderVerdict {
        Objects.requireNonNull(id);
        Objects.requireNonNull(state);
        Objects.requireNonNull(detail);
        Objects.requireNonNull(origin);
        targets = List.copyOf(targets);
    }
}
