// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.model;

import io.weft.runtime.json.JsonValue;
import io.weft.scheduler.TransformerModel;
import io.weft.scheduler.TransformerModel.Experts;
import io.weft.scheduler.TransformerModel.LatentAttention;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Turns the keys of one model file into a {@link TransformerModel}. Keys decide wherever they suffice; the {@code model_type} is asked
 * only for what no key says, above all whether the feed-forward block has a gate.
 */
final class TransformerReading {
    private static final String[] LAYERS = {"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
    private static final String[] HIDDEN = {"hidden_size", "n_embd", "n_embed", "d_model"};
    private static final String[] HEADS = {"num_attention_heads", "n_head", "n_heads", "num_heads"};
    private static final String[] KV_HEADS = {"num_key_value_heads", "num_kv_heads", "n_head_kv"};
    private static final String[] FFN = {
        "intermediate_size", "ffn_hidden_size", "ff_intermediate_size", "ffn_dim", "n_inner"
    };
    private static final String[] EXPERTS = {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"};
    private static final String[] TOP_K = {
        "num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_top_k", "moe_k", "top_k_experts"
    };
    /** Where a model that also sees or hears keeps its language model. */
    private static final List<String> NESTED =
            List.of("text_config", "llm_config", "language_config", "thinker_config", "text_model_config");
    /** Keys of layers that multiply something else than attention and a feed-forward block. */
    private static final List<String> OTHER_LAYERS = List.of(
            "attn_layer_period",
            "block_configs",
            "full_attention_interval",
            "hybrid_override_pattern",
            "layers_block_type",
            "linear_num_value_heads",
            "mamba_d_state",
            "rwkv_hidden_size",
            "ssm_cfg",
            "state_size");

    private final ConfigObject config;
    private final boolean nested;
    private final String type;
    private final Family family;
    private final List<String> notes = new ArrayList<>();

    private TransformerReading(ConfigObject config, boolean nested) {
        this.config = config;
        this.nested = nested;
        this.type = config.word("model_type").orElse("");
        String activation = Stream.of("hidden_act", "hidden_activation", "activation_function")
                .flatMap(key -> config.word(key).stream())
                .findFirst()
                .orElse("");
        Optional<Family> known = Family.of(type);
        this.family = known.orElseGet(() -> Family.guess(activation.toLowerCase(Locale.ROOT)));
        if (known.isEmpty()) {
            notes.add((type.isEmpty() ? "the file has no model_type" : "model_type '" + type + "' is not known")
                    + ": the feed-forward block is taken as one " + (family.gated() ? "with" : "without") + " a gate"
                    + (activation.isEmpty() ? "" : ", as " + activation + " suggests"));
        }
    }

    /** Reads the transformer that a file describes, be it the file itself or a language model inside. */
    static ModelConfig read(String name, ConfigObject root) {
        ConfigObject config = root;
        boolean nested = false;
        for (Optional<ConfigObject> inside = languageModel(config);
                inside.isPresent();
                inside = languageModel(config)) {
            config = inside.get();
            nested = true;
        }
        return new TransformerReading(config, nested).read(name);
    }

    private static Optional<ConfigObject> languageModel(ConfigObject config) {
        Optional<ConfigObject> inside = config.firstOf(NESTED).flatMap(config::inside);
        // Some files keep an almost empty object beside keys of their own; only a transformer counts.
        return inside.filter(candidate -> candidate.firstOf(List.of(HIDDEN)).isPresent()
                || candidate.firstOf(NESTED).isPresent()
                || (config.firstOf(List.of(HIDDEN)).isEmpty()
                        && candidate
                                .word("model_type")
                                .flatMap(Family::of)
                                .map(family -> !family.defaults().isEmpty())
                                .orElse(false)));
    }

    private ModelConfig read(String name) {
        refuseOtherLayers();
        requireKeys();
        long hidden = needed(HIDDEN);
        int layers = Math.toIntExact(needed(LAYERS));
        int heads = Math.toIntExact(needed(HEADS));
        Optional<LatentAttention> latent = latentAttention();
        int headDim = latent.isPresent() ? latent.get().keyDim() : headDim(hidden, heads);
        int kvHeads = latent.isPresent() ? heads : kvHeads(heads);
        Optional<Experts> experts = experts(layers);
        boolean dense = experts.map(e -> e.firstDenseLayers() > 0).orElse(true);
        long ffn = dense ? denseWidth(hidden) : 0;
        sayWhatElse();
        config.refuseSlips();
        TransformerModel model = new TransformerModel(
                name, layers, hidden, heads, kvHeads, headDim, ffn, family.gated(), experts, latent);
        return new ModelConfig(model, notes);
    }

    private void refuseOtherLayers() {
        if (config.flag("is_encoder_decoder", false)) {
            throw config.refusal(
                    "is_encoder_decoder", "this is an encoder and decoder; accepted are decoder-only models");
        }
        for (String key : OTHER_LAYERS) {
            if (config.has(key)) {
                throw config.refusal(
                        key,
                        "the key '" + key
                                + "' speaks of layers that are not attention and feed-forward; accepted are transformers whose layers all are");
            }
        }
        for (JsonValue kind : config.items("layer_types")) {
            if (kind instanceof JsonValue.StringValue(String text, int line, int column)
                    && !Set.of("full_attention", "sliding_attention", "chunked_attention")
                            .contains(text)) {
                throw config.refusal(
                        "layer_types",
                        "there are layers of type '" + text
                                + "'; accepted are transformers whose layers all have attention");
            }
        }
    }

    private void requireKeys() {
        List<String> missing = new ArrayList<>();
        for (String[] names : List.of(HIDDEN, LAYERS, HEADS)) {
            if (config.firstOf(List.of(names)).isEmpty()
                    && nestedDefault(names[0]).isEmpty()) {
                missing.add(
                        names[0] + " (or " + String.join(", ", List.of(names).subList(1, names.length)) + ")");
            }
        }
        if (!missing.isEmpty()) {
            throw config.refusal("a transformer needs hidden_size, num_hidden_layers and num_attention_heads; missing: "
                    + String.join("; ", missing) + "; found: " + foundKeys());
        }
    }

    private String foundKeys() {
        List<String> keys = config.keys();
        if (keys.isEmpty()) {
            return "no keys";
        }
        int shown = Math.min(keys.size(), 12);
        String text = String.join(", ", keys.subList(0, shown)).replaceAll("\\p{Cntrl}", "?");
        return shown < keys.size() ? text + " and " + (keys.size() - shown) + " more" : text;
    }

    private long needed(String... names) {
        OptionalLong given = config.size(names);
        if (given.isPresent()) {
            return given.getAsLong();
        }
        long assumed = nestedDefault(names[0]).orElseThrow(() -> config.refusal(names[0] + " is missing"));
        notes.add(names[0] + " is not given; the default " + assumed + " of model_type '" + type + "' is taken");
        return assumed;
    }

    private Optional<Long> nestedDefault(String key) {
        return nested ? Optional.ofNullable(family.defaults().get(key)) : Optional.empty();
    }

    private int headDim(long hidden, int heads) {
        OptionalLong given = config.size("head_dim", "kv_channels", "attention_head_dim");
        if (given.isPresent()) {
            return Math.toIntExact(given.getAsLong());
        }
        if (family.defaultHeadDim() > 0) {
            return family.defaultHeadDim();
        }
        if (hidden % heads != 0) {
            throw config.refusal(
                    config.firstOf(List.of(HEADS)).orElse(HEADS[0]),
                    heads + " heads do not divide a hidden size of " + hidden
                            + "; accepted is a number of heads that does, or a head_dim beside it");
        }
        return Math.toIntExact(hidden / heads);
    }

    private int kvHeads(int heads) {
        Optional<ConfigObject> inside = config.inside("attn_config"); // MPT and DBRX keep attention apart
        // A Falcon file names num_kv_heads even where all heads share one, which holds unless its newer form is said.
        boolean shared = config.flag("multi_query", false) && !config.flag("new_decoder_architecture", false);
        if (shared || inside.flatMap(a -> a.word("attn_type")).orElse("").equals("multiquery_attention")) {
            return 1;
        }
        OptionalLong given = config.flag("multi_query_attention", false)
                ? config.size("multi_query_group_num")
                : config.size(KV_HEADS);
        if (given.isEmpty() && inside.isPresent()) {
            given = inside.get().size("kv_n_heads");
        }
        if (given.isEmpty()) {
            return nestedDefault("num_key_value_heads").map(Math::toIntExact).orElse(heads);
        }
        int kvHeads = Math.toIntExact(given.getAsLong());
        if (heads % kvHeads != 0) {
            throw config.refusal(
                    config.firstOf(List.of(KV_HEADS)).orElse(KV_HEADS[0]),
                    heads + " heads cannot share " + kvHeads + " key and value heads; accepted is a divisor of "
                            + heads);
        }
        return kvHeads;
    }

    private Optional<LatentAttention> latentAttention() {
        OptionalLong kvRank = config.count("kv_lora_rank");
        if (kvRank.isEmpty() || kvRank.getAsLong() == 0 || !config.flag("use_mla", true)) {
            return Optional.empty();
        }
        List<String> keys = List.of("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim");
        List<String> missing = keys.stream().filter(key -> !config.has(key)).toList();
        if (!missing.isEmpty()) {
            throw config.refusal("kv_lora_rank", "latent attention also needs " + String.join(", ", missing));
        }
        return Optional.of(new LatentAttention(
                Math.toIntExact(config.count("q_lora_rank").orElse(0)),
                Math.toIntExact(kvRank.getAsLong()),
                Math.toIntExact(config.size("qk_nope_head_dim").getAsLong()),
                Math.toIntExact(config.count("qk_rope_head_dim").getAsLong()),
                Math.toIntExact(config.size("v_head_dim").getAsLong())));
    }

    private Optional<Experts> experts(int layers) {
        ConfigObject source = config.inside("ffn_config").orElse(config); // DBRX keeps its feed-forward block apart
        OptionalLong count = source.count(EXPERTS);
        if (count.orElse(0) <= 1) {
            refuseUnreadExperts(count.isPresent());
            return Optional.empty();
        }
        OptionalLong topK = source.size(TOP_K);
        if (topK.isEmpty()) {
            throw source.refusal(
                    source.firstOf(List.of(EXPERTS)).orElse(EXPERTS[0]),
                    "a mixture of experts also needs " + TOP_K[0] + " (or "
                            + String.join(", ", List.of(TOP_K).subList(1, TOP_K.length)) + ")");
        }
        if (topK.getAsLong() > count.getAsLong()) {
            throw source.refusal(
                    source.firstOf(List.of(TOP_K)).orElse(TOP_K[0]),
                    topK.getAsLong() + " experts per token do not go with " + count.getAsLong() + " experts");
        }
        long width = source.size("moe_intermediate_size")
                .orElseGet(() -> source.size(FFN)
                        .orElseThrow(() -> config.refusal(
                                "a mixture of experts needs moe_intermediate_size or intermediate_size; found: "
                                        + foundKeys())));
        int dense = denseLayers(layers);
        if (dense == layers) {
            notes.add("experts are named, but no layer has them");
        } else if (dense > 0) {
            notes.add(dense + " of " + layers + " layers are dense");
        }
        return dense == layers
                ? Optional.empty()
                : Optional.of(new Experts(
                        Math.toIntExact(count.getAsLong()),
                        Math.toIntExact(topK.getAsLong()),
                        width,
                        sharedWidth(width),
                        dense));
    }

    /** Experts under a key that this reader does not know would silently be planned as a dense model. */
    private void refuseUnreadExperts(boolean counted) {
        if (counted) {
            return;
        }
        for (String key : config.keys()) {
            String word = key.toLowerCase(Locale.ROOT);
            if ((word.contains("num_experts") || word.endsWith("_experts") || word.equals("moe_intermediate_size"))
                    && !List.of(TOP_K).contains(key)
                    && config.has(key)
                    && !List.of(EXPERTS).contains(key)
                    && !word.contains("shared")) {
                throw config.refusal(
                        key,
                        "the key '" + key + "' speaks of experts, but their number is not given; needed is "
                                + String.join(" or ", EXPERTS));
            }
        }
    }

    private long sharedWidth(long width) {
        if (type.equals("llama4_text") || config.has("interleave_moe_layer_step")) {
            return width; // one shared expert, as wide as a routed one
        }
        OptionalLong direct = config.count("shared_expert_intermediate_size", "shared_intermediate_size");
        return direct.isPresent()
                ? direct.getAsLong()
                : config.count("n_shared_experts", "num_shared_experts", "moe_num_shared_experts")
                                .orElse(0)
                        * width;
    }

    /** Layers without experts. Only their number matters to a plan, not which they are. */
    private int denseLayers(int layers) {
        long first =
                config.count("first_k_dense_replace", "moe_layer_start_index").orElse(0);
        long last = config.count("moe_layer_end_index").orElse(layers - 1L);
        long every = config.size("moe_layer_freq").orElse(1);
        long step = config.size("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval")
                .orElse(1);
        List<Long> dense = config.wholes("mlp_only_layers");
        List<Long> sparse = config.wholes("moe_layers");
        int count = 0;
        for (long layer = 0; layer < layers; layer++) {
            boolean hasExperts = sparse.isEmpty()
                    ? layer >= first
                            && layer <= last
                            && layer % every == 0
                            && (layer + 1) % step == 0
                            && !dense.contains(layer)
                    : sparse.contains(layer);
            count += hasExperts ? 0 : 1;
        }
        return count;
    }

    private long denseWidth(long hidden) {
        ConfigObject source = config.inside("ffn_config").orElse(config);
        OptionalLong alternating =
                config.size("intermediate_size_mlp"); // Llama 4's dense layers beside those with experts
        if (alternating.isPresent()) {
            return alternating.getAsLong();
        }
        OptionalLong given = source.firstOf(List.of(FFN)).isPresent() ? source.size(FFN) : config.size(FFN);
        if (given.isPresent()) {
            // This family counts gate and up together in one key.
            return type.equals("qwen") ? given.getAsLong() / 2 : given.getAsLong();
        }
        OptionalLong times = config.size("expansion_ratio");
        boolean gpt2Names = config.has("n_embd") || config.has("n_embed") || config.has("d_model");
        if (times.isPresent() || family.wideByDefault() || gpt2Names) {
            return times.orElse(4) * hidden;
        }
        Optional<Long> assumed = nestedDefault("intermediate_size");
        if (assumed.isPresent()) {
            return needed("intermediate_size");
        }
        throw config.refusal("a transformer needs intermediate_size (or "
                + String.join(", ", List.of(FFN).subList(1, FFN.length))
                + "), the width of its feed-forward block; found: "
                + foundKeys());
    }

    private void sayWhatElse() {
        boolean parallel =
                family.parallel() && config.flag("parallel_attn", true) && config.flag("use_parallel_residual", true);
        if (parallel) {
            notes.add(
                    "attention and feed-forward of this model run side by side; they are planned one after the other");
        }
        if (!config.items("cross_attention_layers").isEmpty()) {
            notes.add("layers with cross-attention are planned like the others");
        }
        if (nested) {
            notes.add("the language model inside the file is planned, other parts are not");
        }
    }
}
