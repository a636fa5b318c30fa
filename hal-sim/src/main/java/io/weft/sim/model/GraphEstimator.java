// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.sim.engine.VirtualTime;
import io.weft.sim.machine.Machine;
import io.weft.spi.PerformanceModel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * Predicts graphs on a machine. An estimate is a run on a {@link CommandRuntime} that nobody listens to, so it equals what the simulated provider does with
 * the same graph.
 *
 * <p>DEVICE_GRAPH: everything may start when the launch latency is over. STREAMS: one host thread for each device issues its nodes in their order; each takes the
 * host time of its call, of the waits for events of other lanes before it, and of recording an event after it when another lane waits for it.
 *
 * <p>Runs are pooled: one for each thread that estimates at the same time. Safe for any thread, and the same graph gives the same bits.
 */
public final class GraphEstimator implements PerformanceModel {
    private final Machine machine;
    private final boolean checking;
    private final ArrayDeque<EstimateRun> idle = new ArrayDeque<>();
    private final LongAdder events = new LongAdder();

    /** An estimator for a machine. */
    public GraphEstimator(Machine machine) {
        this(machine, false);
    }

    /** With {@code checking}, every sharing of resources is checked against its definition, which is slow; for tests. */
    GraphEstimator(Machine machine, boolean checking) {
        this.machine = machine;
        this.checking = checking;
    }

    /** The machine. */
    public Machine machine() {
        return machine;
    }

    @Override
    public Timeline estimate(CommandGraph graph, Issue issue, Detail detail) {
        requireFits(graph);
        requireWork(graph);
        EstimateRun run = take();
        Timeline timeline = run.estimate(graph, issue, detail);
        events.add(run.events());
        giveBack(run);
        return timeline;
    }

    @Override
    public long events() {
        return events.sum();
    }

    @Override
    public double aloneNanos(CommandGraph graph, int node) {
        requireDevices(graph);
        EstimateRun run = take();
        long ps = graph.command(node) instanceof Command.Collective part
                ? run.collectiveAlonePs(graph, part.key())
                : run.alonePs(graph, node);
        giveBack(run);
        return VirtualTime.toNs(ps);
    }

    /** A run that threw is not given back: what it left behind is dropped with it. */
    private EstimateRun take() {
        synchronized (idle) {
            EstimateRun run = idle.pollLast();
            if (run != null) {
                return run;
            }
        }
        return new EstimateRun(machine, checking);
    }

    private void giveBack(EstimateRun run) {
        synchronized (idle) {
            idle.addLast(run);
        }
    }

    /** A time for nothing would look like a result; whoever made the graph has left something out. */
    private static void requireWork(CommandGraph graph) {
        if (graph.size() == 0) {
            throw AcceleratorException.invalid(
                    "estimate", "the graph holds no command, so there is nothing to predict; accepted is one or more");
        }
    }

    private void requireDevices(CommandGraph graph) {
        if (graph.deviceCount() > machine.deviceCount()) {
            throw AcceleratorException.invalid(
                    "estimate",
                    "the graph needs " + graph.deviceCount() + " devices and " + machine.name() + " has "
                            + machine.deviceCount());
        }
    }

    private void requireFits(CommandGraph graph) {
        requireDevices(graph);
        long[] needed = new long[graph.deviceCount()];
        List<Slot> slots = graph.slots();
        for (int i = 0; i < slots.size(); i++) {
            Slot slot = slots.get(i);
            needed[slot.device()] += slot.bytes();
            long there = machine.device(slot.device()).memory().bytes();
            if (needed[slot.device()] > there || needed[slot.device()] < 0) {
                throw new AcceleratorException(
                        ErrorCode.OUT_OF_MEMORY,
                        "estimate",
                        "the graph needs more than the " + there + " bytes of memory that device " + slot.device()
                                + " of " + machine.name() + " has; slot " + slot.name() + " no longer fits");
            }
        }
    }
}
