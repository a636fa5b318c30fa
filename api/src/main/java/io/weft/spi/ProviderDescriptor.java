// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import java.util.Objects;

/**
 * Who a provider is. Making one has no side effect.
 *
 * @param id the first part of its platform URIs: lower-case letters, digits and dashes
 * @param vendor hardware vendor as people write it
 * @param description one sentence
 * @param version the plugin's own version
 * @param spiVersion the SPI version it was compiled for
 */
public record ProviderDescriptor(String id, String vendor, String description, String version, SpiVersion spiVersion) {
    public ProviderDescriptor {
        Objects.requireNonNull(id);
        Objects.requireNonNull(vendor);
        Objects.requireNonNull(description);
        Objects.requireNonNull(version);
        Objects.requireNonNull(spiVersion);
    }
}
