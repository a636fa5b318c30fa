// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.sim.engine.IntervalListener;
import io.weft.sim.machine.Machine;
import java.util.ArrayList;
import java.util.List;

/**
 * What a run carried over its resources, command by command, held against what the graph asked for by counting of its own: nothing here asks the cost model, but for how often a product reads its operands. Machines in one server, copies between devices and
 * products of local matrices only, which is what {@link RandomWork} makes.
 */
final class Carried implements IntervalListener {
    private static final double TOLERANCE = 1e-9;

    private final Machine machine;
    private final CommandGraph graph;
    private final MachineResources resources;
    /** Bytes to and from each device's memory, by node. */
    private final double[][] memory;
    /** Bytes that went into each vertex (devices, then switches) less those that left it, over all links. */
    private final double[] inflow;

    private final double[] outflow;
    private final List<String> violations = new ArrayList<>();
    private long lastPs;

    Carried(Machine machine, CommandGraph graph) {
        this.machine = machine;
        this.graph = graph;
        resources = new MachineResources(machine);
        memory = new double[graph.size()][machine.deviceCount()];
        int vertices = machine.deviceCount();
        for (int directed = 0; directed < 2 * machine.links().size(); directed++) {
            vertices = Math.max(vertices, 1 + machine.linkTarget(directed));
        }
        inflow = new double[vertices];
        outflow = new double[vertices];
    }

    @Override
    public void onFlow(int kind, int node, int resource, long startPs, long endPs, double units) {
        if (endPs < lastPs || startPs > endPs) {
            violations.add("time goes back: " + resources.name(resource) + " is used from " + startPs + " to " + endPs
                    + " ps, told of after " + lastPs + " ps");
        }
        lastPs = endPs;
        if (resources.isLink(resource)) {
            int directed = resources.directedLink(resource);
            outflow[machine.linkSource(directed)] += units;
            inflow[machine.linkTarget(directed)] += units;
        }
        for (int device = 0; device < machine.deviceCount(); device++) {
            if (resource == resources.memory(device)) {
                memory[node][device] += units;
            }
        }
    }

    /** Everything that is wrong once a run has ended, one sentence each. */
    List<String> violations(EstimateRun run) {
        double[] flops = new double[machine.deviceCount()];
        double[] askedFlops = new double[machine.deviceCount()];
        double[] net = new double[inflow.length];
        boolean rooted = false;
        for (int node = 0; node < graph.size(); node++) {
            int device = graph.device(node);
            switch (graph.command(node)) {
                case Command.Copy c -> copied(node, c.destination(), c.source(), net);
                case Command.CopyStrided c -> copied(node, c.destination(), c.source(), net);
                case Command.Fill f ->
                    traffic(node, device, (double) f.destination().bytes());
                case Command.Reduce r ->
                    traffic(
                            node,
                            device,
                            (double) (r.inputs().size() + 1) * r.destination().bytes());
                case Command.Gemm g -> {
                    double bytes = product(node, device, g);
                    askedFlops[device] += g.flops();
                    flops[device] += bytes > 0 ? g.flops() * memory[node][device] / bytes : 0;
                }
                case Command.Collective part -> {
                    rooted |= part.kind() == CollectiveKind.BROADCAST || part.kind() == CollectiveKind.REDUCE;
                    if (part.rank() == 0) {
                        collective(node, part, net);
                    }
                }
            }
        }
        for (int device = 0; device < flops.length; device++) {
            same("FLOP of device " + device, askedFlops[device], flops[device]);
        }
        for (int vertex = 0; vertex < net.length; vertex++) {
            boolean device = vertex < machine.deviceCount();
            // Who passes on how much of a broadcast or reduction is the algorithm's affair; a switch keeps nothing.
            if (!device || !rooted) {
                double through = Math.max(1, Math.max(inflow[vertex], outflow[vertex]));
                if (Math.abs(inflow[vertex] - outflow[vertex] - net[vertex]) > TOLERANCE * through) {
                    violations.add(machine.vertexName(vertex) + " takes in " + inflow[vertex] + " bytes and gives out "
                            + outflow[vertex] + "; the graph asked for a difference of " + net[vertex]);
                }
            }
        }
        for (int r = 0; r < resources.count(); r++) {
            if (run.peak(r) > resources.capacity(r) * (1 + TOLERANCE)) {
                violations.add(resources.name(r) + " was used at " + run.peak(r) + " units/s, above its capacity of "
                        + resources.capacity(r));
            }
        }
        return violations;
    }

