// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.BufferView;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.spi.PerformanceModel;
import java.util.HashMap;
import java.util.Map;

/** Times of nodes alone, asked from the model once for each shape: a schedule has hundreds of nodes and a handful of shapes. Safe for several threads at once with a map that is. */
final class AloneTimes {
    record Shape(int device, int peer, long rows, long columns, long depth, long pitch, Object kind) {}

    private final PerformanceModel model;
    private final CommandGraph graph;
    private final Map<Shape, Double> known;

    AloneTimes(PerformanceModel model, CommandGraph graph) {
        this(model, graph, new HashMap<>());
    }

    /** With what is known of other graphs; collectives must have been asked for in this graph alone. */
    AloneTimes(PerformanceModel model, CommandGraph graph, Map<Shape, Double> known) {
        this.model = model;
        this.graph = graph;
        this.known = known;
    }

    double nanos(int node) {
        Shape shape = shape(node);
        Double nanos = known.get(shape);
        if (nanos == null) {
            // Two threads may ask for the same one; they get the same answer.
            nanos = model.aloneNanos(graph, node);
            known.put(shape, nanos);
        }
        return nanos;
    }

    private Shape shape(int node) {
        int device = graph.device(node);
        return switch (graph.command(node)) {
            case Command.Gemm g ->
                new Shape(device, g.batch(), g.m(), g.n(), g.k(), g.b().pitch(), g.beta() == 0 ? "gemm" : "accumulate");
            case Command.Copy c -> copy(device, c.destination(), c.source(), c.method());
            case Command.CopyStrided c -> copy(device, c.destination(), c.source(), c.method());
            case Command.Reduce r ->
                new Shape(
                        device,
                        r.inputs().size(),
                        r.destination().rows(),
                        r.destination().columns(),
                        0,
                        0,
                        r.inputs().getFirst().type());
            case Command.Fill f ->
                new Shape(device, 0, f.destination().rows(), f.destination().columns(), 0, 0, "fill");
            case Command.Collective c -> new Shape(device, node, 0, 0, 0, 0, c.kind());
        };
    }

    private static Shape copy(int device, BufferView target, BufferView source, Object method) {
        long pitch = Math.max(source.isContiguous() ? 0 : source.pitch(), target.isContiguous() ? 0 : target.pitch());
        return new Shape(
                device,
                Traffic.device(target),
                pitch == 0 ? source.elements() : source.rows(),
                pitch == 0 ? 1 : source.columns(),
                source.type().bytes(),
                pitch,
                method);
    }
}
