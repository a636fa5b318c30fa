// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;

/** Extension: predicts time without running anything. Safe for any thread; calls from several threads run side by side. */
public interface PerformanceModel {
    /** How much a prediction keeps. */
    enum Detail {
        /** Node times and resource totals. */
        SUMMARY,
        /** Use of resources over time as well, for traces and plots. */
        INTERVALS
    }

    /** How the graph reaches the devices. */
    enum Issue {
        /** One launch of a device graph. */
        DEVICE_GRAPH,
        /** One host call for each command, from one thread for each device. */
        STREAMS
    }

    /**
     * Predicts a run of the graph on an idle platform, graph device i being device i.
     *
     * @throws io.weft.api.AcceleratorException when the graph is empty, or needs more devices or memory than there are
     */
    Timeline estimate(CommandGraph graph, Issue issue, Detail detail);

    /** How long one node takes alone on an idle platform, from its start to its end, ns. For a collective: all parts of its key together. */
    double aloneNanos(CommandGraph graph, int node);

    /** Events that all estimates so far have processed, from which a caller tells how fast the model is; 0 where it does not count. */
    default long events() {
        return 0;
    }
}
