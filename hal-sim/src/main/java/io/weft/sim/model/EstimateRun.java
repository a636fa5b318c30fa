// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Figures;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.sim.engine.ActivitySpec;
import io.weft.sim.engine.IntervalListener;
import io.weft.sim.engine.VirtualTime;
import io.weft.sim.machine.LaunchModel;
import io.weft.sim.machine.Machine;
import io.weft.spi.PerformanceModel.Detail;
import io.weft.spi.PerformanceModel.Issue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The reusable state of one estimate at a time: a runtime and tables that have grown to the largest graph. */
final class EstimateRun {
    private static final int NONE = -1;

    private final Machine machine;
    private final CommandRuntime runtime;
    private final MachineResources resources;
    private final ActivitySpec spec = new ActivitySpec();
    private final String[] names;
    private final String[] serverNames;
    private final long[] hostPs;
    private final boolean oneGraphLatency;
    private final GraphLaunch launch;
    private final IntervalListener probe;

    private final KeyTable keys = new KeyTable();
    private int[] partsOfKey = new int[16];
    private int[] handleOfKey = new int[16];
    private int[] dependencies = new int[16];
    private boolean[] recorded = new boolean[64];

    EstimateRun(Machine machine, boolean checking) {
        this(machine, checking, null);
    }

    /** With {@code probe}, which hears of every use of a resource in place of the timeline; for tests. */
    EstimateRun(Machine machine, boolean checking, IntervalListener probe) {
        this.machine = machine;
        this.probe = probe;
        runtime = new CommandRuntime(machine, MemoryPlaces.OF_SLOTS);
        runtime.keep(true);
        runtime.checking(checking);
        resources = runtime.resources();
        names = new String[resources.count()];
        serverNames = new String[resources.servers()];
        hostPs = new long[machine.deviceCount()];
        launch = new GraphLaunch(machine);
        double graph = machine.device(0).launch().graphNanos();
        oneGraphLatency =
                machine.devices().stream().allMatch(device -> device.launch().graphNanos() == graph);
    }

    Timeline estimate(CommandGraph graph, Issue issue, Detail detail) {
        IntervalLog log = detail == Detail.INTERVALS ? new IntervalLog() : null;
        runtime.reset();
        runtime.intervals(probe == null ? log : probe);
        openCollectives(graph);
        Arrays.fill(hostPs, 0, graph.deviceCount(), 0);
        if (issue == Issue.STREAMS) {
            issueByStreams(graph);
        } else {
            issueAsGraph(graph);
        }
        finish(graph);
        return timeline(graph, issue, log);
    }

    /** The most that a resource was used at once in the last estimate, units/s. */
    double peak(int resource) {
        return runtime.peak(resource);
    }

    /** Events of the last estimate. */
    long events() {
        return runtime.events();
    }

    long alonePs(CommandGraph graph, int node) {
        return runtime.costs().alonePs(spec, graph.command(node), graph.device(node), graph.priority(node));
    }

    long collectiveAlonePs(CommandGraph graph, int key) {
        runtime.reset();
        runtime.intervals(null);
        keys.clear();
        int handle = NONE;
        int first = NONE;
        for (int node = 0; node < graph.size(); node++) {
            if (graph.command(node) instanceof Command.Collective part && part.key() == key) {
                if (handle == NONE) {
                    handle = runtime.openCollective(partsNeeded(part));
                }
                int op = runtime.submitPart(
                        handle, part, graph.device(node), graph.lane(node), graph.priority(node), 0, dependencies, 0);
                first = first == NONE ? op : first;
            }
        }
        finish(graph);
        return runtime.endedPs(first) - runtime.startedPs(first);
    }

    // Issue.

    private void issueAsGraph(CommandGraph graph) {
        double spread = launch.spreadNanos(graph);
        if (oneGraphLatency) {
            runtime.advanceTo(VirtualTime.fromNs(machine.device(0).launch().graphNanos() + spread));
        }
        long now = runtime.nowPs();
        for (int node = 0; node < graph.size(); node++) {
            long visible = oneGraphLatency
                    ? now
                    : VirtualTime.fromNs(
                            machine.device(graph.device(node)).launch().graphNanos() + spread);
            submit(graph, node, visible);
        }
    }

