// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.conformance.mutants.Mutant;
import io.weft.sim.provider.SimProvider;
import io.weft.spi.AcceleratorProvider;

/** The suite as a plugin's build has it: one class, found by Surefire, one test for each rule. */
class SimSuiteTest extends ConformanceSuite {
    @Override
    protected AcceleratorProvider provider() {
        return new SimProvider();
    }

    @Override
    protected String uri() {
        return Mutant.MESH;
    }
}
