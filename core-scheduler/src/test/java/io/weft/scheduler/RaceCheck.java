// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.BufferView;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** Proves the order of a graph: every two commands that touch the same bytes, one of them writing, must be ordered; and no dependency may follow from the others. */
final class RaceCheck {
    private record Access(int node, boolean writes, BufferView view) {}

    private final CommandGraph graph;
    private final int[] unitOf;
    private final BitSet[] before;

    RaceCheck(CommandGraph graph) {
        this.graph = graph;
        this.unitOf = new int[graph.size()];
        this.before = reach(graph, unitOf);
    }

    /** For each unit, the units that surely are complete before it starts. */
    private static BitSet[] reach(CommandGraph graph, int[] unitOf) {
        List<List<Integer>> units = Reference.units(graph, unitOf);
        int[][] predecessors = Reference.predecessors(graph);
        BitSet[] before = new BitSet[units.size()];
        boolean changed = true;
        for (int unit = 0; unit < before.length; unit++) {
            before[unit] = new BitSet();
        }
        while (changed) { // Joined collectives may point forward, so one pass need not be enough.
            changed = false;
            for (int unit = 0; unit < before.length; unit++) {
                int size = before[unit].cardinality();
                for (int node : units.get(unit)) {
                    for (int dependency : predecessors[node]) {
                        before[unit].set(unitOf[dependency]);
                        before[unit].or(before[unitOf[dependency]]);
                    }
                }
                changed |= before[unit].cardinality() != size;
            }
        }
        return before;
    }

    private boolean ordered(int x, int y) {
        return unitOf[x] == unitOf[y] || before[unitOf[x]].get(unitOf[y]) || before[unitOf[y]].get(unitOf[x]);
    }

    /** The first race, or null. */
    String race() {
        List<List<Access>> accesses = new ArrayList<>();
        for (Slot ignored : graph.slots()) {
            accesses.add(new ArrayList<>());
        }
        for (int node = 0; node < graph.size(); node++) {
            Command command = graph.command(node);
            for (BufferView view : command.reads()) {
                accesses.get(((Slot) view.memory()).index()).add(new Access(node, false, view));
            }
            for (BufferView view : command.writes()) {
                accesses.get(((Slot) view.memory()).index()).add(new Access(node, true, view));
            }
        }
        for (List<Access> ofSlot : accesses) {
            for (int i = 0; i < ofSlot.size(); i++) {
                for (int j = i + 1; j < ofSlot.size(); j++) {
                    Access x = ofSlot.get(i);
                    Access y = ofSlot.get(j);
                    if ((x.writes || y.writes)
                            && x.node != y.node
                            && !ordered(x.node, y.node)
                            && overlap(x.view, y.view)) {
                        return describe(x.node) + " and " + describe(y.node) + " both touch "
                                + ((Slot) x.view.memory()).name() + " of device "
                                + ((Slot) x.view.memory()).device();
                    }
                }
            }
        }
        return null;
    }

    private String describe(int node) {
        return "node " + node + " (" + graph.label(node) + " on device " + graph.device(node) + " lane "
                + graph.lane(node) + ")";
    }

    private static boolean overlap(BufferView x, BufferView y) {
        if (x.isEmpty() || y.isEmpty() || x.offset() >= y.end() || y.offset() >= x.end()) {
            return false;
        }
        if (x.isContiguous() && y.isContiguous()) {
            return true;
        }
        if (x.isContiguous() || y.isContiguous() || x.pitch() != y.pitch()) {
            return true; // Not told apart here; no schedule has such a pair unordered.
        }
        long pitch = x.pitch() * x.type().bytes();
        long left = x.offset() % pitch;
        long other = y.offset() % pitch;
        return left < other + y.columns() * y.type().bytes()
                && other < left + x.columns() * x.type().bytes();
    }

    /** The first dependency that follows from the others, or null. */
    String redundant() {
        int[][] predecessors = Reference.predecessors(graph);
        for (int node = 0; node < graph.size(); node++) {
            for (int i = 0; i < graph.dependencyCount(node); i++) {
                int dependency = graph.dependency(node, i);
                for (int other : predecessors[node]) {
                    if (other != dependency && before[unitOf[other]].get(unitOf[dependency])) {
                        return describe(node) + " need not wait for " + describe(dependency) + ", as " + describe(other)
                                + " does";
                    }
                }
                if (graph.device(node) == graph.device(dependency) && graph.lane(node) == graph.lane(dependency)) {
                    return describe(node) + " need not wait for " + describe(dependency) + " of its own lane";
                }
            }
        }
        return null;
    }
}
