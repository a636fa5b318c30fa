// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.scheduler.TransformerModel;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ModelConfigReaderTest {
    @TempDir
    private Path folder;

    /** layers hidden heads kvHeads headDim ffn gated|plain, and what there is of experts and latent attention. */
    private static String summary(TransformerModel model) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "%d %d %d %d %d %d %s",
                model.layers(),
                model.hidden(),
                model.heads(),
                model.kvHeads(),
                model.headDim(),
                model.ffn(),
                model.gated() ? "gated" : "plain"));
        model.experts()
                .ifPresent(e -> text.append(String.format(
                        Locale.ROOT,
                        " experts=%dx%d top=%d shared=%d dense=%d",
                        e.count(),
                        e.ffn(),
                        e.topK(),
                        e.sharedFfn(),
                        e.firstDenseLayers())));
        model.latentAttention()
                .ifPresent(l -> text.append(String.format(
                        Locale.ROOT,
                        " latent=%d,%d,%d,%d,%d",
                        l.queryRank(),
                        l.kvRank(),
                        l.keyDim(),
                        l.rotaryDim(),
                        l.valueDim())));
        return text.toString();
    }

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("model.json"), text);
    }

    private Path fixture(String name) throws IOException {
        try (InputStream in = ModelConfigReaderTest.class.getResourceAsStream(name + ".json")) {
            return Files.write(folder.resolve(name + ".json"), in.readAllBytes());
        }
    }

    private String refusal(Path file) {
        AcceleratorException refusal =
                assertThrows(AcceleratorException.class, () -> ModelConfigReader.read(file.toString()));
        assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code());
        assertEquals(1, refusal.getMessage().lines().count(), refusal.getMessage());
        return refusal.detail().replace(folder + "/", "");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            llama-2-7b     | 32 4096 32 32 128 11008 gated
            llama-2-70b    | 80 8192 64 8 128 28672 gated
            llama-3-8b     | 32 4096 32 8 128 14336 gated
            llama-3-70b    | 80 8192 64 8 128 28672 gated
            llama-3.1-405b | 126 16384 128 8 128 53248 gated
            mixtral-8x7b   | 32 4096 32 8 128 0 gated experts=8x14336 top=2 shared=0 dense=0
            mixtral-8x22b  | 56 6144 48 8 128 0 gated experts=8x16384 top=2 shared=0 dense=0
            deepseek-v3    | 61 7168 128 128 128 18432 gated experts=256x2048 top=8 shared=2048 dense=3 latent=1536,512,128,64,128
            qwen2.5-72b    | 80 8192 64 8 128 29568 gated
            """)
    void aKnownNameHasItsPublishedSizes(String name, String expected) {
        ModelConfig config = ModelConfigReader.read(name);
        assertEquals(expected, summary(config.model()));
        assertEquals(name, config.model().name());
        assertTrue(ModelConfigReader.names().contains(name));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            smollm2-1.7b               | 24 2048 32 32 64 8192 gated
            mistral-7b                 | 32 4096 32 8 128 14336 gated
            qwen2-7b                   | 28 3584 28 4 128 18944 gated
            qwen1.5-moe-a2.7b          | 24 2048 16 16 128 0 gated experts=60x1408 top=4 shared=5632 dense=0
            qwen2-57b-a14b             | 28 3584 28 4 128 0 gated experts=64x2560 top=8 shared=20480 dense=0
            qwen3-8b                   | 36 4096 32 8 128 12288 gated
            qwen3-30b-a3b              | 48 2048 32 4 128 0 gated experts=128x768 top=8 shared=0 dense=0
            gemma-7b                   | 28 3072 16 16 256 24576 gated
            gemma-2-9b                 | 42 3584 16 8 256 14336 gated
            gemma-3-4b                 | 34 2560 8 4 256 10240 gated
            gemma-3-27b                | 62 5376 32 16 128 21504 gated
            phi-2                      | 32 2560 32 32 80 10240 plain
            phi-3-mini                 | 32 3072 32 32 96 8192 gated
            gpt-neox-20b               | 44 6144 64 64 96 24576 plain
            falcon-7b                  | 32 4544 71 1 64 18176 plain
            falcon-40b                 | 60 8192 128 8 64 32768 plain
            falcon-40b-first-names     | 60 8192 128 8 64 32768 plain
            deepseek-v2-lite           | 27 2048 16 16 128 10944 gated experts=64x1408 top=6 shared=2816 dense=1 latent=0,512,128,64,128
            deepseek-v3                | 61 7168 128 128 128 18432 gated experts=256x2048 top=8 shared=2048 dense=3 latent=1536,512,128,64,128
            gpt2                       | 12 768 12 12 64 3072 plain
            gpt-j-6b                   | 28 4096 16 16 256 16384 plain
            mpt-7b                     | 32 4096 32 32 128 16384 plain
            bloom                      | 70 14336 112 112 128 57344 plain
            opt-6.7b                   | 32 4096 32 32 128 16384 plain
            starcoder                  | 40 6144 48 1 128 24576 plain
            starcoder2-15b             | 40 6144 48 4 128 24576 plain
            llama-4-scout              | 48 5120 40 8 128 0 gated experts=16x8192 top=1 shared=8192 dense=0
            llama-4-maverick           | 48 5120 40 8 128 16384 gated experts=128x8192 top=1 shared=8192 dense=24
            dbrx                       | 40 6144 48 8 128 0 gated experts=16x10752 top=4 shared=0 dense=0
            llava-1.5-7b               | 32 4096 32 32 128 11008 gated
            llava-1.5-13b              | 40 5120 40 40 128 13824 gated
            llama-3.2-11b-vision       | 40 4096 32 8 128 14336 gated
            qwen2-vl-7b                | 28 3584 28 4 128 18944 gated
            gpt-oss-120b               | 36 2880 64 8 64 0 gated experts=128x2880 top=4 shared=0 dense=0
            chatglm3-6b                | 28 4096 32 2 128 13696 gated
            qwen-7b                    | 32 4096 32 32 128 11008 gated
            unknown-architecture       | 24 2048 16 8 128 5632 gated
            unknown-architecture-plain | 24 2048 16 16 128 8192 plain
            """)
    void everyFamilyIsReadByItsKeys(String name, String expected) throws IOException {
        ModelConfig config = ModelConfigReader.read(fixture(name));
        assertEquals(expected, summary(config.model()));
        assertEquals(name, config.model().name());
    }

    @Test
    void aNestedFileSaysWhichDefaultsWereTaken() throws IOException {
        List<String> notes = ModelConfigReader.read(fixture("gemma-3-4b")).notes();
        assertTrue(
                notes.contains("num_attention_heads is not given; the default 8 of model_type 'gemma3_text' is taken"),
                notes::toString);
        assertTrue(
                notes.contains("the language model inside the file is planned, other parts are not"), notes::toString);
    }

    @Test
    void anUnknownArchitectureIsReadWithANote() throws IOException {
        assertEquals(
                List.of(
                        "model_type 'newcomer' is not known: the feed-forward block is taken as one with a gate, as silu suggests"),
                ModelConfigReader.read(fixture("unknown-architecture")).notes());
    }

    @Test
    void aFileNamedConfigIsNamedByItsFolder() throws IOException {
        Path inside = Files.createDirectories(folder.resolve("my-model")).resolve("config.json");
        Files.copy(fixture("gpt2"), inside);
        assertEquals("my-model", ModelConfigReader.read(inside).model().name());
    }

    @Test
    void aByteOrderMarkIsLetPass() throws IOException {
        Path file = file("\uFEFF" + Files.readString(fixture("gpt2")));
        assertEquals(768, ModelConfigReader.read(file).model().hidden());
    }

    @ParameterizedTest
    @ValueSource(strings = {"deepseek-v3", "gemma-2-9b", "smollm2-1.7b"})
    void realFilesReadLikeTheirTwins(String name) throws IOException {
        Path real = Path.of("../../shared/data/models", name + ".json");
        Assumptions.assumeTrue(Files.exists(real), "no real files beside the repository");
        assertEquals(
                summary(ModelConfigReader.read(fixture(name)).model()),
                summary(ModelConfigReader.read(real).model()));
    }

    @Test
    void aNameThatIsNoModelNamesTheNearest() {
        AcceleratorException refusal =
                assertThrows(AcceleratorException.class, () -> ModelConfigReader.read("llama-3-7b"));
        assertEquals(ErrorCode.NOT_FOUND, refusal.code());
        assertEquals("'llama-3-7b' is neither a known model nor a file; did you mean 'llama-2-7b'?", refusal.detail());
    }

    @Test
    void aMissingFileIsTold() {
        AcceleratorException refusal =
                assertThrows(AcceleratorException.class, () -> ModelConfigReader.read("/no/such/folder/config.json"));
        assertTrue(refusal.detail().startsWith("'/no/such/folder/config.json' is neither"), refusal.detail());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"hidden_size": 4096,                | :1:22: the text ends in the middle of its JSON value
            {"hidden_size": NaN}                 | :1:20: 'NaN' is no JSON value
            {"hidden_size": 1, // wide           | :1:20: JSON has no comments
            {"hidden_size": 1, "hidden_size": 2} | :1:20: 'hidden_size' was given before, in line 1
            {"hidden_size": 1} 2                 | :1:20: there is more text after the end of the JSON value
            {'hidden_size': 1}                   | :1:2: not JSON: Unexpected character (''' (code 39)): was expecting double-quote to start property name
            hidden_size: 4096                    | :1:1: not JSON: Unrecognized token 'hidden_size'
            [1, 2]                               | :1:1: the file holds an array; accepted is an object with the keys of a config.json
            "llama"                              | :1:1: the file holds "llama"; accepted is an object with the keys of a config.json
            ` `                                  | ` is empty; accepted is a JSON object`
            """)
    void textThatIsNotAJsonObjectIsRefusedWithItsPlace(String text, String expected) throws IOException {
        assertEquals("model.json" + expected, refusal(file(text)));
    }

    /** A small Llama file with one value replaced. */
    private Path with(String key, String value) throws IOException {
        List<String> lines = List.of(
                "{'model_type': 'llama',",
                " 'hidden_size': 4096,",
                " 'intermediate_size': 11008,",
                " 'num_hidden_layers': 32,",
                " 'num_attention_heads': 32,",
                " 'num_key_value_heads': 8}");
        StringBuilder text = new StringBuilder();
        for (String line : lines) {
            String json = line.replace('\'', '"');
            String end = json.substring(json.length() - 1);
            boolean chosen = json.contains('"' + key + '"');
            text.append(chosen ? json.substring(0, json.indexOf(':') + 2) + value + end : json)
                    .append('\n');
        }
        return file(text.toString());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            hidden_size         | "big"         | :2:17: hidden_size is "big"; accepted is a whole number from 1 to 16777216
            hidden_size         | -4096         | :2:17: hidden_size is -4096; accepted is a whole number from 1 to 16777216
            hidden_size         | 0             | :2:17: hidden_size is 0; accepted is a whole number from 1 to 16777216
            hidden_size         | 4096.5        | :2:17: hidden_size is 4096.5; accepted is a whole number from 1 to 16777216
            hidden_size         | 1e99          | :2:17: hidden_size is 1e99; accepted is a whole number from 1 to 16777216
            hidden_size         | 99999999999999999999 | :2:17: hidden_size is 99999999999999999999; accepted is a whole number from 1 to 16777216
            hidden_size         | [4096]        | :2:17: hidden_size is an array; accepted is a whole number from 1 to 16777216
            num_hidden_layers   | true          | :4:23: num_hidden_layers is true; accepted is a whole number from 1 to 16777216
            num_attention_heads | 33            | :5:25: 33 heads do not divide a hidden size of 4096; accepted is a number of heads that does, or a head_dim beside it
            num_key_value_heads | 5             | :6:25: 32 heads cannot share 5 key and value heads; accepted is a divisor of 32
            model_type          | 7             | :1:16: model_type is 7; accepted is a string
            """)
    void aWrongValueIsRefusedWithItsPlaceAndWhatIsAccepted(String key, String value, String expected)
            throws IOException {
        assertEquals("model.json" + expected, refusal(with(key, value)));
    }

    /** astra-sim issue 224: a slip in an attribute, and a part of the workload is skipped in silence. */
    @ParameterizedTest
    @CsvSource({"num_key_value_heads, num_key_value_head", "num_local_experts, num_local_expert"})
    void aKeyOneSlipFromOneThatWouldBeReadIsRefusedAndOthersAreLetPass(String known, String slip) throws IOException {
        Path file = file("{\"model_type\": \"llama\", \"hidden_size\": 4096, \"intermediate_size\": 11008,\n"
                + " \"num_hidden_layers\": 32, \"num_attention_heads\": 32, \"rope_theta\": 10000.0,\n \"" + slip
                + "\": 8}");
        String text = refusal(file);
        assertTrue(text.startsWith("model.json:3:"), text);
        assertTrue(
                text.endsWith("the key '" + slip + "' is not known; did you mean '" + known + "'?")
                        || text.contains("speaks of experts"),
                text);
    }

    @Test
    void missingKeysAreToldBesideTheOnesFound() throws IOException {
        assertEquals(
                "model.json: a transformer needs hidden_size, num_hidden_layers and num_attention_heads; missing: "
                        + "num_hidden_layers (or n_layer, n_layers, num_layers); num_attention_heads (or n_head, n_heads, num_heads); "
                        + "found: model_type, hidden_size, vocab_size",
                refusal(file("{\"model_type\": \"novel\", \"hidden_size\": 64, \"vocab_size\": 1000}")));
    }

    @Test
    void aMissingFeedForwardWidthIsTold() throws IOException {
        String text = refusal(with("intermediate_size", "null"));
        assertTrue(text.startsWith("model.json: a transformer needs intermediate_size (or ffn_hidden_size"), text);
    }

    @Test
    void expertsUnderUnknownKeysAreNotPlannedAsADenseModel() throws IOException {
        assertEquals(
                "model.json:3:25: the key 'total_num_experts' speaks of experts, but their number is not given; needed is "
                        + "num_local_experts or num_experts or n_routed_experts or moe_num_experts",
                refusal(file("""
                        {"model_type": "novel", "hidden_size": 64, "num_hidden_layers": 2,
                         "num_attention_heads": 4, "intermediate_size": 64,
                         "total_num_experts":   8}
                        """)));
    }

    @Test
    void moreExpertsPerTokenThanExpertsAreRefused() throws IOException {
        assertEquals("model.json:3:25: 5 experts per token do not go with 4 experts", refusal(file("""
                        {"model_type": "mixtral", "hidden_size": 64, "num_hidden_layers": 2,
                         "num_attention_heads": 4, "intermediate_size": 64, "num_local_experts": 4,
                         "num_experts_per_tok": 5}
                        """)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"is_encoder_decoder\": true",
                "\"mamba_d_state\": 16",
                "\"layer_types\": [\"linear_attention\"]"
            })
    void modelsThatAreNoDecodersOfAttentionLayersAreRefused(String key) throws IOException {
        String text = refusal(file("{\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
                + "\"intermediate_size\": 64, " + key + "}"));
        assertTrue(text.contains("accepted are "), text);
    }

    @Test
    void aDirectoryIsRefusedWithTheFileInIt() throws IOException {
        Path model = Files.createDirectories(folder.resolve("snapshot"));
        assertEquals("snapshot is a directory; accepted is a JSON file", refusal(model));
        Files.writeString(model.resolve("config.json"), "{}");
        assertEquals("snapshot is a directory; give the file in it: snapshot/config.json", refusal(model));
    }

    @Test
    void aFileOfAnotherEncodingIsRefused() throws IOException {
        Path file = Files.write(
                folder.resolve("model.json"), "{\"model_type\": \"llama\"}".getBytes(StandardCharsets.UTF_16));
        assertEquals("model.json is not UTF-8 text; accepted is JSON in UTF-8", refusal(file));
    }

    @Test
    void aHugeFileIsRefused() throws IOException {
        byte[] blanks = new byte[(16 << 20) + 1];
        Arrays.fill(blanks, (byte) ' ');
        assertEquals("model.json has more than 16 MiB", refusal(Files.write(folder.resolve("model.json"), blanks)));
    }

    @Test
    void deepNestingIsRefused() throws IOException {
        String text = refusal(file("[".repeat(100_000)));
        // The parser's own words have the digits of the machine's language.
        String words = String.format("not JSON: Document nesting depth (%d) exceeds the maximum allowed (%d", 501, 500);
        assertTrue(text.contains(words), text);
    }

    @Test
    void aFileThatMayNotBeReadIsRefused() throws IOException {
        Path file = file("{}");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("---------"));
        Assumptions.assumeFalse(Files.isReadable(file), "this user reads every file");
        assertEquals("model.json cannot be read: permission denied", refusal(file));
    }
}
