// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.spi.DeviceDriver;

/** Proofs of the rules about devices. */
final class DeviceProofs {
    @Proves("DEV-001")
    void devicesAreNumberedInOrder(Bench bench) {
        bench.that(!bench.driver().devices().isEmpty(), "at least one device", "there is none");
        int ordinal = 0;
        for (DeviceDriver device : bench.driver().devices()) {
            bench.equal(
                    "the ordinal of device " + ordinal,
                    ordinal,
                    device.properties().ordinal());
            ordinal++;
        }
    }
}
