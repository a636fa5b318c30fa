// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * Every GEMM of a model that waits for communication, or that communication waits for.
 *
 * <p>With tensor parallel degree T (heads and feed-forward widths are split):
 *
 * <ul>
 *   <li>{@code qkv}: all-gather-gemm, N = (heads + 2 kv) x headDim / T, K = hidden. When T is a multiple of the key and value heads, each is held by several devices and a
 *       device has one. With latent attention the latent projections are held whole by every device: N = query rank + key and value rank + rotary width (or the own heads'
 *       queries where there is no latent query).
 *   <li>{@code attention-output}: gemm-reduce-scatter, N = hidden, K = heads x headDim / T (value width with latent attention).
 *   <li>{@code gate-up} ({@code up} without a gate): all-gather-gemm, N = 2 ffn / T (ffn / T), K = hidden.
 *   <li>{@code down}: gemm-reduce-scatter, N = hidden, K = ffn / T.
 * </ul>
 *
 * <p>Without sequence parallelism activations are whole on every device: nothing is gathered, and the two outputs are gemm-all-reduce.
 *
 * <p>Experts with expert parallel degree E: {@code expert-dispatch} is all-to-all-gemm over E ranks with M = tokens x topK, N = 2 x width (gated), K = hidden, and {@code
 * expert-combine} is gemm-all-to-all with N = hidden, K = width; both have experts / E groups. Experts without expert parallelism are split like dense blocks:
 * every device holds 1/T of every expert, and a token passes topK of them, so {@code expert-gate-up} has N = topK x 2 x width / T and {@code expert-down} has K = topK x width / T,
 * with M = tokens. Shared experts are a dense block of their own.
 *
 * <p>A layer on a single device communicates nothing, so T = E = 1 gives no problems.
 */
public final class LayerProblems {
    private final TransformerModel model;
    private final Deployment deployment;
    private final List<LayerProblem> problems;

    private LayerProblems(TransformerModel model, Deployment deployment, List<LayerProblem> problems) {
        this.model = model;
        this.deployment = deployment;
        this.problems = List.copyOf(problems);
    }

    /**
     * Derives the problems of a model.
     *
     * @throws AcceleratorException INVALID_ARGUMENT when a degree does not divide what it splits, with the degrees that do
     */
    public static LayerProblems of(TransformerModel model, Deployment deployment) {
        return new LayerProblems(model, deployment, new Derivation(model, deployment).derive());
    }

    /** The model. */
    public TransformerModel model() {
        return model;
    }

    /** How it is spread. */
    public Deployment deployment() {
        return deployment;
    }

    /** The problems, in the order in which a layer meets them; parts of dense layers come before parts of layers with experts. */
    public List<LayerProblem> problems() {
        return problems;
    }

    private record Derivation(TransformerModel model, Deployment deployment, List<LayerProblem> problems) {
        Derivation(TransformerModel model, Deployment deployment) {
            this(model, deployment, new ArrayList<>());
        }

        List<LayerProblem> derive() {
            int tp = deployment.tensorParallel();
            checkTensorParallel();
            if (tp > 1) {
                attention();
                int dense = model.denseLayers();
                if (dense > 0) {
                    feedForward(model.gated() ? "gate-up" : "up", "down", model.ffn(), 1, dense, "");
                }
            }
            model.experts().ifPresent(this::experts);
            return problems;
        }

        private void attention() {
            int tp = deployment.tensorParallel();
            long keys = model.headDim();
            long outputWidth = model.headDim();
            long columns;
            String note = "";
            if (model.latentAttention().isPresent()) {
                TransformerModel.LatentAttention latent =
                        model.latentAttention().get();
                keys = latent.keyDim() + (long) latent.rotaryDim();
                outputWidth = latent.valueDim();
                long queries = latent.queryRank() > 0 ? latent.queryRank() : model.heads() / tp * keys;
                columns = queries + latent.kvRank() + latent.rotaryDim();
                note = "latent projections, held whole by every device";
            } else {
                long kv = Math.max(1, model.kvHeads() / tp);
                columns = (model.heads() / tp + 2 * kv) * keys;
                if (model.kvHeads() < tp) {
                    note = "each of the " + model.kvHeads() + " key and value heads is held by " + tp / model.kvHeads()
                            + " devices";
                }
            }
            gather("qkv", columns, model.layers(), note);
            reduce("attention-output", model.heads() / tp * outputWidth, model.layers(), "");
        }

        private void feedForward(String up, String down, long width, int topK, int layers, String note) {
            int tp = deployment.tensorParallel();
            gather(up, (long) topK * model.firstProjections() * (width / tp), layers, note);
            reduce(down, topK * (width / tp), layers, note);
        }

