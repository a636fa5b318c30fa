// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Objects;

/**
 * How full a pool is, beside the band that it should keep to: below it memory is idle, above it one burst ends in a refusal.
 *
 * @param share bytes asked for and out over what the pool may hold, 0 to 1
 * @param band where that lies
 */
public record PoolLevel(double share, Band band) {
    /** The band's lower end. */
    public static final double LOW = 0.7;

    /** The band's upper end. */
    public static final double HIGH = 0.8;

    /** Where a level lies. */
    public enum Band {
        /** Below 70 %. */
        BELOW,
        /** 70 to 80 %. */
        WITHIN,
        /** Above 80 %. */
        ABOVE
    }

    public PoolLevel {
        Objects.requireNonNull(band);
    }

    static PoolLevel of(long out, long capacity) {
        double share = (double) out / capacity;
        return new PoolLevel(share, share < LOW ? Band.BELOW : share <= HIGH ? Band.WITHIN : Band.ABOVE);
    }
}
