// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.model;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a {@code model_type} says beyond the keys of its file: facts of the published architectures.
 *
 * @param gated whether the feed-forward block has a gate beside its up projection
 * @param wideByDefault whether the feed-forward block is four times as wide as the model when no key gives its width
 * @param parallel whether attention and feed-forward run side by side on one input
 * @param defaultHeadDim width of a head when no key gives it; 0 for hidden / heads
 * @param defaults values of keys that files of this type may leave out when they stand inside another model's file, because the library
 *     that reads them knows them
 */
record Family(boolean gated, boolean wideByDefault, boolean parallel, int defaultHeadDim, Map<String, Long> defaults) {
    private static final Family GATED = new Family(true, false, false, 0, Map.of());
    private static final Map<String, Family> KNOWN = known();

    /** The family of a {@code model_type}, if it is known. */
    static Optional<Family> of(String modelType) {
        return Optional.ofNullable(KNOWN.get(modelType));
    }

    /** What holds for a type that is not known, judging by its activation function. */
    static Family guess(String activation) {
        boolean plain = Set.of("gelu", "gelu_new", "gelu_fast", "gelu_python", "quick_gelu", "relu", "relu2")
                .contains(activation);
        return new Family(!plain, false, false, 0, Map.of());
    }

    private static Map<String, Family> known() {
        Map<String, Family> known = new HashMap<>();
        for (String type : Set.of(
                "baichuan",
                "chatglm",
                "cohere2",
                "dbrx",
                "deepseek",
                "deepseek_v2",
                "deepseek_v3",
                "ernie4_5",
                "ernie4_5_moe",
                "exaone",
                "exaone4",
                "glm",
                "glm4",
                "glm4_moe",
                "gpt_oss",
                "granite",
                "granitemoe",
                "granitemoeshared",
                "internlm",
                "internlm2",
                "internlm3",
                "kimi_k2",
                "llama4_text",
                "minicpm",
                "minicpm3",
                "mixtral",
                "olmo",
                "olmo2",
                "olmo3",
                "olmoe",
                "phi3",
                "phi3_v",
                "phi3small",
                "phi4mm",
                "phimoe",
                "qwen",
                "qwen2_5_omni_text",
                "qwen2_5_vl",
                "qwen2_5_vl_text",
                "qwen2_moe",
                "qwen2_vl",
                "qwen2_vl_text",
                "qwen3",
                "qwen3_moe",
                "qwen3_vl_moe_text",
                "qwen3_vl_text",
                "seed_oss",
                "smollm3",
                "stablelm",
                "stablelm_epoch")) {
            known.put(type, GATED);
        }
        // Defaults of the published configuration classes, on which files of multimodal models rely.
        known.put("llama", nested(0, 4096, 11008, 32, 32, 0)); // no grouping by default
        known.put("mistral", nested(0, 4096, 14336, 32, 32, 8));
        known.put("mllama_text_model", nested(0, 4096, 14336, 40, 32, 8));
        known.put("qwen2", nested(0, 4096, 22016, 32, 32, 32));
        known.put("gemma", nested(256, 3072, 24576, 28, 16, 16));
        known.put("gemma2", nested(256, 2304, 9216, 26, 8, 4));
        known.put("gemma3_text", nested(256, 2304, 9216, 26, 8, 4));
        known.put("cohere", new Family(true, false, true, 0, Map.of()));
        // Without a gate.
        for (String type : Set.of("apertus", "nemotron", "opt", "persimmon", "starcoder2", "xglm")) {
            known.put(type, new Family(false, false, false, 0, Map.of()));
        }
        // Without a gate, four times as wide by default.
        for (String type : Set.of("bloom", "gpt2", "gpt_bigcode", "gpt_neo", "mpt")) {
            known.put(type, new Family(false, true, false, 0, Map.of()));
        }
        // The same, attention and feed-forward side by side.
        for (String type : Set.of(
                "RefinedWeb",
                "RefinedWebModel",
                "codegen",
                "falcon",
                "gpt_neox",
                "gptj",
                "mixformer-sequential",
                "phi",
                "phi-msft")) {
            known.put(type, new Family(false, true, true, 0, Map.of()));
        }
        return Map.copyOf(known);
    }

    private static Family nested(int headDim, long hidden, long ffn, long layers, long heads, long kvHeads) {
        Map<String, Long> defaults = new HashMap<>();
        defaults.put("hidden_size", hidden);
        defaults.put("intermediate_size", ffn);
        defaults.put("num_hidden_layers", layers);
        defaults.put("num_attention_heads", heads);
        if (kvHeads > 0) {
            defaults.put("num_key_value_heads", kvHeads);
        }
        return new Family(true, false, false, headDim, Map.copyOf(defaults));
    }
}
