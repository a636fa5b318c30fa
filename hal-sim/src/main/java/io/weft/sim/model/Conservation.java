// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.BufferView;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.sim.engine.ActivitySpec;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.Route;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Checks a predicted timeline against what its graph asked for: every byte of every copy crosses every link of its path once, memory traffic and compute time add up,
 * no resource does more than its capacity allows in its busy time, no GEMM is faster than the device's peak, and dependencies, lanes and
 * hardware queues keep their order. For tests; not fast.
 */
public final class Conservation {
    private static final double TOLERANCE = 1e-9;
    /** Instants are rounded to picoseconds. */
    private static final double NANOS = 0.002;

    private final Machine machine;
    private final Timeline timeline;
    private final CommandGraph graph;
    private final MachineResources resources;
    private final List<String> violations = new ArrayList<>();

    private Conservation(Machine machine, Timeline timeline) {
        this.machine = machine;
        this.timeline = timeline;
        graph = timeline.graph();
        resources = new MachineResources(machine);
    }

    /** Everything that is wrong with a timeline, one sentence each; empty when nothing is. */
    public static List<String> violations(Machine machine, Timeline timeline) {
        Conservation check = new Conservation(machine, timeline);
        check.order();
        check.amounts();
        check.peaks();
        return check.violations;
    }

    private void order() {
        Map<Long, Integer> lanes = new HashMap<>();
        double last = 0;
        for (int node = 0; node < graph.size(); node++) {
            double start = timeline.startNanos(node);
            double end = timeline.endNanos(node);
            last = Math.max(last, end);
            if (!(start >= 0 && end >= start)) {
                violations.add(name(node) + " runs from " + start + " to " + end + " ns");
            }
            for (int i = 0; i < graph.dependencyCount(node); i++) {
                after(node, graph.dependency(node, i), "depends on");
            }
            long lane = (long) graph.device(node) << 32 | graph.lane(node);
            Integer before = lanes.put(lane, node);
            if (before != null) {
                after(node, before, "follows on its lane");
            }
        }
        if (timeline.makespanNanos() < last) {
            violations.add("the makespan is " + timeline.makespanNanos() + " ns and a node ends at " + last);
        }
        CommandCosts costs = new CommandCosts(machine, resources, MemoryPlaces.OF_SLOTS);
        Map<Integer, Integer> queues = new HashMap<>();
        for (int node = 0; node < graph.size(); node++) {
            if (costs.carrier(graph.command(node), graph.device(node)) == CommandCosts.Carrier.KERNEL) {
                int queue = resources.queueServer(graph.device(node), graph.lane(node));
                Integer before = queues.put(queue, node);
                if (before != null) {
                    after(node, before, "stands in the hardware queue behind");
                }
            }
        }
    }

    private void after(int node, int before, String why) {
        if (timeline.startNanos(node) < timeline.endNanos(before) - NANOS) {
            violations.add(name(node) + " " + why + " " + name(before) + ", which ends at " + timeline.endNanos(before)
                    + " ns, and starts at " + timeline.startNanos(node));
        }
    }

    private void amounts() {
        double[] expected = new double[resources.count()];
        CommandCosts costs = new CommandCosts(machine, resources, MemoryPlaces.OF_SLOTS);
        ActivitySpec spec = new ActivitySpec();
        Map<Integer, List<Integer>> collectives = new LinkedHashMap<>();
        for (int node = 0; node < graph.size(); node++) {
            Command command = graph.command(node);
            int device = graph.device(node);
            if (command instanceof Command.Collective part) {
                collectives
                        .computeIfAbsent(part.key(), key -> new ArrayList<>())
                        .add(node);
                continue;
            }
            CommandCosts.Carrier carrier = costs.carrier(command, device);
            if (carrier == CommandCosts.Carrier.NOTHING) {
                continue;
            }
            costs.fill(spec, command, device, graph.priority(node), carrier);
            switch (command) {
                // Copies are counted here anew, without the cost model's help.
                case Command.Copy c -> {
                    copied(expected, c.destination(), c.source());
                    book(expected, spec, costs.work, resources.compute(device));
                }
                case Command.CopyStrided c -> {
                    copied(expected, c.destination(), c.source());
                    book(expected, spec, costs.work, resources.compute(device));
                }
                default -> {
                    for (int i = 0; i < spec.uses(); i++) {
                        expected[spec.resource(i)] += spec.amount(i) * costs.work;
                    }
                }
            }
        }
        for (List<Integer> nodes : collectives.values()) {
            collective(expected, costs, spec, nodes);
        }
        compare(expected);
    }

