// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Timeline;
import java.util.List;
import java.util.Optional;

/** A prepared graph. Not for several threads at once. */
public interface GraphExecutable {
    /**
     * Launches it once. On each device the graph starts after the work issued before on that device's stream, and work issued later on the stream starts after
     * the graph is complete on all devices.
     *
     * @param bindings complete; buffers stay alive until the launch is complete
     * @param streams one for each of the graph's devices
     */
    void launch(GraphBindings bindings, List<? extends StreamDriver> streams);

    /** Whether a launch starts on every device only after the work issued before on ALL the given streams, so that a caller need not join them first. */
    default boolean joinsDevices() {
        return false;
    }

    /** When the nodes of the last completed launch ran; empty where the backend cannot tell. */
    Optional<Timeline> lastTimeline();

    /** Releases it. */
    void close();
}
