// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.sim.machine.Machine;
import io.weft.sim.model.GraphEstimator;
import io.weft.spi.PerformanceModel;

/** Predicts graphs for a platform, which may use fewer devices than its machine has. Takes no lock: a prediction touches nothing that is open. */
final class SimPerformanceModel implements PerformanceModel {
    private final GraphEstimator estimator;
    private final int devices;

    SimPerformanceModel(Machine machine, int devices) {
        this.estimator = new GraphEstimator(machine);
        this.devices = devices;
    }

    @Override
    public Timeline estimate(CommandGraph graph, Issue issue, Detail detail) {
        requireFits(graph);
        return estimator.estimate(graph, issue, detail);
    }

    @Override
    public double aloneNanos(CommandGraph graph, int node) {
        requireFits(graph);
        return estimator.aloneNanos(graph, node);
    }

    @Override
    public long events() {
        return estimator.events();
    }

    private void requireFits(CommandGraph graph) {
        if (graph.deviceCount() > devices) {
            throw AcceleratorException.invalid(
                    "estimate", "the graph needs " + graph.deviceCount() + " devices and the platform has " + devices);
        }
    }
}
