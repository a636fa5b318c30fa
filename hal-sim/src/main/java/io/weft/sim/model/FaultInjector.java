// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.AcceleratorException;
import io.weft.api.graph.Command;

/** Decides which operations fail; for tests and for the fault-injection decorator. */
@FunctionalInterface
public interface FaultInjector {
    /**
     * Asked once for each operation, when it would start.
     *
     * @return why it fails, or null when it does not
     */
    AcceleratorException failure(int operation, Command command, int device, int lane);
}
