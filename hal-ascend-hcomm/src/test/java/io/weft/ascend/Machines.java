// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend;

import io.weft.ascend.topology.GraphBuilder;
import io.weft.sim.machine.Machine;
import java.nio.file.Path;

/** Machines for tests of other packages. */
public final class Machines {
    private Machines() {}

    /** The machine of a rank table. */
    public static Machine ofTable(Path table) {
        return MachineOfGraph.machine(new GraphBuilder().rankTable(table).build(), "test", "");
    }

    /** A shipped machine. */
    public static Machine shipped(String name) {
        return AscendMachines.find(name).orElseThrow();
    }
}
