// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.Figures;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.sim.engine.VirtualTime;
import io.weft.sim.execute.Effect;
import io.weft.sim.model.GraphLaunch;
import io.weft.sim.model.UsageMeter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One launch of a graph. When a node fails, nothing that starts later has an effect, and the streams fail when the graph ends. Confined to the platform's lock. */
final class GraphRun {
    /** The end of the graph in a stream. */
    private static final class End extends Work {
        private final GraphRun run;

        End(GraphRun run, SimStream stream, Work... after) {
            super(stream, after);
            this.run = run;
        }

        @Override
        void onStart() {
            if (run.failure != null) {
                fail(run.failure);
            }
        }

        @Override
        void onComplete() {
            // Not sooner: while the last node's completion is being told, its queue is not accounted for yet.
            run.finish();
        }
    }

    private final SimPlatform platform;
    private final SimGraphExecutable executable;
    private final CommandGraph graph;
    private final Command[] commands;
    private final List<SimStream> streams;
    private final Effect[] effects;
    private final int[] arrived;
    private final double[] starts;
    private final double[] ends;
    private final Work[][] before;
    private int firstOperation;
    private long launchPs;
    private UsageMeter meter;
    private boolean finished;
    private AcceleratorException failure;

    GraphRun(SimPlatform platform, SimGraphExecutable executable, Command[] commands, List<SimStream> streams) {
        this.platform = platform;
        this.executable = executable;
        this.graph = executable.graph();
        this.commands = commands;
        this.streams = streams;
        this.effects = new Effect[commands.length];
        this.arrived = new int[commands.length];
        this.starts = new double[commands.length];
        this.ends = new double[commands.length];
        this.before = new Work[streams.size()][];
    }

    /** Hands everything to the runtime. */
    void submit() {
        DeviceTime time = platform.time();
        launchPs = issue();
        meter = time.meter();
        for (int i = 0; i < before.length; i++) {
            before[i] = streams.get(i).predecessors();
        }
        Map<Integer, Integer> handles = new HashMap<>();
        double spreadNanos = new GraphLaunch(platform.machine()).spreadNanos(graph);
        int[] operations = new int[commands.length];
        boolean[] last = new boolean[commands.length];
        for (int node = 0; node < commands.length; node++) {
            SimDevice device = executable.devices().get(graph.device(node));
            int[] after = after(node, operations, last);
            int handle = -1;
            if (commands[node] instanceof Command.Collective part) {
                handle = handles.computeIfAbsent(
                        part.key(),
                        key -> time.openCollective(executable.collectives().get(key).length));
            }
            operations[node] = time.node(
                    this,
                    commands[node],
                    handle,
                    device.ordinal(),
                    executable.lane(graph.device(node)) + graph.lane(node),
                    graph.priority(node),
                    launchPs + VirtualTime.fromNs(device.model().launch().graphNanos() + spreadNanos),
                    after);
            last[node] = true;
        }
        firstOperation = commands.length == 0 ? 0 : operations[0];
        end(operations, last);
    }

    /** One host call launches the graph everywhere. */
    private long issue() {
        long at = 0;
        for (SimDevice device : executable.devices()) {
            at = Math.max(at, device.issue(device.model().launch().issueKernelNanos()));
        }
        for (SimDevice device : executable.devices()) {
            device.issueAt(at);
        }
        return at;
    }

    private int[] after(int node, int[] operations, boolean[] last) {
        int explicit = graph.dependencyCount(node);
        Work[] earlier = before[graph.device(node)];
        int[] after = new int[explicit + earlier.length];
        int count = 0;
        for (int i = 0; i < explicit; i++) {
            int dependency = graph.dependency(node, i);
            last[dependency] = false;
            after[count++] = operations[dependency];
        }
        for (Work work : earlier) {
            if (!work.isDone()) {
                after[count++] = work.operation();
            }
        }
        return Arrays.copyOf(after, count);
    }

    private void end(int[] operations, boolean[] last) {
        List<Integer> sinks = new ArrayList<>();
        for (int node = 0; node < last.length; node++) {
            if (last[node]) {
                sinks.add(operations[node]);
            }
        }
        for (int i = 0; i < streams.size(); i++) {
            SimStream stream = streams.get(i);
            platform.time()
                    .marker(
                            new End(this, stream, stream.predecessors()),
                            launchPs,
                            sinks.stream().mapToInt(Integer::intValue).toArray());
        }
    }

    // What becomes of the nodes.

    void started(int operation) {
        int node = operation - firstOperation;
        inheritFailure(graph.device(node));
        AcceleratorException fault =
                executable.devices().get(graph.device(node)).faults().onStart();
        if (fault != null) {
            fail(fault);
        }
        if (failure != null) {
            return;
        }
        try {
            if (commands[node] instanceof Command.Collective part) {
                int[] nodes = executable.collectives().get(part.key());
                if (++arrived[nodes[0]] == nodes.length) {
                    effects[nodes[0]] = platform.data().begin(parts(nodes));
                }
            } else {
                effects[node] = platform.data().begin(commands[node]);
            }
        } catch (AcceleratorException refused) {
            fail(refused);
        }
    }

    void over(int operation, long startedPs, long endedPs, AcceleratorException cause) {
        int node = operation - firstOperation;
        starts[node] = VirtualTime.toNs(startedPs - launchPs);
        ends[node] = VirtualTime.toNs(endedPs - launchPs);
        AcceleratorException lost =
                executable.devices().get(graph.device(node)).faults().lost();
        if (cause != null || lost != null) {
            fail(cause != null ? cause : lost);
        }
        complete(node);
    }

    private void complete(int node) {
        int holder = node;
        List<Command.Collective> parts = null;
        if (commands[node] instanceof Command.Collective part) {
            // All parts are over at one instant; the first to say so makes the result visible to all.
            int[] nodes = executable.collectives().get(part.key());
            holder = nodes[0];
            if (arrived[holder] < 0) {
                return;
            }
            arrived[holder] = -1;
            parts = parts(nodes);
        }
        Effect effect = effects[holder];
        effects[holder] = null;
        if (failure != null) {
            platform.data().cancel(effect);
            return;
        }
        try {
            if (parts == null) {
                platform.data().complete(commands[node], effect);
            } else {
                platform.data().complete(parts, effect);
            }
        } catch (AcceleratorException refused) {
            fail(refused);
        }
    }

    private List<Command.Collective> parts(int[] nodes) {
        List<Command.Collective> parts = new ArrayList<>(nodes.length);
        for (int node : nodes) {
            parts.add((Command.Collective) commands[node]);
        }
        return parts;
    }

    private void inheritFailure(int index) {
        for (Work work : before[index]) {
            if (work.failure() != null) {
                fail(work.failure());
            }
        }
        before[index] = new Work[0];
    }

    private void fail(AcceleratorException cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    private void finish() {
        if (failure != null || finished) {
            return;
        }
        finished = true;
        int[] ordinals =
                executable.devices().stream().mapToInt(SimDevice::ordinal).toArray();
        double makespan = 0;
        for (double end : ends) {
            makespan = Math.max(makespan, end);
        }
        executable.finished(
                new Timeline(graph, Figures.MODEL, starts, ends, makespan, meter.used(ordinals), List.of()));
    }
}
