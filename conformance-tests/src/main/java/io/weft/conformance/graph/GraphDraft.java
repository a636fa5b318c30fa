// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.graph;

import io.weft.api.BufferView;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.conformance.reference.GraphInterpreter;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A graph that can still be changed: nodes as a list, from which a graph without races is made. A node gets a dependency on every earlier one that touches what it touches,
 * unless the two are ordered already; so whatever is left out or made smaller, the interpreter's order stays one of the allowed ones and all of them give the same data.
 *
 * <p>The parts of one collective are neighbours, rank i on device i. Immutable.
 *
 * @param devices number of devices
 * @param slots all slots by index
 * @param nodes in issue order
 */
record GraphDraft(int devices, List<Slot> slots, List<Node> nodes) {
    /**
     * One node.
     *
     * @param more dependencies beyond the needed ones
     */
    record Node(int device, int lane, Priority priority, Command command, Set<Integer> more) {
        Node {
            more = Set.copyOf(more);
        }

        Node with(Command other) {
            return new Node(device, lane, priority, other, more);
        }
    }

    GraphDraft {
        slots = List.copyOf(slots);
        nodes = List.copyOf(nodes);
    }

    /** The graph, with the dependencies that it needs. */
    CommandGraph graph() {
        CommandGraph.Builder builder = CommandGraph.builder(devices);
        slots.forEach(slot -> builder.slot(slot.device(), slot.name(), slot.bytes(), slot.role()));
        List<BitSet> before = new ArrayList<>();
        for (int node = 0; node < nodes.size(); node++) {
            Node one = nodes.get(node);
            BitSet ordered = new BitSet();
            for (int earlier = node - 1; earlier >= 0; earlier--) {
                if (nodes.get(earlier).device() == one.device()
                        && nodes.get(earlier).lane() == one.lane()) {
                    ordered.or(before.get(earlier));
                    ordered.set(earlier);
                    break;
                }
            }
            Set<Integer> dependencies = new TreeSet<>();
            for (int other : one.more()) {
                if (other < node && !siblings(other, node)) {
                    dependencies.add(other);
                    ordered.or(before.get(other));
                    ordered.set(other);
                }
            }
            for (int earlier = node - 1; earlier >= 0; earlier--) {
                if (!ordered.get(earlier) && needs(earlier, node)) {
                    dependencies.add(earlier);
                    ordered.or(before.get(earlier));
                    ordered.set(earlier);
                }
            }
            before.add(ordered);
            builder.add(
                    one.device(),
                    one.lane(),
                    one.priority(),
                    one.command(),
                    "node " + node,
                    dependencies.stream().mapToInt(Integer::intValue).toArray());
        }
        return builder.build();
    }

    private boolean siblings(int earlier, int later) {
        return nodes.get(earlier).command() instanceof Command.Collective a
                && nodes.get(later).command() instanceof Command.Collective b
                && a.key() == b.key();
    }

    private boolean needs(int earlier, int later) {
        Node a = nodes.get(earlier);
        Node b = nodes.get(later);
        if (siblings(earlier, later)) {
            return false;
        }
        // Collectives have one order on every device.
        if (a.device() == b.device()
                && a.command() instanceof Command.Collective
                && b.command() instanceof Command.Collective) {
            return true;
        }
        return meet(a.command().writes(), b.command().reads())
                || meet(a.command().reads(), b.command().writes())
                || meet(a.command().writes(), b.command().writes());
    }

    private static boolean meet(List<BufferView> some, List<BufferView> others) {
        for (BufferView a : some) {
            for (BufferView b : others) {
                if (a.memory().equals(b.memory()) && a.offset() < b.end() && b.offset() < a.end()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Why its results are not determined to the last bit; empty when they are. */
    Optional<String> inexact(long seed) {
        CommandGraph graph = graph();
        GraphInterpreter interpreter = new GraphInterpreter(graph, GraphContent.of(graph, seed));
        interpreter.run();
        return interpreter.inexact();
    }

    /** The nodes that go together with one: the parts of a collective, or the node alone. From first to last, exclusive. */
    int[] unit(int node) {
        int first = node;
        int last = node + 1;
        while (first > 0 && siblings(first - 1, node)) {
            first--;
        }
        while (last < nodes.size() && siblings(node, last)) {
            last++;
        }
        return new int[] {first, last};
    }

    /** Without some nodes, what was ordered by them being ordered still. */
    GraphDraft without(int from, int to) {
        List<Node> kept = new ArrayList<>();
        for (int node = 0; node < nodes.size(); node++) {
            if (node >= from && node < to) {
                continue;
            }
            Node one = nodes.get(node);
            Set<Integer> more = new TreeSet<>();
            for (int other : one.more()) {
                if (other < from) {
                    more.add(other);
                } else if (other >= to) {
                    more.add(other - (to - from));
                }
            }
            kept.add(new Node(one.device(), one.lane(), one.priority(), one.command(), more));
        }
        return new GraphDraft(devices, slots, kept);
    }

    /** With one node changed. */
    GraphDraft with(int node, Node other) {
        List<Node> changed = new ArrayList<>(nodes);
        changed.set(node, other);
        return new GraphDraft(devices, slots, changed);
    }

    /** With only the slots that are used, each as small as its use allows, and only the devices that are used when no collective needs them all. */
    GraphDraft tight() {
        long[] ends = new long[slots.size()];
        int most = 0;
        boolean collectives = false;
        for (Node node : nodes) {
            for (List<BufferView> views :
                    List.of(node.command().reads(), node.command().writes())) {
                for (BufferView view : views) {
                    int slot = ((Slot) view.memory()).index();
                    ends[slot] = Math.max(ends[slot], Math.max(view.end(), 1));
                }
            }
            most = Math.max(most, node.device());
            collectives |= node.command() instanceof Command.Collective;
        }
        List<Slot> kept = new ArrayList<>();
        Slot[] renamed = new Slot[slots.size()];
        for (Slot slot : slots) {
            if (ends[slot.index()] > 0) {
                most = Math.max(most, slot.device());
                renamed[slot.index()] =
                        new Slot(kept.size(), slot.device(), slot.name(), ends[slot.index()], slot.role());
                kept.add(renamed[slot.index()]);
            }
        }
        List<Node> rebound = new ArrayList<>();
        for (Node node : nodes) {
            rebound.add(node.with(node.command().rebind(memory -> renamed[((Slot) memory).index()])));
        }
        return new GraphDraft(collectives ? devices : most + 1, kept, rebound);
    }
}