    private void copied(int node, BufferView destination, BufferView source, double[] net) {
        int from = MemoryPlaces.OF_SLOTS.place(source.memory());
        int to = MemoryPlaces.OF_SLOTS.place(destination.memory());
        double bytes = source.bytes();
        net[to] += bytes;
        net[from] -= bytes;
        if (from == to) {
            traffic(node, from, 2 * bytes);
        } else {
            traffic(node, from, bytes);
            traffic(node, to, bytes);
        }
    }

    /** Bytes of a product: each operand at least once, and as often as its tiles read it. */
    private double product(int node, int device, Command.Gemm g) {
        boolean adds = g.beta() != 0;
        int bytesOfC = g.c().type().bytes();
        GemmPlan plan =
                GemmPlan.choose(machine.device(device), g.a().type(), bytesOfC, g.m(), g.n(), g.k(), g.batch(), adds);
        double least = (double) g.a().bytes() + g.b().bytes() + (adds ? 2.0 : 1.0) * g.c().bytes();
        double found = memory[node][device];
        if (found < least * (1 - TOLERANCE)) {
            violations.add("node " + node + " touches " + found + " bytes of memory; its operands have " + least);
        }
        traffic(node, device, plan.bytes());
        return plan.bytes();
    }

    private void traffic(int node, int device, double bytes) {
        same(
                "node " + node + " (" + graph.label(node) + "), bytes of device " + device + "'s memory",
                bytes,
                memory[node][device]);
    }

    /** All parts of a collective, which follow one another in the graph; who sends what is counted by the textbook. */
    private void collective(int first, Command.Collective part, double[] net) {
        int n = part.ranks();
        double[] sent = new double[n];
        double[] received = new double[n];
        double[] own = new double[n];
        double all = 0;
        for (int r = 0; r < n; r++) {
            Command.Collective mine = (Command.Collective) graph.command(first + r);
            double out = mine.send() == null ? 0 : mine.send().bytes();
            double in = mine.receive() == null ? 0 : mine.receive().bytes();
            all = Math.max(all, Math.max(out, in));
            switch (part.kind()) {
                case ALL_GATHER -> {
                    sent[r] = out * (n - 1);
                    received[r] = sent[r];
                    own[r] = 2 * out;
                }
                case REDUCE_SCATTER -> {
                    sent[r] = in * (n - 1);
                    received[r] = sent[r];
                }
                case ALL_REDUCE -> {
                    sent[r] = 2 * in / n * (n - 1);
                    received[r] = sent[r];
                }
                case ALL_TO_ALL, ALL_TO_ALL_V -> {
                    for (int to = 0; to < n; to++) {
                        double block = part.kind() == CollectiveKind.ALL_TO_ALL
                                ? out / n
                                : (double) mine.sendCounts().get(to)
                                        * mine.type().bytes();
                        if (to == r) {
                            own[r] += 2 * block;
                        } else {
                            sent[r] += block;
                            received[to] += block;
                        }
                    }
                }
                case GATHER -> {
                    sent[r] = r == part.root() ? 0 : out;
                    received[part.root()] += sent[r];
                    own[r] = r == part.root() ? 2 * out : 0;
                }
                case SCATTER -> {
                    received[r] = r == part.root() ? 0 : in;
                    sent[part.root()] += received[r];
                    own[r] = r == part.root() ? 2 * in : 0;
                }
                default -> {}
            }
        }
        double found = 0;
        for (int r = 0; r < n; r++) {
            int device = graph.device(first + r);
            found += memory[first + r][device];
            net[device] += received[r] - sent[r];
        }
        switch (part.kind()) {
            case BROADCAST -> same(part + ", bytes of memory", 2 * all * (n - 1), found);
            // What arrives is read and added to what is read and written.
            case REDUCE -> same(part + ", bytes of memory", 4 * all * (n - 1), found);
            case BARRIER -> same(part + ", bytes of memory", 0, found);
            default -> {
                for (int r = 0; r < n; r++) {
                    double reading = switch (part.kind()) {
                        case REDUCE_SCATTER -> 3 * received[r];
                        case ALL_REDUCE -> 2 * received[r]; // half of it is added, half is only written
                        default -> received[r];
                    };
                    traffic(first + r, graph.device(first + r), sent[r] + reading + own[r]);
                }
            }
        }
    }

    private void same(String what, double asked, double found) {
        if (Math.abs(found - asked) > TOLERANCE * Math.max(1, asked)) {
            violations.add(what + ": asked for " + asked + ", carried " + found);
        }
    }
}
