// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.topology.DescribedMachine;
import io.weft.api.topology.DescribedPath;

/** A machine's paths by their ends. */
final class PathTable {
    private final DescribedPath[] paths;
    private final int devices;

    PathTable(DescribedMachine machine) {
        devices = machine.devices().size();
        paths = new DescribedPath[devices * devices];
        for (DescribedPath path : machine.paths()) {
            paths[path.from() * devices + path.to()] = path;
        }
    }

    /** The path, or null. */
    DescribedPath get(int from, int to) {
        return paths[from * devices + to];
    }
}
