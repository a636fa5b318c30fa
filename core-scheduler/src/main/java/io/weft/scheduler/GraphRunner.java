// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.Stream;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Timeline;
import java.util.List;
import java.util.Optional;

/** Runs one command graph again and again. Not for several threads at once. */
interface GraphRunner extends AutoCloseable {
    /** Says which buffers later launches use. They stay alive until every launch is complete. */
    void bind(GraphBindings bindings);

    /**
     * Issues the graph once. It starts on all devices after the work issued before on every device's stream, as commands of one device write into the memory of others, and work issued later to a stream starts when nothing of the
     * graph touches that device's memory any more.
     *
     * @param order one stream for each device of the graph
     */
    void launch(List<Stream> order);

    /** The same when nothing was issued before that is not complete, so that no device need be waited for: the way to time a graph. */
    default void launchIdle(List<Stream> order) {
        launch(order);
    }

    /** When the nodes of the last launch ran; waits for it. Empty where the backend cannot tell. */
    Optional<Timeline> timeline();

    @Override
    void close();
}
