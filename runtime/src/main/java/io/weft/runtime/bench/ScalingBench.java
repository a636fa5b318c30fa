// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.runtime.plan.GemmTypes;
import io.weft.runtime.plan.Progress;
import io.weft.scheduler.TransformerModel;
import io.weft.spi.PerformanceModel;
import java.util.ArrayList;
import java.util.List;

/**
 * Predicts how far data-parallel training scales: every device holds all layers and its own tokens, and the gradient of each layer is summed over all devices while the layers before it are still being differentiated.
 *
 * <p>Only matrix products and sums count; attention scores, norms and the optimiser do not, so the share of communication is a little high. Safe for any thread.
 */
public final class ScalingBench {
    /** A bench without state. */
    public ScalingBench() {}

    /**
     * What is asked.
     *
     * @param model a dense model
     * @param tokens tokens of each device
     * @param devices how many devices take part, ascending; the first is what the others are held against
     * @param layers layers that are differentiated one after the other
     * @param type of weights and gradients
     */
    public record Request(TransformerModel model, long tokens, List<Integer> devices, int layers, ElementType type) {
        public Request {
            devices = List.copyOf(devices);
            if (devices.isEmpty() || tokens < 1 || layers < 1) {
                throw AcceleratorException.invalid(
                        "scaling", "accepted are one number of devices or more, and 1 token and 1 layer or more");
            }
            for (int i = 0; i < devices.size(); i++) {
                if (devices.get(i) < 1 || (i > 0 && devices.get(i) <= devices.get(i - 1))) {
                    throw AcceleratorException.invalid(
                            "scaling", "numbers of devices are " + devices + "; accepted are ascending ones from 1 on");
                }
            }
            if (model.experts().isPresent() || model.latentAttention().isPresent()) {
                throw AcceleratorException.invalid(
                        "scaling", model.name() + " has experts or latent attention; accepted are dense models");
            }
        }
    }

    /**
     * What so many devices take.
     *
     * @param devices how many
     * @param us time of a layer, its share of the whole
     * @param computeUs the same with nothing to sum
     * @param reduceUs one sum alone on an idle machine
     * @param exposed share of the time in which devices wait for sums
     * @param linearity throughput of a device over that in the first row: 1 is linear
     */
    public record Row(int devices, double us, double computeUs, double reduceUs, double exposed, double linearity) {}

    /**
     * The report.
     *
     * @param gradientBytes bytes that are summed for each layer
     * @param rows by number of devices
     */
    public record Report(
            String figures,
            String platform,
            String model,
            long tokens,
            int layers,
            long gradientBytes,
            List<Row> rows) {
        public Report {
            rows = List.copyOf(rows);
        }
    }

    /**
     * Predicts.
     *
     * @throws AcceleratorException INVALID_ARGUMENT when more devices are asked for than there are; UNSUPPORTED without a model, or for an element type that the devices do not multiply
     */
    public Report run(Platform platform, Request request, Progress progress) {
        platform.require(Capability.PERFORMANCE_MODEL, "scaling");
        PerformanceModel model = platform.extension(PerformanceModel.class).orElseThrow();
        GemmTypes.require(platform, "scaling", request.type());
        int most = request.devices().getLast();
        if (most > platform.devices().size()) {
            throw AcceleratorException.invalid(
                    "scaling",
                    most + " devices are asked for, and " + platform.uri() + " has "
                            + platform.devices().size());
        }
        List<Row> rows = new ArrayList<>();
        progress.begin("estimating", request.devices().size());
        try {
            double compute = makespan(model, request, 1, false);
            double first = 0;
            for (int devices : request.devices()) {
                double whole = makespan(model, request, devices, true);
                double reduce = devices == 1 ? 0 : makespan(model, request, devices);
                first = rows.isEmpty() ? whole : first;
                rows.add(new Row(
                        devices,
                        whole / request.layers() / 1e3,
                        compute / request.layers() / 1e3,
                        reduce / 1e3,
                        Math.max(0, 1 - compute / whole),
                        first / whole));
                progress.step(devices + " devices");
            }
        } finally {
            progress.end();
        }
        return new Report(
                platform.figures().label(),
                platform.uri().toString(),
                request.model().name(),
                request.tokens(),
                request.layers(),
                gradientBytes(request),
                rows);
    }

    private record Weight(String name, long rows, long columns) {}

