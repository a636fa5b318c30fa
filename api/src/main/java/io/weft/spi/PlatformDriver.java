// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.Capability;
import io.weft.api.PlatformProperties;
import io.weft.api.topology.Topology;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An open platform. Arguments that reach a driver are valid: the API has checked them. Closing it releases everything that is still open under it. Safe for
 * any thread unless a method says otherwise.
 */
public interface PlatformDriver extends AutoCloseable {
    /** What it is. */
    PlatformProperties properties();

    /** Its devices, by ordinal. */
    List<? extends DeviceDriver> devices();

    /** How the devices reach one another. */
    Topology topology();

    /** What it can do beyond the core; each declared capability has its extension. */
    Set<Capability> capabilities();

    /** An optional power, such as {@link GraphDriver}; empty when it is not declared. */
    <T> Optional<T> extension(Class<T> type);

    /** The platform's clock in ns: virtual time on a model, a monotonic clock on hardware. The zero point has no meaning. */
    long nanoTime();

    @Override
    void close();
}
