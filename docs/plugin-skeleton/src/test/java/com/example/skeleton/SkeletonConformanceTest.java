// SPDX-License-Identifier: Apache-2.0
package com.example.skeleton;

import io.weft.conformance.ConformanceSuite;
import io.weft.conformance.Level;
import io.weft.spi.AcceleratorProvider;

/** One test for each rule. Those that fail are the list of things to do. */
final class SkeletonConformanceTest extends ConformanceSuite {
    @Override
    protected AcceleratorProvider provider() {
        return new SkeletonProvider();
    }

    @Override
    protected Level level() {
        return Level.CORE; // Level.FULL when CORE passes
    }
}
