// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * How a graph is issued to streams: one queue for each lane that has work, one issue order by node number, and the fewest events that keep the order. A dependency needs an event only when it crosses queues and does not
 * follow from what the queue has already waited for.
 */
final class StreamPlan {
    /** A queue: a lane of a device that has work. */
    record Queue(int device, int lane, Priority priority) {}

    final CommandGraph graph;
    final Queue[] queues;
    /** Queue of each node. */
    final int[] queueOf;
    /** Nodes that a node waits for by event, by node. */
    final int[][] waits;
    /** Index of the event recorded after a node, or -1. */
    final int[] eventOf;
    /** Number of events. */
    final int events;
    /** For each queue, the devices whose memory its commands touch, ascending. */
    final int[][] touches;
    /** Last node of each queue. */
    final int[] lastOf;
    /** For each node, whether it is the last part of its collective to be issued; the group is issued there. */
    final boolean[] closesGroup;

    StreamPlan(CommandGraph graph) {
        this.graph = graph;
        int size = graph.size();
        queueOf = new int[size];
        queues = queues();
        waits = waits();
        eventOf = new int[size];
        Arrays.fill(eventOf, -1);
        int next = 0;
        for (int[] ofNode : waits) {
            for (int node : ofNode) {
                if (eventOf[node] < 0) {
                    eventOf[node] = next++;
                }
            }
        }
        events = next;
        touches = new int[queues.length][];
        lastOf = new int[queues.length];
        touches();
        closesGroup = new boolean[size];
        groups();
    }

    private Queue[] queues() {
        Map<Long, Integer> known = new HashMap<>();
        Queue[] found = new Queue[16];
        for (int node = 0; node < queueOf.length; node++) {
            long key = ((long) graph.device(node) << 32) | graph.lane(node);
            Integer queue = known.get(key);
            if (queue == null) {
                queue = known.size();
                known.put(key, queue);
                found = queue == found.length ? Arrays.copyOf(found, queue * 2) : found;
                found[queue] = new Queue(graph.device(node), graph.lane(node), graph.priority(node));
            }
            queueOf[node] = queue;
        }
        return Arrays.copyOf(found, known.size());
    }

    private int[][] waits() {
        int size = graph.size();
        boolean[] awaited = new boolean[size];
        for (int node = 0; node < size; node++) {
            for (int i = 0; i < graph.dependencyCount(node); i++) {
                int dependency = graph.dependency(node, i);
                awaited[dependency] |= queueOf[dependency] != queueOf[node];
            }
        }
        // For each queue, what is surely complete before its next node: one more than the last such node of every
        // queue.
        int[][] done = new int[queues.length][queues.length];
        int[][] doneAt = new int[size][];
        int[][] result = new int[size][];
        for (int node = 0; node < size; node++) {
            int[] mine = done[queueOf[node]];
            int[] dependencies = graph.dependencies(node);
            Arrays.sort(dependencies);
            int count = 0;
            int[] kept = new int[dependencies.length];
            for (int i = dependencies.length - 1; i >= 0; i--) { // Late ones first: they imply more.
                int dependency = dependencies[i];
                if (mine[queueOf[dependency]] > dependency) {
                    continue;
                }
                kept[count++] = dependency;
                int[] theirs = doneAt[dependency];
                for (int queue = 0; queue < mine.length; queue++) {
                    mine[queue] = Math.max(mine[queue], theirs[queue]);
                }
            }
            result[node] = count == kept.length ? kept : Arrays.copyOf(kept, count);
            mine[queueOf[node]] = node + 1;
            if (awaited[node]) {
                doneAt[node] = mine.clone();
            }
        }
        return result;
    }

    private void touches() {
        boolean[][] touched = new boolean[queues.length][graph.deviceCount()];
        for (int node = 0; node < queueOf.length; node++) {
            Command command = graph.command(node);
            boolean[] mine = touched[queueOf[node]];
            lastOf[queueOf[node]] = node;
            mine[graph.device(node)] = true;
            command.reads().forEach(view -> mine[Traffic.device(view)] = true);
            command.writes().forEach(view -> mine[Traffic.device(view)] = true);
        }
        for (int queue = 0; queue < queues.length; queue++) {
            int count = 0;
            int[] devices = new int[graph.deviceCount()];
            for (int device = 0; device < devices.length; device++) {
                if (touched[queue][device]) {
                    devices[count++] = device;
                }
            }
            touches[queue] = Arrays.copyOf(devices, count);
        }
    }

    private void groups() {
        Map<Integer, Integer> last = new HashMap<>();
        for (int node = 0; node < queueOf.length; node++) {
            if (graph.command(node) instanceof Command.Collective part) {
                last.put(part.key(), node);
            }
        }
        last.values().forEach(node -> closesGroup[node] = true);
        boolean[] open = new boolean[queues.length];
        Map<Integer, Integer> openParts = new HashMap<>();
        for (int node = 0; node < queueOf.length; node++) {
            boolean waitsForOpen = open[queueOf[node]];
            for (int dependency : waits[node]) {
                waitsForOpen |= openParts.containsValue(dependency);
            }
            if (waitsForOpen) {
                throw new AcceleratorException(
                        ErrorCode.UNSUPPORTED,
                        "stream execution",
                        "node " + node + " (" + graph.label(node)
                                + ") follows a part of a collective whose other parts come later; put the parts of a collective next to one another");
            }
            if (graph.command(node) instanceof Command.Collective) {
                open[queueOf[node]] = true;
                openParts.put(queueOf[node], node);
                if (closesGroup[node]) {
                    int key = ((Command.Collective) graph.command(node)).key();
                    openParts.entrySet().removeIf(part -> {
                        boolean ends = ((Command.Collective) graph.command(part.getValue())).key() == key;
                        open[part.getKey()] &= !ends;
                        return ends;
                    });
                }
            }
        }
    }
}