    private void issueByStreams(CommandGraph graph) {
        int size = graph.size();
        if (recorded.length < size) {
            recorded = new boolean[Math.max(size, 2 * recorded.length)];
        } else {
            Arrays.fill(recorded, 0, size, false);
        }
        for (int node = 0; node < size; node++) {
            for (int i = 0; i < graph.dependencyCount(node); i++) {
                int dependency = graph.dependency(node, i);
                if (crosses(graph, dependency, node)) {
                    recorded[dependency] = true;
                }
            }
        }
        for (int node = 0; node < size; node++) {
            int device = graph.device(node);
            LaunchModel launch = machine.device(device).launch();
            double host = runtime.issueNanos(graph.command(node), device);
            for (int i = 0; i < graph.dependencyCount(node); i++) {
                if (crosses(graph, graph.dependency(node, i), node)) {
                    host += launch.issueEventNanos();
                }
            }
            hostPs[device] += VirtualTime.fromNs(host);
            submit(graph, node, runtime.visiblePs(graph.command(node), device, hostPs[device]));
            if (recorded[node]) {
                hostPs[device] += VirtualTime.fromNs(launch.issueEventNanos());
            }
        }
    }

    private static boolean crosses(CommandGraph graph, int a, int b) {
        return graph.device(a) != graph.device(b) || graph.lane(a) != graph.lane(b);
    }

    private void submit(CommandGraph graph, int node, long visiblePs) {
        int count = graph.dependencyCount(node);
        if (dependencies.length < count) {
            dependencies = new int[Math.max(count, 2 * dependencies.length)];
        }
        for (int i = 0; i < count; i++) {
            dependencies[i] = graph.dependency(node, i);
        }
        Command command = graph.command(node);
        if (command instanceof Command.Collective part) {
            runtime.submitPart(
                    handleOfKey[keys.number(part.key())],
                    part,
                    graph.device(node),
                    graph.lane(node),
                    graph.priority(node),
                    visiblePs,
                    dependencies,
                    count);
        } else {
            runtime.submit(
                    command,
                    graph.device(node),
                    graph.lane(node),
                    graph.priority(node),
                    visiblePs,
                    dependencies,
                    count);
        }
    }

    /** Opens every collective and checks that its parts are all there and agree. */
    private void openCollectives(CommandGraph graph) {
        keys.clear();
        for (int node = 0; node < graph.size(); node++) {
            if (graph.command(node) instanceof Command.Collective part) {
                int before = keys.count();
                int at = keys.number(part.key());
                if (at == before) {
                    if (at == partsOfKey.length) {
                        partsOfKey = Arrays.copyOf(partsOfKey, 2 * at);
                        handleOfKey = Arrays.copyOf(handleOfKey, 2 * at);
                    }
                    partsOfKey[at] = partsNeeded(part);
                    handleOfKey[at] = runtime.openCollective(partsOfKey[at]);
                }
                if (--partsOfKey[at] < 0) {
                    throw AcceleratorException.invalid(
                            "estimate",
                            "collective " + part.key() + " (" + part.kind() + ") has more parts than its "
                                    + partsNeeded(part) + "; node " + node + " is one too many");
                }
            }
        }
        for (int node = 0; node < graph.size() && keys.count() > 0; node++) {
            if (graph.command(node) instanceof Command.Collective part && partsOfKey[keys.number(part.key())] > 0) {
                throw AcceleratorException.invalid(
                        "estimate",
                        "collective " + part.key() + " (" + part.kind() + ") lacks "
                                + partsOfKey[keys.number(part.key())] + " of its " + partsNeeded(part) + " parts");
            }
        }
    }

    private static int partsNeeded(Command.Collective part) {
        return part.kind().pointToPoint() ? 2 : part.ranks();
    }