    private static List<Weight> weights(TransformerModel model) {
        long attention = (long) model.heads() * model.headDim();
        long keys = 2L * model.kvHeads() * model.headDim();
        return List.of(
                new Weight("qkv", model.hidden(), attention + keys),
                new Weight("out", attention, model.hidden()),
                new Weight("up", model.hidden(), model.ffn() * (model.gated() ? 2 : 1)),
                new Weight("down", model.ffn(), model.hidden()));
    }

    private static long gradientBytes(Request request) {
        return weights(request.model()).stream()
                        .mapToLong(weight -> weight.rows() * weight.columns())
                        .sum()
                * request.type().bytes();
    }

    private static double makespan(PerformanceModel model, Request request, int devices, boolean sums) {
        return model.estimate(
                        graph(request, devices, sums), PerformanceModel.Issue.STREAMS, PerformanceModel.Detail.SUMMARY)
                .makespanNanos();
    }

    /** One sum alone. */
    private static double makespan(PerformanceModel model, Request request, int devices) {
        CommandGraph.Builder graph = CommandGraph.builder(devices);
        for (int device = 0; device < devices; device++) {
            Slot gradient = graph.slot(device, "gradient", gradientBytes(request), Slot.Role.OUTPUT);
            graph.add(device, 0, Priority.NORMAL, sum(request, gradient, device, devices, 0), "sum");
        }
        return model.estimate(graph.build(), PerformanceModel.Issue.STREAMS, PerformanceModel.Detail.SUMMARY)
                .makespanNanos();
    }

    private static Command sum(Request request, Slot gradient, int rank, int ranks, int key) {
        BufferView view =
                BufferView.vector(gradient, 0, gradient.bytes() / request.type().bytes(), request.type());
        return new Command.Collective(
                CollectiveKind.ALL_REDUCE, ReduceOp.SUM, rank, ranks, 0, view, view, List.of(), List.of(), key);
    }

    private static CommandGraph graph(Request request, int devices, boolean sums) {
        List<Weight> weights = weights(request.model());
        long tokens = request.tokens();
        ElementType type = request.type();
        long widest = weights.stream()
                .mapToLong(weight -> Math.max(weight.rows(), weight.columns()))
                .max()
                .orElseThrow();
        CommandGraph.Builder graph = CommandGraph.builder(devices);
        for (int device = 0; device < devices; device++) {
            Slot activations = graph.slot(device, "activations", tokens * widest * type.bytes(), Slot.Role.INPUT);
            Slot incoming = graph.slot(device, "incoming", tokens * widest * type.bytes(), Slot.Role.INPUT);
            Slot outgoing = graph.slot(device, "outgoing", tokens * widest * type.bytes(), Slot.Role.COMPUTE);
            Slot parameters = graph.slot(device, "weights", gradientBytes(request), Slot.Role.INPUT);
            for (int layer = 0; layer < request.layers(); layer++) {
                Slot gradient = graph.slot(device, "gradient " + layer, gradientBytes(request), Slot.Role.OUTPUT);
                long offset = 0;
                int last = -1;
                for (Weight weight : weights.reversed()) {
                    BufferView dy = BufferView.matrix(incoming, 0, tokens, weight.columns(), type);
                    BufferView x = BufferView.matrix(activations, 0, tokens, weight.rows(), type);
                    BufferView dx = BufferView.matrix(outgoing, 0, tokens, weight.rows(), type);
                    BufferView w = BufferView.matrix(parameters, offset, weight.rows(), weight.columns(), type);
                    BufferView dw = BufferView.matrix(gradient, offset, weight.rows(), weight.columns(), type);
                    graph.add(device, 0, Priority.NORMAL, gemm(dx, dy, w, false, true), weight.name() + " input");
                    last = graph.add(
                            device, 0, Priority.NORMAL, gemm(dw, x, dy, true, false), weight.name() + " weight");
                    offset += w.bytes();
                }
                if (sums && devices > 1) {
                    graph.add(device, 1, Priority.NORMAL, sum(request, gradient, device, devices, layer), "sum", last);
                }
            }
        }
        return graph.build();
    }

    private static Command gemm(BufferView c, BufferView a, BufferView b, boolean transposeA, boolean transposeB) {
        return new Command.Gemm(c, a, b, transposeA, transposeB, 1, 0, 1, 0, 0, 0);
    }
}
