// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.conformance.ConformanceSuite;
import io.weft.conformance.Profile;
import io.weft.conformance.RunOptions;
import io.weft.spi.AcceleratorProvider;
import java.util.Set;

/** Collectives and graphs of more than two devices, which no machine that we had has. */
class StandInOfFourConformanceTest extends ConformanceSuite {
    @Override
    protected AcceleratorProvider provider() {
        return new CudaProvider();
    }

    @Override
    protected String uri() {
        StandIn standIn = StandIn.without("conformance-4");
        standIn.set("devices", 4);
        return standIn.uri("stall-timeout-ms=150");
    }

    @Override
    protected RunOptions options() {
        return super.options().withProfiles(Set.of(Profile.COLLECTIVES, Profile.GRAPHS));
    }
}
