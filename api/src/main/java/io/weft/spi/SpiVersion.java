// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

/**
 * Version of the plugin interface. A host accepts plugins of its own major version whose minor version is not newer than its own.
 *
 * @param major changes when plugins must change
 * @param minor changes when something was added
 */
public record SpiVersion(int major, int minor) {
    /** The version of this package. A plugin states it by writing the numbers down, not by referring to this constant. */
    public static final SpiVersion CURRENT = new SpiVersion(1, 0);

    /** Whether a host of this version can run a plugin compiled for the other. */
    public boolean accepts(SpiVersion plugin) {
        return plugin.major == major && plugin.minor <= minor;
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
