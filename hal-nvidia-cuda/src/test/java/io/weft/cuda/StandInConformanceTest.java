// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.conformance.ConformanceSuite;
import io.weft.spi.AcceleratorProvider;

/** Every rule that needs no more than two devices, as on the machine that the plugin was measured on. */
class StandInConformanceTest extends ConformanceSuite {
    @Override
    protected AcceleratorProvider provider() {
        return new CudaProvider();
    }

    @Override
    protected String uri() {
        return StandIn.without("conformance").uri("stall-timeout-ms=150");
    }
}
