// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.topology.LinkKind;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Finds paths: fewest network crossings first, then fewest crossings of host memory, of PCIe, then fewest device-to-device hops, then the widest. Ties go
 * to the lower vertex number, so that the same machine always has the same routes; the way back is the way there. Paths that the machine prescribes come before all that.
 *
 * <p>Trees are computed for a source when one of its non-trivial routes is first asked for. Safe for any thread: what is published is immutable, and a
 * race only computes the same thing twice.
 */
final class Router {
    private static final long UNREACHED = Long.MAX_VALUE;
    private static final long SWITCH_STEP = 1;
    private static final long HOP = 2;
    private static final long PCIE = 1L << 12;
    private static final long HOST = 1L << 28;
    private static final long NETWORK = 1L << 44;

    private final int devices;
    private final int vertices;
    private final List<LinkModel> links;
    private final double forwardingEfficiency;
    private final double forwardingDuplexEfficiency;
    private final List<int[]> fixed;
    private final int[] edgeStart;
    /** Directed links by source vertex, in the order of the document. */
    private final int[] edges;

    /** By source: the directed link by which each vertex is reached, or null. */
    private final AtomicReferenceArray<int[]> trees;

    /**
     * @param fixed paths that the hardware's tables prescribe, as vertices from source to destination
     */
    Router(
            int devices,
            int vertices,
            List<LinkModel> links,
            double forwardingEfficiency,
            double forwardingDuplexEfficiency,
            List<int[]> fixed) {
        this.devices = devices;
        this.vertices = vertices;
        this.links = links;
        this.forwardingEfficiency = forwardingEfficiency;
        this.forwardingDuplexEfficiency = forwardingDuplexEfficiency;
        this.fixed = fixed;
        edgeStart = new int[vertices + 1];
        for (LinkModel link : links) {
            edgeStart[link.from() + 1]++;
            edgeStart[link.to() + 1]++;
        }
        for (int v = 0; v < vertices; v++) {
            edgeStart[v + 1] += edgeStart[v];
        }
        edges = new int[2 * links.size()];
        int[] fill = Arrays.copyOf(edgeStart, vertices);
        for (int i = 0; i < links.size(); i++) {
            edges[fill[links.get(i).from()]++] = 2 * i;
            edges[fill[links.get(i).to()]++] = 2 * i + 1;
        }
        trees = new AtomicReferenceArray<>(devices);
    }

    int target(int directed) {
        LinkModel link = links.get(directed >> 1);
        return (directed & 1) == 0 ? link.to() : link.from();
    }

    int source(int directed) {
        LinkModel link = links.get(directed >> 1);
        return (directed & 1) == 0 ? link.from() : link.to();
    }

    double capacity(int directed) {
        LinkModel link = links.get(directed >> 1);
        return (directed & 1) == 0 ? link.capacity() : link.reverseCapacity();
    }

    /** The first device that a device cannot reach, or -1. */
    int unreachable() {
        boolean[] seen = new boolean[vertices];
        int[] stack = new int[vertices];
        int size = 0;
        stack[size++] = 0;
        seen[0] = true;
        while (size > 0) {
            int v = stack[--size];
            for (int i = edgeStart[v]; i < edgeStart[v + 1]; i++) {
                int next = target(edges[i]);
                if (!seen[next]) {
                    seen[next] = true;
                    stack[size++] = next;
                }
            }
        }
        for (int d = 0; d < devices; d++) {
            if (!seen[d]) {
                return d;
            }
        }
        return -1;
    }

    Route route(int from, int to) {
        if (from == to) {
            return new Route(from, to, LinkKind.SELF, "", new int[0], 0, 1, 0, 0, 1, true, true);
        }
        if (from > to) {
            // Both directions take one path: hardware's tables do, and what both directions share depends on it.
            return back(route(to, from));
        }
        for (int[] path : fixed) {
            if (path[0] == from && path[path.length - 1] == to) {
                int[] steps = new int[path.length - 1];
                for (int i = 0; i < steps.length; i++) {
                    steps[i] = edge(path[i], path[i + 1]);
                }
                return build(from, to, steps, 0);
            }
        }
        int direct = direct(from, to);
        if (direct >= 0) {
            return build(from, to, new int[] {direct}, 1);
        }
        int[] tree = trees.get(from);
        if (tree == null) {
            tree = tree(from);
            trees.set(from, tree);
        }
        int length = 0;
        for (int v = to; v != from; v = source(tree[v])) {
            if (tree[v] < 0) {
                return new Route(from, to, LinkKind.NONE, "", new int[0], 0, 1, 0, 0, 0, false, false);
            }
            length++;
        }
        int[] path = new int[length];
        for (int v = to; v != from; v = source(tree[v])) {
            path[--length] = tree[v];
        }
        return build(from, to, path, 0);
    }

