// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Figures;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Issues a graph command by command: lanes to streams, dependencies to events, one issue order by node number. */
final class StreamRunner implements GraphRunner {
    private final StreamPlan plan;
    private final CommandGraph graph;
    private final Optional<Communicator> communicator;
    private final Figures figures;
    private final Stream[] streams;
    private final Event[] events;
    private final Event[] entered;
    private final Event[] left;
    private final Event[] begun;
    private final Event[] ended;
    private final Event origin;
    private final boolean timed;
    private Command[] commands;

    /**
     * @param devices the device of each graph device
     * @param lanes where the streams come from
     * @param communicator carries collectives; may be empty when the graph has none
     * @param timed whether every node is framed by events with time stamps, for a timeline
     */
    StreamRunner(
            CommandGraph graph,
            List<Device> devices,
            LaneStreams lanes,
            Optional<Communicator> communicator,
            boolean timed) {
        this.plan = new StreamPlan(graph);
        this.graph = graph;
        this.communicator = communicator;
        this.timed = timed && devices.getFirst().platform().has(Capability.EVENT_TIMING);
        this.figures = devices.getFirst().platform().figures();
        streams = new Stream[plan.queues.length];
        left = new Event[plan.queues.length];
        for (int queue = 0; queue < streams.length; queue++) {
            StreamPlan.Queue q = plan.queues[queue];
            streams[queue] = lanes.of(q.device(), q.lane(), q.priority());
            left[queue] = devices.get(q.device()).createEvent(EventOptions.untimed());
        }
        entered = new Event[devices.size()];
        for (int device = 0; device < entered.length; device++) {
            entered[device] = devices.get(device).createEvent(EventOptions.untimed());
        }
        events = new Event[plan.events];
        begun = new Event[this.timed ? graph.size() : 0];
        ended = new Event[begun.length];
        for (int node = 0; node < graph.size(); node++) {
            Device device = devices.get(graph.device(node));
            if (plan.eventOf[node] >= 0) {
                events[plan.eventOf[node]] = device.createEvent(EventOptions.untimed());
            }
            if (this.timed) {
                begun[node] = device.createEvent(EventOptions.timed());
                ended[node] = device.createEvent(EventOptions.timed());
            }
        }
        origin = this.timed ? devices.getFirst().createEvent(EventOptions.timed()) : null;
    }

    @Override
    public void bind(GraphBindings bindings) {
        bindings.requireComplete();
        Command[] bound = new Command[graph.size()];
        for (int node = 0; node < bound.length; node++) {
            bound[node] = graph.command(node).rebind(memory -> bindings.require((Slot) memory));
        }
        commands = bound;
    }

    @Override
    public void launch(List<Stream> order) {
        for (int device = 0; device < entered.length; device++) {
            order.get(device).record(entered[device]);
        }
        if (timed) {
            order.getFirst().record(origin);
        }
        for (int queue = 0; queue < streams.length; queue++) {
            for (int device : plan.touches[queue]) {
                streams[queue].waitFor(entered[device]);
            }
        }
        Map<Integer, Communicator.Group> groups = new HashMap<>();
        for (int node = 0; node < commands.length; node++) {
            issue(node, groups);
        }
        for (int queue = 0; queue < streams.length; queue++) {
            streams[queue].record(left[queue]);
            for (int device : plan.touches[queue]) {
                order.get(device).waitFor(left[queue]);
            }
        }
    }

    private void issue(int node, Map<Integer, Communicator.Group> groups) {
        Stream stream = streams[plan.queueOf[node]];
        for (int dependency : plan.waits[node]) {
            stream.waitFor(events[plan.eventOf[dependency]]);
        }
        if (timed) {
            stream.record(begun[node]);
        }
        if (!(commands[node] instanceof Command.Collective part)) {
            stream.enqueue(commands[node]);
            after(node, stream);
            return;
        }
        groups.computeIfAbsent(part.key(), key -> communicator.orElseThrow().group())
                .add(part, stream);
        if (plan.closesGroup[node]) {
            groups.remove(part.key()).close();
            for (int other = 0; other <= node; other++) {
                if (graph.command(other) instanceof Command.Collective sibling && sibling.key() == part.key()) {
                    after(other, streams[plan.queueOf[other]]);
                }
            }
        }
    }

    private void after(int node, Stream stream) {
        if (timed) {
            stream.record(ended[node]);
        }
        if (plan.eventOf[node] >= 0) {
            stream.record(events[plan.eventOf[node]]);
        }
    }

    @Override
    public Optional<Timeline> timeline() {
        if (!timed || !origin.isRecorded()) {
            return Optional.empty();
        }
        for (Event event : left) {
            event.synchronize();
        }
        double[] starts = new double[graph.size()];
        double[] ends = new double[graph.size()];
        double makespan = 0;
        for (int node = 0; node < starts.length; node++) {
            starts[node] = begun[node].nanosSince(origin);
            ends[node] = ended[node].nanosSince(origin);
            makespan = Math.max(makespan, ends[node]);
        }
        return Optional.of(new Timeline(graph, figures, starts, ends, makespan, List.of(), List.of()));
    }

    @Override
    public void close() {
        for (Event[] all : List.of(events, entered, left, begun, ended)) {
            for (Event event : all) {
                event.close();
            }
        }
        if (origin != null) {
            origin.close();
        }
    }
}
