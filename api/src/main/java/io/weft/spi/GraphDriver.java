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

    /**
     * As the other one.
     *
     * @param timed whether the caller will ask for the timeline, which may cost the device a little; a backend that can always tell, or never, may ignore it
     */
    default GraphExecutable instantiate(CommandGraph graph, List<? extends DeviceDriver> devices, boolean timed) {
        return instantiate(graph, devices);
    }
}
