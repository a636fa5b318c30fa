// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.weft.amd.AmdProvider;
import io.weft.api.Capability;
import io.weft.api.Platform;
import io.weft.conformance.ConformanceSuite;
import io.weft.spi.AcceleratorProvider;
import org.junit.jupiter.api.Test;

/** The native platform follows every rule of level FULL on the stand-in. */
class HipConformanceTest extends ConformanceSuite {
    @Override
    protected AcceleratorProvider provider() {
        return new AmdProvider();
    }

    @Override
    protected String uri() {
        return HipStandIn.with().uri();
    }

    @Test
    void theStandInHidesNoCapability() {
        try (Platform platform = HipStandIn.with().open()) {
            assertFalse(platform.has(Capability.PERFORMANCE_MODEL));
        }
    }
}
