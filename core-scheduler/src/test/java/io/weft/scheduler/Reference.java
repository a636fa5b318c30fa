// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Runs a command graph on plain arrays, node by node, in a random order that dependencies, lanes and collectives allow. If some order gives other numbers than another, a dependency is missing.
 *
 * <p>A slot holds one double for each element of the one type that its views have. Sums are in fp32 along K in order, so a row's bits do not depend on how rows are grouped.
 */
final class Reference {
    private final CommandGraph graph;
    private final double[][] memory;

    Reference(CommandGraph graph) {
        this.graph = graph;
        this.memory = new double[graph.slots().size()][];
    }

    /** Element type of each slot, as its views have it; null when nothing looks at it. */
    private static ElementType[] types(CommandGraph graph) {
        ElementType[] types = new ElementType[graph.slots().size()];
        for (int node = 0; node < graph.size(); node++) {
            Command command = graph.command(node);
            for (BufferView view : command.reads()) {
                type(types, view);
            }
            for (BufferView view : command.writes()) {
                type(types, view);
            }
        }
        return types;
    }

    private static void type(ElementType[] types, BufferView view) {
        Slot slot = (Slot) view.memory();
        if (types[slot.index()] != null && types[slot.index()] != view.type()) {
            throw new AssertionError("slot " + slot + " holds " + types[slot.index()] + " and " + view.type());
        }
        types[slot.index()] = view.type();
    }

    void put(Slot slot, double[] values) {
        memory[slot.index()] = values.clone();
    }

    double[] get(Slot slot) {
        return memory[slot.index()];
    }

    /** Fills everything that was not put with NaN, so that what is read too early shows. */
    private void poison() {
        ElementType[] types = types(graph);
        for (Slot slot : graph.slots()) {
            if (memory[slot.index()] == null) {
                ElementType type = types[slot.index()];
                memory[slot.index()] = new double[type == null ? 0 : (int) (slot.bytes() / type.bytes())];
                Arrays.fill(memory[slot.index()], Double.NaN);
            }
        }
    }

    /** One joined unit for each node or collective, with what must run before it. */
    static List<List<Integer>> units(CommandGraph graph, int[] unitOf) {
        List<List<Integer>> units = new ArrayList<>();
        Map<Integer, Integer> byKey = new HashMap<>();
        for (int node = 0; node < graph.size(); node++) {
            int unit = units.size();
            if (graph.command(node) instanceof Command.Collective part) {
                Integer known = byKey.putIfAbsent(part.key(), unit);
                if (known != null) {
                    units.get(known).add(node);
                    unitOf[node] = known;
                    continue;
                }
            }
            unitOf[node] = unit;
            units.add(new ArrayList<>(List.of(node)));
        }
        return units;
    }

    /** Nodes that a node follows directly: its dependencies and the one before it on its lane. */
    static int[][] predecessors(CommandGraph graph) {
        Map<Long, Integer> last = new HashMap<>();
        int[][] before = new int[graph.size()][];
        for (int node = 0; node < graph.size(); node++) {
            int[] dependencies = graph.dependencies(node);
            Integer previous = last.put(((long) graph.device(node) << 32) | graph.lane(node), node);
            if (previous != null) {
                dependencies = Arrays.copyOf(dependencies, dependencies.length + 1);
                dependencies[dependencies.length - 1] = previous;
            }
            before[node] = dependencies;
        }
        return before;
    }

    void run(SplittableRandom random) {
        poison();
        int[] unitOf = new int[graph.size()];
        List<List<Integer>> units = units(graph, unitOf);
        int[][] before = predecessors(graph);
        int[] waiting = new int[units.size()];
        List<List<Integer>> successors = new ArrayList<>();
        units.forEach(unit -> successors.add(new ArrayList<>()));
        for (int node = 0; node < graph.size(); node++) {
            for (int dependency : before[node]) {
                waiting[unitOf[node]]++;
                successors.get(unitOf[dependency]).add(unitOf[node]);
            }
        }
        List<Integer> ready = new ArrayList<>();
        for (int unit = 0; unit < units.size(); unit++) {
            if (waiting[unit] == 0) {
                ready.add(unit);
            }
        }
        int done = 0;
        while (!ready.isEmpty()) {
            int pick = random.nextInt(ready.size());
            int unit = ready.get(pick);
            ready.set(pick, ready.getLast());
            ready.removeLast();
            execute(units.get(unit));
            done++;
            for (int next : successors.get(unit)) {
                if (--waiting[next] == 0) {
                    ready.add(next);
                }
            }
        }
        if (done != units.size()) {
            throw new AssertionError((units.size() - done) + " nodes never became ready");
        }
    }

    private void execute(List<Integer> nodes) {
        switch (graph.command(nodes.getFirst())) {
            case Command.Copy copy -> copy(copy.destination(), copy.source());
            case Command.CopyStrided copy -> copy(copy.destination(), copy.source());
            case Command.Gemm gemm -> gemm(gemm);
            case Command.Reduce reduce -> reduce(reduce.destination(), reduce.inputs());
            case Command.Collective ignored -> collective(nodes);
            case Command.Fill fill -> throw new AssertionError("no schedule fills: " + fill);
        }
    }