    private void finish(CommandGraph graph) {
        if (!runtime.runUntilIdle()) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE,
                    "estimate",
                    graph + " can never finish on " + machine.name() + ": " + runtime.explainStuck());
        }
    }

    // Result.

    private Timeline timeline(CommandGraph graph, Issue issue, IntervalLog log) {
        int size = graph.size();
        double[] starts = new double[size];
        double[] ends = new double[size];
        long last = runtime.nowPs();
        for (int node = 0; node < size; node++) {
            starts[node] = VirtualTime.toNs(runtime.startedPs(node));
            ends[node] = VirtualTime.toNs(runtime.endedPs(node));
        }
        List<Timeline.Resource> used = new ArrayList<>(64);
        int[] indexOfResource = log == null ? null : new int[resources.count()];
        int[] indexOfServer = log == null ? null : new int[resources.servers()];
        for (int device = 0; device < graph.deviceCount(); device++) {
            addResource(used, indexOfResource, Timeline.ResourceKind.COMPUTE, resources.compute(device), device, NONE);
            addResource(used, indexOfResource, Timeline.ResourceKind.MEMORY, resources.memory(device), device, NONE);
            addIfUsed(used, indexOfResource, resources.fromHost(device), device);
            addIfUsed(used, indexOfResource, resources.toHost(device), device);
            int from = resources.firstServer(device);
            int to = resources.networkServer(device);
            int queues = machine.device(device).kernels().hardwareQueues();
            for (int server = from; server <= to; server++) {
                addServer(used, indexOfServer, server, device, server < from + queues);
            }
            if (issue == Issue.STREAMS) {
                double busy = VirtualTime.toNs(hostPs[device]);
                used.add(new Timeline.Resource(
                        Timeline.ResourceKind.HOST, device, NONE, "issue thread " + device, 1, busy, busy / 1e9));
            }
        }
        addLinks(used, indexOfResource, graph.deviceCount());
        List<Timeline.Interval> intervals =
                log == null ? List.of() : log.intervals(graph, runtime, indexOfResource, indexOfServer);
        return new Timeline(graph, Figures.MODEL, starts, ends, VirtualTime.toNs(last), used, intervals);
    }

    private void addIfUsed(List<Timeline.Resource> used, int[] index, int resource, int device) {
        if (runtime.units(resource) > 0) {
            addResource(used, index, Timeline.ResourceKind.LINK, resource, device, NONE);
        }
    }

    private void addLinks(List<Timeline.Resource> used, int[] index, int devices) {
        int links = 2 * machine.links().size();
        for (int directed = 0; directed < links; directed++) {
            int source = machine.linkSource(directed);
            int target = machine.linkTarget(directed);
            boolean fromDevice = source < machine.deviceCount();
            boolean toDevice = target < machine.deviceCount();
            int resource = resources.link(directed);
            boolean inside = (fromDevice ? source < devices : toDevice) && (!toDevice || target < devices);
            if (inside || runtime.units(resource) > 0) {
                int device = fromDevice ? source : toDevice ? target : NONE;
                int peer = fromDevice && toDevice ? target : NONE;
                addResource(used, index, Timeline.ResourceKind.LINK, resource, device, peer);
            }
        }
    }

    private void addResource(
            List<Timeline.Resource> used, int[] index, Timeline.ResourceKind kind, int resource, int device, int peer) {
        if (index != null) {
            index[resource] = used.size();
        }
        String name = names[resource];
        if (name == null) {
            name = resources.name(resource);
            names[resource] = name;
        }
        used.add(new Timeline.Resource(
                kind,
                device,
                peer,
                name,
                resources.capacity(resource),
                runtime.resourceBusyNanos(resource),
                runtime.units(resource)));
    }

    private void addServer(List<Timeline.Resource> used, int[] index, int server, int device, boolean queue) {
        long busyPs = runtime.serverBusyPs(server);
        if (busyPs == 0) {
            return;
        }
        if (index != null) {
            index[server] = used.size();
        }
        String name = serverNames[server];
        if (name == null) {
            name = resources.serverName(device, server);
            serverNames[server] = name;
        }
        double busy = VirtualTime.toNs(busyPs);
        used.add(new Timeline.Resource(
                queue ? Timeline.ResourceKind.HARDWARE_QUEUE : Timeline.ResourceKind.COPY_ENGINE,
                device,
                NONE,
                name,
                1,
                busy,
                busy / 1e9));
    }
}
