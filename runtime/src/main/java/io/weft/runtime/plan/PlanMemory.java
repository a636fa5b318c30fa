// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.plan;

import io.weft.api.BufferView;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.memory.PoolCore;
import io.weft.memory.PoolOptions;
import io.weft.memory.PoolRecording;
import io.weft.memory.PoolRole;
import io.weft.memory.PoolUse;
import io.weft.memory.StreamOrder;
import io.weft.memory.replay.CountedPages;
import io.weft.runtime.memory.DeviceUse;
import io.weft.scheduler.LoweredSchedule;
import io.weft.scheduler.Lowering;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The memory of one pass through a planned model on the first device: what the pools make of it, and a recording that any pool can be tried with.
 *
 * <p>Problems run one after the other, layer by layer, each as its timeline tells; parts that only some layers have are spread evenly over them. Weights of every
 * layer are there from the start and stay; a problem's operand is there while it runs; its result from its first write to the end of the next problem, which reads
 * it; workspace from the start of its first use to the end of its last. Communication workspace counts as another stream, as it must not share memory with
 * compute. What a model has beside its planned GEMMs is not in it.
 */
public final class PlanMemory {
    private static final int COMPUTE = 0;
    private static final int COMMUNICATION = 1;
    private static final int DEVICE = 0;
    /** More than a device has: what does not fit is told by the peak. */
    private static final long NO_LIMIT = 1L << 46;

    private record Life(double from, double to, long bytes, int stream) {}

    private record Edge(double time, boolean starts, int key, Life life) {}

    /** A part's graph, and when each of its slots is used first and last, ns. */
    private static final class Part {
        final LoweredSchedule lowered;
        final double[] first;
        final double[] last;
        final double makespan;

        Part(LoweredSchedule lowered, Timeline timeline) {
            CommandGraph graph = lowered.graph();
            this.lowered = lowered;
            this.makespan = timeline.makespanNanos();
            this.first = new double[graph.slots().size()];
            this.last = new double[first.length];
            Arrays.fill(first, Double.POSITIVE_INFINITY);
            for (int node = 0; node < graph.size(); node++) {
                for (List<BufferView> views :
                        List.of(graph.command(node).reads(), graph.command(node).writes())) {
                    for (BufferView view : views) {
                        int slot = ((Slot) view.memory()).index();
                        first[slot] = Math.min(first[slot], timeline.startNanos(node));
                        last[slot] = Math.max(last[slot], timeline.endNanos(node));
                    }
                }
            }
        }
    }

    private final List<Life> lives = new ArrayList<>();
    private double now;
    private final List<Integer> lastResults = new ArrayList<>();

    private PlanMemory() {}

    /**
     * Writes the memory of a plan that kept its timelines.
     *
     * @param to stays open
     * @throws io.weft.api.AcceleratorException when the recording cannot be written
     */
    public static void write(Plan plan, PoolRecording to) {
        PlanMemory memory = of(
                plan.report().problems(),
                plan.timelines(),
                plan.report().model().layers());
        PoolRecording.Source source = to.source();
        for (Edge edge : memory.edges()) {
            long nanos = Math.round(edge.time);
            if (edge.starts) {
                source.allocate(edge.key, edge.life.bytes, edge.life.stream, nanos);
            } else {
                source.free(edge.key, edge.life.stream, nanos);
            }
        }
        to.nextIteration(Math.round(memory.now));
    }

    /** What a compute and a communication pool, as a run has them, make of one pass. */
    static DeviceUse use(List<PlanReport.ProblemReport> parts, List<Timeline> timelines, int layers) {
        PlanMemory memory = of(parts, timelines, layers);
        PoolCore[] pools = new PoolCore[2];
        for (int stream = 0; stream < pools.length; stream++) {
            pools[stream] =
                    new PoolCore(new CountedPages(NO_LIMIT, true), StreamOrder.immediate(), PoolOptions.defaults());
        }
        long[] addresses = new long[memory.lives.size()];
        for (Edge edge : memory.edges()) {
            PoolCore pool = pools[edge.life.stream];
            if (edge.starts) {
                addresses[edge.key] = pool.allocate(edge.life.bytes, 0);
            } else {
                pool.free(addresses[edge.key], 0);
            }
        }
        return new DeviceUse(
                DEVICE,
                List.of(
                        new PoolUse("compute", PoolRole.COMPUTE, pools[COMPUTE].statistics()),
                        new PoolUse("communication", PoolRole.COMMUNICATION, pools[COMMUNICATION].statistics())));
    }

    private static PlanMemory of(List<PlanReport.ProblemReport> parts, List<Timeline> timelines, int layers) {
        PlanMemory memory = new PlanMemory();
        List<Part> ready = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            ready.add(
                    new Part(Lowering.lower(parts.get(i).problem(), parts.get(i).choice()), timelines.get(i)));
        }
        for (int layer = 0; layer < layers; layer++) {
            for (int i = 0; i < parts.size(); i++) {
                PlanReport.ProblemReport part = parts.get(i);
                long before = (long) layer * part.layers() / layers;
                if ((layer + 1L) * part.layers() / layers == before) {
                    continue; // not a layer that has it
                }
                for (int time = 0; time < part.perLayer(); time++) {
                    memory.run(ready.get(i));
                }
            }
        }
        memory.endResults(); // the last result is read after the pass
        return memory;
    }

    private void run(Part part) {
        LoweredSchedule lowered = part.lowered;
        double end = now + part.makespan;
        List<Integer> results = new ArrayList<>();
        for (Slot slot : lowered.graph().slots()) {
            if (slot.device() != DEVICE || slot.bytes() == 0) {
                continue;
            }
            double first = part.first[slot.index()];
            if (lowered.weights().contains(slot)) {
                lives.add(new Life(Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, slot.bytes(), COMPUTE));
            } else if (lowered.operands().contains(slot)) {
                lives.add(new Life(now, end, slot.bytes(), COMPUTE));
            } else if (lowered.results().contains(slot)) {
                results.add(lives.size());
                lives.add(new Life(
                        now + Math.min(first, part.makespan), Double.POSITIVE_INFINITY, slot.bytes(), COMPUTE));
            } else if (first != Double.POSITIVE_INFINITY) {
                int stream = slot.role() == Slot.Role.COMMUNICATION ? COMMUNICATION : COMPUTE;
                lives.add(new Life(now + first, now + part.last[slot.index()], slot.bytes(), stream));
            }
        }
        now = end;
        endResults();
        lastResults.addAll(results);
    }

    /** The results of the problem before the one that has just ended are read by now. */
    private void endResults() {
        for (int result : lastResults) {
            Life life = lives.get(result);
            lives.set(result, new Life(life.from, now, life.bytes, life.stream));
        }
        lastResults.clear();
    }

    private List<Edge> edges() {
        List<Edge> edges = new ArrayList<>(2 * lives.size());
        for (int i = 0; i < lives.size(); i++) {
            Life life = lives.get(i);
            edges.add(new Edge(Math.max(0, life.from), true, i, life));
            edges.add(new Edge(Math.min(now, life.to), false, i, life));
        }
        // At one time what ends goes first; the sort keeps the order of the rest.
        edges.sort(Comparator.comparingDouble(Edge::time).thenComparing(Edge::starts));
        return edges;
    }
}