    private double[] of(BufferView view) {
        return memory[((Slot) view.memory()).index()];
    }

    private static int at(BufferView view, long row, long column) {
        return (int) (view.offset() / view.type().bytes() + row * view.pitch() + column);
    }

    private static double round(ElementType type, float value) {
        return type.decode(type.encode(value));
    }

    private void copy(BufferView to, BufferView from) {
        double[] target = of(to);
        double[] source = of(from);
        if (to.isContiguous() && from.isContiguous()) {
            System.arraycopy(source, at(from, 0, 0), target, at(to, 0, 0), (int) from.elements());
            return;
        }
        for (long row = 0; row < to.rows(); row++) {
            System.arraycopy(source, at(from, row, 0), target, at(to, row, 0), (int) to.columns());
        }
    }

    private void gemm(Command.Gemm gemm) {
        double[] a = of(gemm.a());
        double[] b = of(gemm.b());
        double[] c = of(gemm.c());
        boolean integer = !gemm.c().type().isFloating();
        for (long row = 0; row < gemm.m(); row++) {
            for (long column = 0; column < gemm.n(); column++) {
                float sum = 0;
                long whole = 0;
                for (long i = 0; i < gemm.k(); i++) {
                    double x = a[at(gemm.a(), row, i)];
                    double y = b[at(gemm.b(), i, column)];
                    sum += ((float) x) * ((float) y);
                    whole += ((long) x) * ((long) y);
                }
                int index = at(gemm.c(), row, column);
                if (integer) {
                    c[index] = whole + (gemm.beta() == 0 ? 0 : c[index]);
                } else {
                    c[index] = round(gemm.c().type(), gemm.beta() == 0 ? sum : sum + (float) c[index]);
                }
            }
        }
    }

    private void reduce(BufferView to, List<BufferView> inputs) {
        double[] target = of(to);
        for (long row = 0; row < to.rows(); row++) {
            for (long column = 0; column < to.columns(); column++) {
                float sum = 0;
                double whole = 0;
                for (BufferView input : inputs) {
                    double value = of(input)[at(input, row, column)];
                    sum += (float) value;
                    whole += value;
                }
                target[at(to, row, column)] = to.type().isFloating() ? round(to.type(), sum) : whole;
            }
        }
    }

    private void collective(List<Integer> nodes) {
        int ranks = nodes.size();
        Command.Collective[] parts = new Command.Collective[ranks];
        for (int node : nodes) {
            Command.Collective part = (Command.Collective) graph.command(node);
            parts[part.rank()] = part;
        }
        switch (parts[0].kind()) {
            case ALL_GATHER -> {
                for (Command.Collective part : parts) {
                    long rows = part.receive().elements() / ranks;
                    for (int s = 0; s < ranks; s++) {
                        copy(piece(part.receive(), s * rows, rows), flat(parts[s].send()));
                    }
                }
            }
            case BROADCAST -> {
                for (Command.Collective part : parts) {
                    copy(flat(part.receive()), flat(parts[part.root()].send()));
                }
            }
            case ALL_TO_ALL, ALL_TO_ALL_V -> {
                long[] read = new long[ranks];
                for (int d = 0; d < ranks; d++) {
                    long at = 0;
                    for (int s = 0; s < ranks; s++) {
                        long count = parts[s].sendCounts().isEmpty()
                                ? parts[s].send().elements() / ranks
                                : parts[s].sendCounts().get(d);
                        copy(piece(parts[d].receive(), at, count), piece(parts[s].send(), read[s], count));
                        at += count;
                        read[s] += count;
                    }
                }
            }
            case REDUCE_SCATTER -> {
                for (Command.Collective part : parts) {
                    long count = part.receive().elements();
                    List<BufferView> inputs = new ArrayList<>();
                    for (Command.Collective peer : parts) {
                        inputs.add(piece(peer.send(), part.rank() * count, count));
                    }
                    reduce(flat(part.receive()), inputs);
                }
            }
            case REDUCE -> {
                List<BufferView> inputs = new ArrayList<>();
                for (Command.Collective peer : parts) {
                    inputs.add(flat(peer.send()));
                }
                reduce(flat(parts[parts[0].root()].receive()), inputs);
            }
            case ALL_REDUCE -> {
                List<BufferView> inputs = new ArrayList<>();
                for (Command.Collective peer : parts) {
                    inputs.add(flat(peer.send()));
                }
                reduce(flat(parts[0].receive()), inputs);
                for (Command.Collective peer : parts) {
                    if (peer.rank() != 0) {
                        copy(flat(peer.receive()), flat(parts[0].receive()));
                    }
                }
            }
            default -> throw new AssertionError("no schedule uses " + parts[0].kind());
        }
    }

    private static BufferView flat(BufferView view) {
        return piece(view, 0, view.elements());
    }

    private static BufferView piece(BufferView view, long first, long count) {
        return BufferView.vector(
                view.memory(), view.offset() + first * view.type().bytes(), count, view.type());
    }
}
