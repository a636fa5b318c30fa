// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.settings;

import java.util.Objects;

/**
 * Where a value was given.
 *
 * @param layer the layer
 * @param place file and line ({@code /etc/weft/weft.properties:3}), the variable's name, {@code -D key}, or empty for a default
 */
public record Origin(Layer layer, String place) {
    /** A built-in default. */
    public static final Origin BUILT_IN = new Origin(Layer.DEFAULT, "");

    public Origin {
        Objects.requireNonNull(layer);
        Objects.requireNonNull(place);
    }

    @Override
    public String toString() {
        return place.isEmpty() ? layer.label() : layer.label() + " " + place;
    }
}
