// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.Event;
import io.weft.api.MatrixLayout;
import io.weft.api.Stream;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import java.util.ArrayList;
import java.util.List;

/** A lowered problem that is ready to run: its runner, its bindings, its events. Used under the engine's lock. */
final class OverlapPlan implements AutoCloseable {
    private final LoweredSchedule lowered;
    private final GraphRunner runner;
    private final List<Event> done;
    private List<BufferView> bound = List.of();
    private long boundGeneration;
    private long runs;

    OverlapPlan(LoweredSchedule lowered, GraphRunner runner, List<Event> done) {
        this.lowered = lowered;
        this.runner = runner;
        this.done = List.copyOf(done);
    }

    LoweredSchedule lowered() {
        return lowered;
    }

    long runs() {
        return runs;
    }

    /** Checks and binds the caller's views, reusing the last bindings when nothing has changed, and launches. */
    OverlapRun run(
            Selection selection,
            List<BufferView> operands,
            List<BufferView> weights,
            List<BufferView> results,
            Workspace workspace,
            List<Stream> order) {
        List<BufferView> views = new ArrayList<>(operands);
        views.addAll(weights);
        views.addAll(results);
        for (BufferView view : views) {
            ((Buffer) view.memory()).requireOpen("overlap");
        }
        if (boundGeneration != workspace.generation() || !views.equals(bound)) {
            GraphBindings bindings = new GraphBindings(lowered.graph());
            ElementType type = lowered.problem().elementType();
            bind(bindings, "A", lowered.operands(), operands, lowered.problem().k(), type);
            bind(bindings, "B", lowered.weights(), weights, lowered.problem().n(), type);
            bind(
                    bindings,
                    "C",
                    lowered.results(),
                    results,
                    lowered.problem().n(),
                    lowered.problem().outputType());
            workspace.bind(lowered.graph(), bindings);
            runner.bind(bindings);
            bound = List.copyOf(views);
            boundGeneration = workspace.generation();
        }
        runner.launch(order);
        for (int rank = 0; rank < order.size(); rank++) {
            order.get(rank).record(done.get(rank));
        }
        runs++;
        return new OverlapRun(this, selection, runner, done, runs);
    }

    private void bind(
            GraphBindings bindings,
            String name,
            List<Slot> slots,
            List<BufferView> views,
            long columns,
            ElementType type) {
        for (int rank = 0; rank < slots.size(); rank++) {
            Slot slot = slots.get(rank);
            BufferView view = views.get(rank);
            long rows = slot.bytes() / type.bytes() / columns;
            boolean fits = view.rows() == rows
                    && view.columns() == columns
                    && view.type() == type
                    && view.layout() == MatrixLayout.ROW_MAJOR
                    && view.isContiguous();
            if (!fits) {
                throw AcceleratorException.invalid(
                        "overlap",
                        name + " of rank " + rank + " must be [" + rows + ", " + columns + "] " + type
                                + ", row-major without gaps, for " + lowered.problem() + "; it is [" + view.rows()
                                + ", "
                                + view.columns() + "] " + view.type() + " with pitch " + view.pitch());
            }
            Buffer buffer = (Buffer) view.memory();
            // The caller's buffer outlives its part: it owns the memory.
            bindings.bind(slot, buffer.suballocate(view.offset(), slot.bytes(), part -> {}));
        }
    }

    @Override
    public void close() {
        runner.close();
        done.forEach(Event::close);
    }
}
