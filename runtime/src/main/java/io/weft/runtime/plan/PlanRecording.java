// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.plan;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.memory.PoolRecording;
import io.weft.scheduler.LoweredSchedule;
import io.weft.scheduler.Lowering;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The memory of one pass through a planned model on the first device, as a recording that a pool can be tried with.
 *
 * <p>Problems run one after the other, layer by layer, each as its timeline tells; parts that only some layers have are spread evenly over them. Weights of every
 * layer are there from the start and stay; a problem's operand is there while it runs; its result from its first write to the end of the next problem, which reads
 * it; workspace from the start of its first use to the end of its last. Communication workspace counts as another stream, as it must not share memory with
 * compute. What a model has beside its planned GEMMs is not in it.
 */
public final class PlanRecording {
    private static final int COMPUTE = 0;
    private static final int COMMUNICATION = 1;
    private static final int DEVICE = 0;

    private record Life(double from, double to, long bytes, int stream) {}

    private record Edge(double time, boolean starts, long key, Life life) {}

    private final List<Life> lives = new ArrayList<>();
    private double now;
    private final List<int[]> lastResults = new ArrayList<>();

    private PlanRecording() {}

    /**
     * Writes a plan that kept its timelines.
     *
     * @param to stays open
     * @throws AcceleratorException when the recording cannot be written
     */
    public static void write(Plan plan, PoolRecording to) {
        PlanRecording recording = new PlanRecording();
        recording.lay(plan);
        recording.write(to);
    }

    private void lay(Plan plan) {
        List<PlanReport.ProblemReport> parts = plan.report().problems();
        List<LoweredSchedule> lowered = parts.stream()
                .map(part -> Lowering.lower(part.problem(), part.choice()))
                .toList();
        int layers = plan.report().model().layers();
        for (int layer = 0; layer < layers; layer++) {
            for (int i = 0; i < parts.size(); i++) {
                PlanReport.ProblemReport part = parts.get(i);
                long before = (long) layer * part.layers() / layers;
                if ((layer + 1L) * part.layers() / layers == before) {
                    continue; // not a layer that has it
                }
                for (int time = 0; time < part.perLayer(); time++) {
                    problem(lowered.get(i), plan.timelines().get(i));
                }
            }
        }
        endResults(); // the last result is read after the pass
    }

    private void problem(LoweredSchedule lowered, Timeline timeline) {
        CommandGraph graph = lowered.graph();
        double[] first = new double[graph.slots().size()];
        double[] last = new double[first.length];
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
        double end = now + timeline.makespanNanos();
        List<int[]> results = new ArrayList<>();
        for (Slot slot : graph.slots()) {
            if (slot.device() != DEVICE || slot.bytes() == 0) {
                continue;
            }
            if (lowered.weights().contains(slot)) {
                lives.add(new Life(Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, slot.bytes(), COMPUTE));
            } else if (lowered.operands().contains(slot)) {
                lives.add(new Life(now, end, slot.bytes(), COMPUTE));
            } else if (lowered.results().contains(slot)) {
                results.add(new int[] {lives.size()});
                double from = now + Math.min(first[slot.index()], timeline.makespanNanos());
                lives.add(new Life(from, Double.POSITIVE_INFINITY, slot.bytes(), COMPUTE));
            } else if (first[slot.index()] != Double.POSITIVE_INFINITY) {
                int stream = slot.role() == Slot.Role.COMMUNICATION ? COMMUNICATION : COMPUTE;
                lives.add(new Life(now + first[slot.index()], now + last[slot.index()], slot.bytes(), stream));
            }
        }
        now = end;
        endResults();
        lastResults.addAll(results);
    }

    /** The results of the problem before the one that has just ended are read by now. */
    private void endResults() {
        for (int[] result : lastResults) {
            Life life = lives.get(result[0]);
            lives.set(result[0], new Life(life.from, now, life.bytes, life.stream));
        }
        lastResults.clear();
    }

    private void write(PoolRecording to) {
        List<Edge> edges = new ArrayList<>(2 * lives.size());
        for (int i = 0; i < lives.size(); i++) {
            Life life = lives.get(i);
            edges.add(new Edge(Math.max(0, life.from), true, i, life));
            edges.add(new Edge(Math.min(now, life.to), false, i, life));
        }
        // At one time what ends goes first; the sort keeps the order of the rest.
        edges.sort(Comparator.comparingDouble(Edge::time).thenComparing(Edge::starts));
        PoolRecording.Source source = to.source();
        for (Edge edge : edges) {
            long nanos = Math.round(edge.time);
            if (edge.starts) {
                source.allocate(edge.key, edge.life.bytes, edge.life.stream, nanos);
            } else {
                source.free(edge.key, edge.life.stream, nanos);
            }
        }
        to.nextIteration(Math.round(now));
    }
}
