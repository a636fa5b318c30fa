// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import java.util.Objects;
import java.util.Optional;

/**
 * What a transformer's layers multiply, in neutral words. Immutable.
 *
 * @param name for people, such as {@code llama-3-70b}
 * @param layers number of layers
 * @param hidden width of the residual stream
 * @param heads query heads
 * @param kvHeads key and value heads; equal to {@code heads} without grouping
 * @param headDim width of one head
 * @param ffn width of the dense feed-forward block; 0 when every layer has experts and none is dense
 * @param gated whether the feed-forward block has a gate beside its up projection (SwiGLU and the like), which doubles the first GEMM's N
 * @param experts the mixture of experts, if any
 * @param latentAttention latent projections of queries, keys and values, if any
 */
public record TransformerModel(
        String name,
        int layers,
        long hidden,
        int heads,
        int kvHeads,
        int headDim,
        long ffn,
        boolean gated,
        Optional<Experts> experts,
        Optional<LatentAttention> latentAttention) {
    /**
     * A mixture of experts. Layers from {@code firstDenseLayers} on have experts, those before are dense with the model's {@code ffn}.
     *
     * @param count routed experts of a layer
     * @param topK experts that each token goes to
     * @param ffn width of one routed expert
     * @param sharedFfn width of all shared experts of a layer together; 0 without
     * @param firstDenseLayers layers without experts at the start
     */
    public record Experts(int count, int topK, long ffn, long sharedFfn, int firstDenseLayers) {
        public Experts {
            positive("experts", count);
            positive("experts per token", topK);
            positive("width of an expert", ffn);
            if (topK > count) {
                throw invalid(topK + " experts per token do not go with " + count + " experts");
            }
            if (sharedFfn < 0 || firstDenseLayers < 0) {
                throw invalid("width of shared experts " + sharedFfn + " and first dense layers " + firstDenseLayers
                        + " must not be negative");
            }
        }
    }

    /**
     * Latent attention: queries, keys and values are projected to narrow latent vectors first, which every device holds whole; each device then widens them for its own heads.
     *
     * @param queryRank width of the latent query; 0 when queries are projected at once
     * @param kvRank width of the latent key and value
     * @param keyDim width of a head's query and key without its rotary part
     * @param rotaryDim width of the rotary part, one for all heads on the key's side
     * @param valueDim width of a head's value
     */
    public record LatentAttention(int queryRank, int kvRank, int keyDim, int rotaryDim, int valueDim) {
        public LatentAttention {
            positive("width of the latent key and value", kvRank);
            positive("width of a key", keyDim);
            positive("width of a value", valueDim);
            if (queryRank < 0 || rotaryDim < 0) {
                throw invalid("query rank " + queryRank + " and rotary width " + rotaryDim + " must not be negative");
            }
        }
    }

    public TransformerModel {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(experts, "experts");
        Objects.requireNonNull(latentAttention, "latentAttention");
        positive("layers", layers);
        positive("hidden", hidden);
        positive("heads", heads);
        positive("key and value heads", kvHeads);
        positive("head width", headDim);
        if (heads % kvHeads != 0) {
            throw invalid(
                    heads + " heads cannot share " + kvHeads + " key and value heads: the former must be a multiple");
        }
        int dense = experts.map(Experts::firstDenseLayers).orElse(layers);
        if (dense > layers) {
            throw invalid("first dense layers " + dense + " are more than the " + layers + " layers");
        }
        if (ffn < 0 || (ffn == 0 && dense > 0)) {
            throw invalid("width of the feed-forward block must be at least 1, not " + ffn);
        }
    }

    /** A dense model with a gated feed-forward block. */
    public static TransformerModel dense(
            String name, int layers, long hidden, int heads, int kvHeads, int headDim, long ffn) {
        return new TransformerModel(
                name, layers, hidden, heads, kvHeads, headDim, ffn, true, Optional.empty(), Optional.empty());
    }

    /** The same with a mixture of experts. */
    public TransformerModel withExperts(Experts mixture) {
        return new TransformerModel(
                name, layers, hidden, heads, kvHeads, headDim, ffn, gated, Optional.of(mixture), latentAttention);
    }

    /** The same with latent attention. */
    public TransformerModel withLatentAttention(LatentAttention latent) {
        return new TransformerModel(
                name, layers, hidden, heads, kvHeads, headDim, ffn, gated, experts, Optional.of(latent));
    }

    /** Layers whose feed-forward block is dense. */
    public int denseLayers() {
        return experts.map(Experts::firstDenseLayers).orElse(layers);
    }

    /** GEMMs that the first projection of a feed-forward block fuses: 2 with a gate. */
    int firstProjections() {
        return gated ? 2 : 1;
    }

    private static void positive(String what, long value) {
        if (value < 1) {
            throw invalid(what + " must be at least 1, not " + value);
        }
    }

    private static AcceleratorException invalid(String message) {
        return AcceleratorException.invalid("model", message);
    }
}
