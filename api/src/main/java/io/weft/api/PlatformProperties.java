// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * What a platform is.
 *
 * @param machine the machine's name, such as {@code mesh-8}
 * @param vendor the vendor as the provider spells it
 * @param figures whether its times are predicted or measured
 * @param versions driver, firmware and library versions by name, in a stable order
 */
public record PlatformProperties(String machine, String vendor, Figures figures, Map<String, String> versions) {
    public PlatformProperties {
        Objects.requireNonNull(machine);
        Objects.requireNonNull(vendor);
        Objects.requireNonNull(figures);
        versions = Collections.unmodifiableMap(new LinkedHashMap<>(versions));
    }
}