    private Route back(Route route) {
        int length = route.length();
        if (length == 0) {
            return new Route(route.to(), route.from(), route.kind(), "", new int[0], 0, 1, 0, 0, 0, false, false);
        }
        int[] path = new int[length];
        for (int i = 0; i < length; i++) {
            path[i] = route.link(length - 1 - i) ^ 1;
        }
        return build(route.to(), route.from(), path, 0);
    }

    /** A fabric link that joins both, which nothing can beat but an equally short and wider way through a switch. */
    private int direct(int from, int to) {
        int best = -1;
        for (int i = edgeStart[from]; i < edgeStart[from + 1]; i++) {
            int edge = edges[i];
            if (target(edge) >= devices) {
                return -1;
            }
            if (target(edge) == to && cost(edge) == HOP && (best < 0 || capacity(edge) > capacity(best))) {
                best = edge;
            }
        }
        return best;
    }

    /** The widest link that leads from one vertex to another, or -1. */
    int edge(int from, int to) {
        int best = -1;
        for (int i = edgeStart[from]; i < edgeStart[from + 1]; i++) {
            if (target(edges[i]) == to && (best < 0 || capacity(edges[i]) > capacity(best))) {
                best = edges[i];
            }
        }
        return best;
    }

    private long cost(int edge) {
        LinkModel link = links.get(edge >> 1);
        long step = link.from() < devices && link.to() < devices ? HOP : SWITCH_STEP;
        return switch (link.kind()) {
            case NETWORK -> step * NETWORK;
            case HOST -> step * HOST;
            case PCIE -> step * PCIE;
            default -> step;
        };
    }

    private record Reached(int vertex, long cost, double width) {}

    private int[] tree(int from) {
        long[] cost = new long[vertices];
        double[] width = new double[vertices];
        int[] by = new int[vertices];
        Arrays.fill(cost, UNREACHED);
        Arrays.fill(by, -1);
        cost[from] = 0;
        width[from] = Double.POSITIVE_INFINITY;
        PriorityQueue<Reached> open = new PriorityQueue<>((a, b) -> {
            int byCost = Long.compare(a.cost, b.cost);
            int byWidth = byCost != 0 ? byCost : Double.compare(b.width, a.width);
            return byWidth != 0 ? byWidth : Integer.compare(a.vertex, b.vertex);
        });
        open.add(new Reached(from, 0, width[from]));
        while (!open.isEmpty()) {
            Reached at = open.poll();
            int v = at.vertex;
            if (at.cost != cost[v] || at.width != width[v]) {
                continue;
            }
            for (int i = edgeStart[v]; i < edgeStart[v + 1]; i++) {
                int edge = edges[i];
                int next = target(edge);
                long nextCost = at.cost + cost(edge);
                double nextWidth = Math.min(at.width, capacity(edge));
                if (nextCost < cost[next] || (nextCost == cost[next] && nextWidth > width[next])) {
                    cost[next] = nextCost;
                    width[next] = nextWidth;
                    by[next] = edge;
                    open.add(new Reached(next, nextCost, nextWidth));
                }
            }
        }
        return by;
    }

    private Route build(int from, int to, int[] path, int knownHops) {
        double bandwidth = Double.POSITIVE_INFINITY;
        double latency = 0;
        int hops = 0;
        int width = 0;
        boolean copyable = true;
        boolean addressable = true;
        boolean switched = false;
        LinkModel worst = null;
        for (int edge : path) {
            LinkModel link = links.get(edge >> 1);
            if (capacity(edge) < bandwidth) {
                bandwidth = capacity(edge);
                width = link.width();
            }
            latency += link.latencyNanos();
            int target = target(edge);
            if (target < devices) {
                hops++;
            } else {
                switched = true;
            }
            copyable &= link.copyable();
            addressable &= link.addressable();
            if (worst == null || link.kind().compareTo(worst.kind()) > 0) {
                worst = link;
            }
        }
        hops = Math.max(hops, knownHops);
        double duplexWeight = 1;
        if (hops > 1) {
            bandwidth *= forwardingEfficiency;
            duplexWeight = 1 / forwardingDuplexEfficiency;
        }
        LinkKind kind = worst.kind() == LinkKind.FABRIC && switched ? LinkKind.SWITCHED_FABRIC : worst.kind();
        return new Route(
                from,
                to,
                kind,
                worst.name(),
                path,
                bandwidth,
                duplexWeight,
                latency,
                hops,
                width,
                copyable,
                addressable);
    }
}
