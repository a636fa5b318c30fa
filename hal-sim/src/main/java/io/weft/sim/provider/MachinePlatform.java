// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.PlatformUri;
import io.weft.sim.machine.Machine;
import io.weft.spi.PlatformDriver;
import java.util.List;

/** Opens a platform on any machine model. Vendors' providers use it for the models that they ship. */
public final class MachinePlatform {
    private MachinePlatform() {}

    /** The options that {@link #open} takes, with their values, for messages. */
    public static List<String> options() {
        return SimOptions.KNOWN;
    }

    /** Whether {@link #open} takes an option of this name. */
    public static boolean isOption(String name) {
        return SimOptions.KNOWN.stream().anyMatch(known -> known.startsWith(name + "="));
    }

    /**
     * Opens a platform.
     *
     * @param uri under which it is known; its options are those of the provider {@code sim}
     * @param machine what it simulates
     * @return the driver, which the caller closes
     * @throws io.weft.api.AcceleratorException INVALID_ARGUMENT for an unknown option or a bad value, saying what is accepted
     */
    public static PlatformDriver open(PlatformUri uri, Machine machine) {
        return open(uri, machine, VendorRules.NONE);
    }

    /**
     * The same with what a vendor's libraries add.
     *
     * @param rules of this platform alone
     */
    public static PlatformDriver open(PlatformUri uri, Machine machine, VendorRules rules) {
        return new SimPlatform(uri, machine, SimOptions.of(uri).checkedFor(uri, machine), rules);
    }
}