    private static void book(double[] expected, ActivitySpec spec, double work, int resource) {
        for (int i = 0; i < spec.uses(); i++) {
            if (spec.resource(i) == resource) {
                expected[resource] += spec.amount(i) * work;
            }
        }
    }

    private void copied(double[] expected, BufferView destination, BufferView source) {
        int from = MemoryPlaces.OF_SLOTS.place(source.memory());
        int to = MemoryPlaces.OF_SLOTS.place(destination.memory());
        double bytes = source.bytes();
        expected[resources.memory(from)] += bytes;
        expected[resources.memory(to)] += bytes;
        Route route = machine.route(from, to);
        for (int i = 0; i < route.length(); i++) {
            expected[resources.link(route.link(i))] += bytes;
        }
    }

    private void collective(double[] expected, CommandCosts costs, ActivitySpec spec, List<Integer> nodes) {
        nodes.sort((a, b) -> Integer.compare(part(a).rank(), part(b).rank()));
        CollectivePlan plan = new CollectivePlan(machine, resources, costs);
        Command.Collective[] parts = new Command.Collective[nodes.size()];
        int[] devices = new int[nodes.size()];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = part(nodes.get(i));
            devices[i] = graph.device(nodes.get(i));
        }
        plan.plan(parts, devices, parts.length);
        for (int i = 0; i < parts.length; i++) {
            double work = plan.fill(spec, i, graph.priority(nodes.get(i)));
            for (int u = 0; u < spec.uses(); u++) {
                expected[spec.resource(u)] += spec.amount(u) * work;
            }
        }
        plan.end();
    }

    private Command.Collective part(int node) {
        return (Command.Collective) graph.command(node);
    }

    private void compare(double[] expected) {
        Map<String, Timeline.Resource> found = new HashMap<>();
        for (Timeline.Resource resource : timeline.resources()) {
            found.put(resource.name(), resource);
        }
        for (int r = 0; r < expected.length; r++) {
            if (resources.isShared(r)) {
                continue;
            }
            Timeline.Resource resource = found.get(resources.name(r));
            double units = resource == null ? 0 : resource.units();
            if (Math.abs(units - expected[r]) > TOLERANCE * Math.max(1, expected[r])) {
                violations.add(resources.name(r) + " carried " + units + ", and the graph asked for " + expected[r]);
            }
        }
        for (Timeline.Resource resource : timeline.resources()) {
            double most = resource.capacity() * (resource.busyNanos() + NANOS) / 1e9;
            if (resource.units() > most * (1 + TOLERANCE)) {
                violations.add(
                        resource.name() + " carried " + resource.units() + " in a busy time that allows " + most);
            }
            if (resource.kind() != Timeline.ResourceKind.HOST
                    && resource.busyNanos() > timeline.makespanNanos() + NANOS) {
                violations.add(resource.name() + " was busy for longer than everything took");
            }
        }
    }

    private void peaks() {
        double[] flops = new double[graph.deviceCount()];
        double[] fastest = new double[graph.deviceCount()];
        for (int node = 0; node < graph.size(); node++) {
            if (graph.command(node) instanceof Command.Gemm gemm && !gemm.c().isEmpty()) {
                int device = graph.device(node);
                double peak =
                        machine.device(device).gemm().peakFlops().get(gemm.a().type());
                flops[device] += gemm.flops();
                fastest[device] = Math.max(fastest[device], peak);
                if (gemm.flops() > peak * timeline.durationNanos(node) / 1e9) {
                    violations.add(name(node) + " is faster than its device's peak");
                }
            }
        }
        for (Timeline.Resource resource : timeline.resources()) {
            if (resource.kind() == Timeline.ResourceKind.COMPUTE) {
                int device = resource.device();
                double most = resource.units() * fastest[device] / resource.capacity();
                if (flops[device] > most * (1 + TOLERANCE)) {
                    violations.add(
                            resource.name() + " did " + flops[device] + " FLOP and its compute time allows " + most);
                }
            }
        }
    }

    private String name(int node) {
        return String.format(
                Locale.ROOT,
                "node %d (%s, device %d, lane %d)",
                node,
                graph.label(node),
                graph.device(node),
                graph.lane(node));
    }
}
