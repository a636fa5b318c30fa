// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Timeline;
import io.weft.spi.DeviceDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.StreamDriver;
import java.util.List;
import java.util.Optional;

/** Device graphs whose launches an observer sees. */
final class ObservedGraphs implements GraphDriver {
    private final GraphDriver backend;
    private final DriverObserver observer;

    ObservedGraphs(GraphDriver backend, DriverObserver observer) {
        this.backend = backend;
        this.observer = observer;
    }

    @Override
    public GraphExecutable instantiate(CommandGraph graph, List<? extends DeviceDriver> devices) {
        List<DeviceDriver> own = devices.stream().map(ObservedPlatform::unwrap).toList();
        return observed(graph, own, backend.instantiate(graph, own));
    }

    @Override
    public GraphExecutable instantiate(CommandGraph graph, List<? extends DeviceDriver> devices, boolean timed) {
        List<DeviceDriver> own = devices.stream().map(ObservedPlatform::unwrap).toList();
        return observed(graph, own, backend.instantiate(graph, own, timed));
    }

    private GraphExecutable observed(CommandGraph graph, List<DeviceDriver> devices, GraphExecutable executable) {
        observer.graphInstantiated(executable, graph, devices);
        return new Executable(graph, executable);
    }

    private final class Executable implements GraphExecutable {
        private final CommandGraph graph;
        private final GraphExecutable own;

        Executable(CommandGraph graph, GraphExecutable own) {
            this.graph = graph;
            this.own = own;
        }

        @Override
        public void launch(GraphBindings bindings, List<? extends StreamDriver> streams) {
            observer.beforeLaunch(graph);
            own.launch(bindings, streams.stream().map(ObservedPlatform::unwrap).toList());
        }

        @Override
        public boolean joinsDevices() {
            return own.joinsDevices();
        }

        @Override
        public Optional<Timeline> lastTimeline() {
            return own.lastTimeline();
        }

        @Override
        public void close() {
            observer.beforeGraphClose(own);
            own.close();
        }
    }
}
