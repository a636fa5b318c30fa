// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.PlatformUri;
import java.util.List;
import java.util.Optional;

/**
 * The entry point of a plugin, found by {@link java.util.ServiceLoader}. The constructor and {@link #descriptor()} have no side effects; {@link #probe()} is
 * cheap and loads no vendor library that can end the process; only {@link #open(PlatformUri)} touches hardware. Must be safe for any thread.
 */
public interface AcceleratorProvider {
    /** Who this is. */
    ProviderDescriptor descriptor();

    /** Whether it is usable here. Never throws for missing hardware. */
    Probe probe();

    /** What it can open, for listings and for error messages. */
    List<Target> targets();

    /**
     * Opens a platform.
     *
     * @param uri its target and options; the provider part is this provider's id
     * @throws io.weft.api.AcceleratorException NOT_FOUND for an unknown target (naming the known ones), INVALID_ARGUMENT for an unknown option, UNAVAILABLE
     *     when hardware is absent, BAD_DOCUMENT for a document that cannot be used
     */
    PlatformDriver open(PlatformUri uri);

    /**
     * A power that needs neither hardware nor an open platform, such as {@link TopologyReader} or {@link EnvironmentCheck}; empty when it does not have it. Cheap and without side
     * effects.
     */
    default <T> Optional<T> extension(Class<T> type) {
        return Optional.empty();
    }
}
