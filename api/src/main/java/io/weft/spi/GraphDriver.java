// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.graph.CommandGraph;
import java.util.List;

/** Extension: runs a whole {@link CommandGraph} as one launch. */
public interface GraphDriver {
    /**
     * Prepares a graph.
     *
     * @param devices the real device for each of the graph's device indices; each is a device of this platform
     */
    GraphExecutable instantiate(CommandGraph graph, List<? extends DeviceDriver> devices);
}
