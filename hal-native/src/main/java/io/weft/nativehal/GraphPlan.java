// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.spi.GraphPreparations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How a graph is issued to streams that are captured: one stream for each lane that has work, one order, and only the waits that do not follow from others. The parts of a collective are issued
 * together where the last of them stands.
 */
final class GraphPlan {
    /** A lane of a device that has work. */
    record Lane(int device, int number, Priority priority) {}

    private final CommandGraph graph;
    private final List<Lane> lanes;
    private final int[] laneOf;
    private final int[][] waits;
    private final boolean[] awaited;
    private final Map<Integer, int[]> collectives;
    private final boolean[] closesCollective;

    GraphPlan(CommandGraph graph) {
        this.graph = graph;
        int size = graph.size();
        laneOf = new int[size];
        lanes = findLanes();
        awaited = new boolean[size];
        waits = waits();
        collectives = GraphPreparations.collectives(graph);
        closesCollective = new boolean[size];
        collectives
                .values()
                .forEach(nodes -> closesCollective[Arrays.stream(nodes).max().getAsInt()] = true);
        requireOrder();
    }

    CommandGraph graph() {
        return graph;
    }

    /** Lanes that have work, in the order of their first nodes. */
    List<Lane> lanes() {
        return lanes;
    }

    private List<Lane> findLanes() {
        Map<Long, Integer> known = new HashMap<>();
        List<Lane> found = new ArrayList<>();
        for (int node = 0; node < laneOf.length; node++) {
            long key = ((long) graph.device(node) << 32) | graph.lane(node);
            Integer lane = known.get(key);
            if (lane == null) {
                lane = found.size();
                known.put(key, lane);
                found.add(new Lane(graph.device(node), graph.lane(node), graph.priority(node)));
            }
            laneOf[node] = lane;
        }
        return List.copyOf(found);
    }

    int laneOf(int node) {
        return laneOf[node];
    }

    /** Nodes of other lanes that a node must wait for by event. */
    int[] waits(int node) {
        return waits[node];
    }

    /** Whether nodes of other lanes wait for a node. */
    boolean isAwaited(int node) {
        return awaited[node];
    }

    /** Whether a node is the last part of its collective, where all are issued. */
    boolean closesCollective(int node) {
        return closesCollective[node];
    }

    /** The nodes of a collective, by rank; sender before receiver. */
    int[] collective(int key) {
        return collectives.get(key);
    }

    private int[][] waits() {
        int size = graph.size();
        int count = lanes.size();
        int[][] done = new int[count][count];
        int[][] doneAt = new int[size][];
        int[][] result = new int[size][];
        for (int node = 0; node < size; node++) {
            int[] mine = done[laneOf[node]];
            int[] dependencies = graph.dependencies(node);
            Arrays.sort(dependencies);
            int kept = 0;
            int[] needed = new int[dependencies.length];
            for (int i = dependencies.length - 1; i >= 0; i--) { // Late ones first: they imply more.
                int dependency = dependencies[i];
                if (mine[laneOf[dependency]] > dependency) {
                    continue;
                }
                needed[kept++] = dependency;
                awaited[dependency] = true;
                int[] theirs = doneAt[dependency];
                for (int lane = 0; lane < count; lane++) {
                    mine[lane] = Math.max(mine[lane], theirs[lane]);
                }
            }
            result[node] = Arrays.copyOf(needed, kept);
            mine[laneOf[node]] = node + 1;
            doneAt[node] = mine.clone();
        }
        return result;
    }

    /** Nothing may stand behind a part in its lane, or wait for it, before the last part of the collective has been issued. */
    private void requireOrder() {
        Map<Integer, Integer> openOn = new HashMap<>(); // lane -> node
        for (int node = 0; node < graph.size(); node++) {
            boolean early = openOn.containsKey(laneOf[node]);
            for (int dependency : waits[node]) {
                early |= openOn.containsValue(dependency);
            }
            if (early) {
                throw new AcceleratorException(
                        ErrorCode.UNSUPPORTED,
                        "instantiate graph",
                        "node " + node + " (" + graph.label(node)
                                + ") follows a part of a collective whose other parts come later",
                        "number the parts of a collective one after the other",
                        null,
                        null);
            }
            if (graph.command(node) instanceof Command.Collective part) {
                if (closesCollective[node]) {
                    for (int sibling : collectives.get(part.key())) {
                        openOn.remove(laneOf[sibling], sibling);
                    }
                } else {
                    openOn.put(laneOf[node], node);
                }
            }
        }
    }
}
