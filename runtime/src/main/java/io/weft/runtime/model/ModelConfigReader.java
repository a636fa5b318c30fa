// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.model;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.runtime.json.JsonReader;
import io.weft.runtime.json.JsonValue;
import io.weft.runtime.settings.NearestName;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Reads a model by a known name or from a Hugging Face {@code config.json} of a decoder-only transformer.
 *
 * <p>Understood are the key names of the Llama, Mistral, Mixtral, Qwen, Gemma, Phi, GPT-NeoX, Falcon and DeepSeek families, GPT-2 and its
 * descendants, and files in which the language model stands in an object of its own ({@code text_config}). Sizes decide, not architecture
 * names: a file of an unknown architecture with these keys is read, with a note.
 */
public final class ModelConfigReader {
    /** Public models whose sizes come with Weft. Source: their published configuration files. */
    private static final List<String> NAMES = List.of(
            "llama-2-7b",
            "llama-2-70b",
            "llama-3-8b",
            "llama-3-70b",
            "llama-3.1-405b",
            "mixtral-8x7b",
            "mixtral-8x22b",
            "deepseek-v3",
            "qwen2.5-72b");

    private ModelConfigReader() {}

    /** The names that come with Weft. */
    public static List<String> names() {
        return NAMES;
    }

    /**
     * Reads a model by name or from a file; a name comes first, so {@code ./llama-3-8b} is the file of that name.
     *
     * @throws AcceleratorException {@link ErrorCode#NOT_FOUND} when it is neither, {@link ErrorCode#BAD_DOCUMENT} when the file cannot be used
     */
    public static ModelConfig read(String nameOrFile) {
        String name = nameOrFile.strip().toLowerCase(Locale.ROOT);
        if (NAMES.contains(name)) {
            return named(name);
        }
        Path file;
        try {
            file = Path.of(nameOrFile);
        } catch (InvalidPathException failure) {
            throw unknown(nameOrFile, failure);
        }
        if (nameOrFile.isBlank() || Files.notExists(file)) {
            throw unknown(nameOrFile, null);
        }
        return read(file);
    }

    /**
     * Reads a model file.
     *
     * @throws AcceleratorException {@link ErrorCode#BAD_DOCUMENT}
     */
    public static ModelConfig read(Path file) {
        if (Files.isDirectory(file) && Files.exists(file.resolve("config.json"))) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT,
                    "model",
                    file + " is a directory; give the file in it: " + file.resolve("config.json"));
        }
        return read(modelName(file), file.toString(), JsonReader.read("model", file));
    }

    private static ModelConfig named(String name) {
        String resource = name + ".json";
        try (InputStream in = ModelConfigReader.class.getResourceAsStream(resource)) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return read(name, resource, JsonReader.parse("model", resource, text));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static ModelConfig read(String name, String place, JsonValue value) {
        if (value instanceof JsonValue.ObjectValue object) {
            return TransformerReading.read(name, new ConfigObject(place, object));
        }
        throw new AcceleratorException(
                ErrorCode.BAD_DOCUMENT,
                "model",
                place + ":" + value.line() + ":" + value.column() + ": the file holds " + value.describe()
                        + "; accepted is an object with the keys of a config.json");
    }

    /** A file's own name without its ending; the folder's for {@code config.json}, which says nothing. */
    private static String modelName(Path file) {
        Path whole = file.toAbsolutePath().normalize();
        String name = whole.getFileName().toString();
        Path folder = whole.getParent();
        if (name.equals("config.json") && folder != null && folder.getFileName() != null) {
            return folder.getFileName().toString();
        }
        return name.endsWith(".json") && name.length() > 5 ? name.substring(0, name.length() - 5) : name;
    }

    private static AcceleratorException unknown(String nameOrFile, Throwable cause) {
        String given = nameOrFile.replaceAll("\\p{Cntrl}", "?");
        String advice = NearestName.of(given.toLowerCase(Locale.ROOT), NAMES)
                .map(nearest -> "did you mean '" + nearest + "'?")
                .orElse("known are " + String.join(", ", NAMES) + ", or give a config.json");
        return new AcceleratorException(
                ErrorCode.NOT_FOUND, "model", "'" + given + "' is neither a known model nor a file; " + advice, cause);
    }
}
