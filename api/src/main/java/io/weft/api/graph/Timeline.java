// SPDX-License-Identifier: Apache-2.0
package io.weft.api.graph;

import io.weft.api.Figures;
import java.util.List;
import java.util.Objects;

/**
 * When each node of a graph ran, and how its resources were used: the outcome of an estimate or of a run, in one form, so that every metric means the same
 * on a model and on hardware.
 *
 * <p>Times are ns from the start of the graph's launch. {@code start} is when a node began to hold its device's resources (after its dependencies, its lane
 * and its queue let it), and {@code end} is when its effects are complete. Immutable.
 */
public final class Timeline {
    /** What a resource is. */
    public enum ResourceKind {
        COMPUTE,
        MEMORY,
        COPY_ENGINE,
        LINK,
        HARDWARE_QUEUE,
        HOST
    }

    /**
     * How one resource was used.
     *
     * @param kind what it is
     * @param device the device it belongs to (a link: its source)
     * @param peer the link's destination device, otherwise -1
     * @param name for people
     * @param capacity units/s; bytes/s for memory and links, 1 for engines and queues, compute units for compute
     * @param busyNanos time with at least one user
     * @param units bytes moved, or the integral of compute units over seconds
     */
    public record Resource(
            ResourceKind kind, int device, int peer, String name, double capacity, double busyNanos, double units) {}

    /**
     * One node's use of one resource, kept only when intervals were asked for.
     *
     * @param node the node
     * @param resource index into {@link #resources()}
     * @param startNanos start
     * @param endNanos end
     */
    public record Interval(int node, int resource, double startNanos, double endNanos) {}

    private final CommandGraph graph;
    private final Figures figures;
    private final double[] starts;
    private final double[] ends;
    private final double makespan;
    private final List<Resource> resources;
    private final List<Interval> intervals;

    /**
     * @param starts start of each node, ns; ownership passes to the timeline
     * @param ends end of each node, ns; ownership passes to the timeline
     * @param makespan ns from launch until everything is complete
     * @param resources may be empty on hardware without counters
     * @param intervals may be empty
     */
    public Timeline(
            CommandGraph graph,
            Figures figures,
            double[] starts,
            double[] ends,
            double makespan,
            List<Resource> resources,
            List<Interval> intervals) {
        this.graph = Objects.requireNonNull(graph);
        this.figures = Objects.requireNonNull(figures);
        this.starts = starts;
        this.ends = ends;
        this.makespan = makespan;
        this.resources = List.copyOf(resources);
        this.intervals = List.copyOf(intervals);
        if (starts.length != graph.size() || ends.length != graph.size()) {
            throw new IllegalArgumentException("a timeline needs one start and one end for each node");
        }
    }

    /** The graph that ran. */
    public CommandGraph graph() {
        return graph;
    }

    /** Whether this is predicted or measured. */
    public Figures figures() {
        return figures;
    }

    /** Start of a node, ns. */
    public double startNanos(int node) {
        return starts[node];
    }

    /** End of a node, ns. */
    public double endNanos(int node) {
        return ends[node];
    }

    /** Duration of a node, ns. */
    public double durationNanos(int node) {
        return ends[node] - starts[node];
    }

    /** From launch until everything is complete, ns. */
    public double makespanNanos() {
        return makespan;
    }

    /** Use of each resource; empty where the backend cannot tell. */
    public List<Resource> resources() {
        return resources;
    }

    /** Use of resources over time; empty unless asked for. */
    public List<Interval> intervals() {
        return intervals;
    }
}
