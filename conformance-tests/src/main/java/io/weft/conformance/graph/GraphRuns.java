// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.graph;

import io.weft.api.AcceleratorException;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphExecutable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs a command graph on a backend and returns when it is complete. The parts of one collective must follow one another, rank i being graph device i.
 *
 * <p>Everything that a run creates is closed at its end, also when it fails.
 */
public final class GraphRuns {
    private GraphRuns() {}

    /** Runs it as one launch of a device graph, on a fresh stream of each device. */
    public static void asDeviceGraph(
            Platform platform, CommandGraph graph, List<Device> devices, GraphBindings bindings) {
        GraphDriver driver = platform.extension(GraphDriver.class)
                .orElseThrow(() -> new AcceleratorException(
                        ErrorCode.UNSUPPORTED, "device graph", "the platform has no device graphs"));
        try (Closing closing = new Closing()) {
            List<Stream> streams = new ArrayList<>();
            for (Device device : devices) {
                streams.add(closing.later(device.createStream()));
            }
            GraphExecutable executable = driver.instantiate(
                    graph, devices.stream().map(Device::driver).toList());
            closing.later(executable::close);
            executable.launch(bindings, streams.stream().map(Stream::driver).toList());
            streams.forEach(Stream::synchronize);
        }
    }

    /** Runs it command by command: a stream for each lane and priority, an event behind each node that another stream waits for. */
    public static void onStreams(Platform platform, CommandGraph graph, List<Device> devices, GraphBindings bindings) {
        bindings.requireComplete();
        try (Closing closing = new Closing()) {
            Map<List<Object>, Stream> streams = new HashMap<>();
            Stream[] streamOf = new Stream[graph.size()];
            for (int node = 0; node < graph.size(); node++) {
                int number = node;
                streamOf[node] = streams.computeIfAbsent(
                        List.of(graph.device(node), graph.lane(node)),
                        key -> closing.later(devices.get(graph.device(number))
                                .createStream(StreamOptions.defaults().withPriority(graph.priority(number)))));
            }
            Communicator communicator = null;
            Event[] events = new Event[graph.size()];
            List<Integer> parts = new ArrayList<>();
            for (int node = 0; node < graph.size(); node++) {
                for (int dependency : graph.dependencies(node)) {
                    if (streamOf[dependency] != streamOf[node]) {
                        streamOf[node].waitFor(events[dependency]);
                    }
                }
                Command command = graph.command(node).rebind(memory -> bindings.require((Slot) memory));
                if (command instanceof Command.Collective part) {
                    if (communicator == null) {
                        communicator = closing.later(Communicator.over(platform, devices));
                    }
                    parts.add(node);
                    if (parts.size() < (part.kind().pointToPoint() ? 2 : part.ranks())) {
                        continue;
                    }
                    try (Communicator.Group group = communicator.group()) {
                        for (int one : parts) {
                            group.add(
                                    (Command.Collective)
                                            graph.command(one).rebind(memory -> bindings.require((Slot) memory)),
                                    streamOf[one]);
                        }
                    }
                    for (int one : parts) {
                        events[one] = record(closing, streamOf[one]);
                    }
                    parts.clear();
                } else {
                    streamOf[node].enqueue(command);
                    events[node] = record(closing, streamOf[node]);
                }
            }
            streams.values().forEach(Stream::synchronize);
        }
    }

    private static Event record(Closing closing, Stream stream) {
        Event event = closing.later(stream.device().createEvent(EventOptions.untimed()));
        stream.record(event);
        return event;
    }

    /** Closes what it was given, the last first. Failures of closing do not hide what came before. */
    private static final class Closing implements AutoCloseable {
        private final Deque<AutoCloseable> handles = new ArrayDeque<>();

        <T extends AutoCloseable> T later(T handle) {
            handles.push(handle);
            return handle;
        }

        @Override
        public void close() {
            RuntimeException first = null;
            while (!handles.isEmpty()) {
                try {
                    handles.pop().close();
                } catch (RuntimeException failure) {
                    first = first == null ? failure : first;
                } catch (Exception failure) {
                    first = first == null ? new IllegalStateException(failure) : first;
                }
            }
            if (first != null) {
                throw first;
            }
        }
    }
}