        private void experts(TransformerModel.Experts experts) {
            int tp = deployment.tensorParallel();
            int ep = deployment.expertParallel();
            int layers = model.layers() - model.denseLayers();
            if (layers == 0) {
                return;
            }
            if (ep > 1) {
                long rows = Math.multiplyExact(deployment.tokens(), (long) experts.topK());
                int groups = experts.count() / ep;
                long first = model.firstProjections() * experts.ffn();
                String note = deployment.tokens() + " tokens to " + experts.topK() + " experts each";
                problems.add(new LayerProblem(
                        "expert-dispatch",
                        exchange(Pattern.ALL_TO_ALL_GEMM, rows, first, model.hidden(), groups),
                        1,
                        layers,
                        note));
                problems.add(new LayerProblem(
                        "expert-combine",
                        exchange(Pattern.GEMM_ALL_TO_ALL, rows, model.hidden(), experts.ffn(), groups),
                        1,
                        layers,
                        note));
            } else if (tp > 1) {
                feedForward(
                        model.gated() ? "expert-gate-up" : "expert-up",
                        "expert-down",
                        experts.ffn(),
                        experts.topK(),
                        layers,
                        "1/" + tp + " of every expert on each device, " + experts.topK() + " experts per token");
            }
            if (tp > 1 && experts.sharedFfn() > 0) {
                feedForward(
                        model.gated() ? "shared-gate-up" : "shared-up",
                        "shared-down",
                        experts.sharedFfn(),
                        1,
                        layers,
                        "");
            }
        }

        private OverlapProblem exchange(Pattern pattern, long m, long n, long k, int groups) {
            return new OverlapProblem(
                    pattern,
                    m,
                    n,
                    k,
                    deployment.elementType(),
                    deployment.expertParallel(),
                    deployment.expertSkew(),
                    groups);
        }

        private void gather(String name, long columns, int layers, String note) {
            if (deployment.sequenceParallel()) {
                add(name, Pattern.ALL_GATHER_GEMM, columns, model.hidden(), layers, note);
            }
        }

        private void reduce(String name, long depth, int layers, String note) {
            Pattern pattern = deployment.sequenceParallel() ? Pattern.GEMM_REDUCE_SCATTER : Pattern.GEMM_ALL_REDUCE;
            add(name, pattern, model.hidden(), depth, layers, note);
        }

        private void add(String name, Pattern pattern, long n, long k, int layers, String note) {
            problems.add(new LayerProblem(
                    name,
                    OverlapProblem.of(
                            pattern, deployment.tokens(), n, k, deployment.elementType(), deployment.tensorParallel()),
                    1,
                    layers,
                    note));
        }

        private void checkTensorParallel() {
            int tp = deployment.tensorParallel();
            int ep = deployment.expertParallel();
            if (!splits(tp)) {
                StringBuilder what = new StringBuilder(model.heads() + " heads");
                if (model.latentAttention().isEmpty()) {
                    what.append(", ").append(model.kvHeads()).append(" key and value heads");
                }
                if (model.denseLayers() > 0) {
                    what.append(", feed-forward width ").append(model.ffn());
                }
                model.experts().ifPresent(experts -> {
                    if (ep == 1) {
                        what.append(", expert width ").append(experts.ffn());
                    }
                    if (experts.sharedFfn() > 0) {
                        what.append(", shared expert width ").append(experts.sharedFfn());
                    }
                });
                throw AcceleratorException.invalid(
                        "tensor parallel",
                        tp + " does not split " + model.name() + " evenly (" + what + "); degrees that do: "
                                + degrees(model.heads(), this::splits));
            }
            if (ep > 1) {
                TransformerModel.Experts experts = model.experts()
                        .orElseThrow(() -> AcceleratorException.invalid(
                                "expert parallel", model.name() + " has no experts: the degree must be 1, not " + ep));
                if (experts.count() % ep != 0) {
                    throw AcceleratorException.invalid(
                            "expert parallel",
                            ep + " does not split the " + experts.count() + " experts of " + model.name()
                                    + " evenly; degrees that do: "
                                    + degrees(experts.count(), degree -> experts.count() % degree == 0));
                }
            }
        }

        private boolean splits(long tp) {
            boolean attention = model.heads() % tp == 0
                    && (model.latentAttention().isPresent() || model.kvHeads() % tp == 0 || tp % model.kvHeads() == 0);
            boolean dense = model.denseLayers() == 0 || model.ffn() % tp == 0;
            boolean experts = model.experts().isEmpty()
                    || ((deployment.expertParallel() > 1
                                    || model.experts().get().ffn() % tp == 0)
                            && model.experts().get().sharedFfn() % tp == 0);
            return attention && dense && experts;
        }

        private static String degrees(long upTo, LongPredicate splits) {
            StringBuilder list = new StringBuilder();
            for (long degree = 1; degree <= upTo; degree++) {
                if (splits.test(degree)) {
                    list.append(list.isEmpty() ? "" : ", ").append(degree);
                }
            }
            return list.toString();
        }
    }
}
