// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Figures;
import io.weft.api.Platform;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.spi.GraphDriver;
import io.weft.spi.PerformanceModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Runs graphs on idle devices and tells how long they took. On hardware a run is framed by two time stamps of the first device: one right before the launch, one behind everything that the graph does on any device. On a model the time is
 * that of the run's timeline where there is one, which is what estimates of the same graph say. Graph device i is rank i. Not for several threads at once.
 */
public final class GraphTimer implements AutoCloseable {
    /**
     * One run.
     *
     * @param nanos from the launch until everything was complete, ns
     * @param issueNanos host time of the calls that issued it, ns
     */
    public record Sample(double nanos, double issueNanos) {}

    /** A graph that is ready to be timed. */
    public final class Timed implements AutoCloseable {
        private final CommandGraph graph;
        private final GraphRunner runner;
        private final boolean deviceGraph;

        private Timed(CommandGraph graph, GraphRunner runner, boolean deviceGraph) {
            this.graph = graph;
            this.runner = runner;
            this.deviceGraph = deviceGraph;
        }

        /** The graph. */
        public CommandGraph graph() {
            return graph;
        }

        /** Says which buffers later runs use. */
        public void bind(GraphBindings bindings) {
            runner.bind(bindings);
        }

        /** Runs it once on idle devices and waits for the end. */
        public Sample run() {
            return time(this);
        }

        @Override
        public void close() {
            runner.close();
        }
    }

    private final Platform platform;
    private final Communicator communicator;
    private final List<Device> devices;
    private final List<Stream> order = new ArrayList<>();
    private final List<Event> joined = new ArrayList<>();
    private final LaneStreams lanes;
    private final Event start;
    private final Event end;
    private final boolean stamped;

    private GraphTimer(Communicator communicator) {
        this.communicator = communicator;
        platform = communicator.platform();
        List<Device> all = new ArrayList<>();
        for (int rank = 0; rank < communicator.size(); rank++) {
            Device device = communicator.device(rank);
            all.add(device);
            order.add(device.createStream(StreamOptions.defaults().withName("timer rank " + rank)));
            joined.add(device.createEvent(EventOptions.untimed()));
        }
        devices = List.copyOf(all);
        lanes = new LaneStreams(devices);
        stamped = platform.has(Capability.EVENT_TIMING);
        EventOptions options = stamped ? EventOptions.timed() : EventOptions.untimed();
        start = devices.getFirst().createEvent(options);
        end = devices.getFirst().createEvent(options);
    }

    /** A timer over the ranks of a communicator, which outlives it and carries collectives. */
    public static GraphTimer over(Communicator communicator) {
        return new GraphTimer(communicator);
    }

    /** Its platform. */
    public Platform platform() {
        return platform;
    }

    /** Its ranks. */
    public Communicator communicator() {
        return communicator;
    }

    /** A stream of each rank's device, in whose order runs are. */
    List<Stream> order() {
        return List.copyOf(order);
    }

    /**
     * Prepares a graph for runs.
     *
     * @param issue as one device graph, where the platform has them, or by streams and events
     */
    public Timed prepare(CommandGraph graph, PerformanceModel.Issue issue) {
        Optional<GraphDriver> driver =
                issue == PerformanceModel.Issue.DEVICE_GRAPH && platform.has(Capability.DEVICE_GRAPHS)
                        ? platform.extension(GraphDriver.class)
                        : Optional.empty();
        List<Device> used = devices.subList(0, graph.deviceCount());
        GraphRunner runner = driver.isPresent()
                ? new DeviceGraphRunner(driver.get(), graph, used, false)
                : new StreamRunner(graph, used, lanes, Optional.of(communicator), false);
        return new Timed(graph, runner, driver.isPresent());
    }

    private Sample time(Timed timed) {
        List<Stream> used = order.subList(0, timed.graph.deviceCount());
        used.forEach(Stream::synchronize);
        Stream first = used.getFirst();
        long begun = platform.nanoTime();
        first.record(start);
        long before = platform.nanoTime();
        timed.runner.launchIdle(used);
        long issued = platform.nanoTime();
        for (int rank = 1; rank < used.size(); rank++) {
            used.get(rank).record(joined.get(rank));
            first.waitFor(joined.get(rank));
        }
        first.record(end);
        end.synchronize();
        long finished = platform.nanoTime();
        used.forEach(Stream::synchronize);
        double nanos = stamped ? end.nanosSince(start) : finished - begun;
        if (timed.deviceGraph && platform.figures() == Figures.MODEL) {
            nanos = timed.runner
                    .timeline()
                    .map(timeline -> timeline.makespanNanos())
                    .orElse(nanos);
        }
        return new Sample(nanos, issued - before);
    }

    @Override
    public void close() {
        order.forEach(Stream::synchronize);
        lanes.close();
        joined.forEach(Event::close);
        start.close();
        end.close();
        order.forEach(Stream::close);
    }
}
