// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLFactory;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** One mapping of a YAML document, read strictly: a key that nobody asked for is refused. */
final class Document {
    private static final YAMLMapper YAML = YAMLMapper.builder(YAMLFactory.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final String place;
    private final JsonNode node;
    private final Set<String> asked = new LinkedHashSet<>();

    private Document(String place, JsonNode node) {
        this.place = place;
        this.node = node;
        if (!node.isObject()) {
            throw new UnusableInput(place + ": a mapping of keys to values is expected, not " + kind(node));
        }
    }

    /**
     * Reads a text.
     *
     * @param name of the file, for messages
     * @throws UnusableInput when it is no YAML mapping
     */
    static Document parse(String name, String text) {
        try {
            JsonNode root = YAML.readTree(text);
            return new Document(name, root.isMissingNode() || root.isNull() ? YAML.createObjectNode() : root);
        } catch (JacksonException broken) {
            String where = broken.getLocation() == null
                    ? ""
                    : ":" + broken.getLocation().getLineNr() + ":"
                            + broken.getLocation().getColumnNr();
            throw new UnusableInput(
                    name + where + ": this is no YAML: " + firstLine(broken.getOriginalMessage()), broken);
        }
    }

    private static String firstLine(String text) {
        return text == null ? "" : text.lines().findFirst().orElse("");
    }

    private static String kind(JsonNode node) {
        return switch (node.getNodeType()) {
            case ARRAY -> "a list";
            case OBJECT -> "a mapping";
            case NULL, MISSING -> "nothing";
            default -> "'" + node.asString() + "'";
        };
    }

    /** For messages. */
    String place() {
        return place;
    }

    String text(String key) {
        String value = text(key, null);
        if (value == null) {
            throw new UnusableInput(place + ": '" + key + "' is missing");
        }
        return value;
    }

    String text(String key, String otherwise) {
        asked.add(key);
        JsonNode value = node.get(key);
        if (value == null || value.isNull()) {
            return otherwise;
        }
        if (!value.isValueNode()) {
            throw new UnusableInput(place + ": '" + key + "' must be a text, not " + kind(value));
        }
        String text = value.asString().strip();
        if (text.isEmpty()) {
            throw new UnusableInput(place + ": '" + key + "' is empty");
        }
        return text;
    }

    boolean flag(String key) {
        asked.add(key);
        JsonNode value = node.get(key);
        if (value == null) {
            return false;
        }
        if (!value.isBoolean()) {
            throw new UnusableInput(place + ": '" + key + "' must be true or false, not " + kind(value));
        }
        return value.booleanValue();
    }

    /** Texts of a list; a single text counts as a list of one. */
    List<String> texts(String key) {
        asked.add(key);
        JsonNode value = node.get(key);
        List<String> texts = new ArrayList<>();
        if (value == null || value.isNull()) {
            return texts;
        }
        if (value.isString()) {
            return List.of(value.asString().strip());
        }
        if (!value.isArray()) {
            throw new UnusableInput(place + ": '" + key + "' must be a list, not " + kind(value));
        }
        for (JsonNode one : value) {
            if (!one.isString()) {
                throw new UnusableInput(place + ": '" + key + "' must be a list of texts, and holds " + kind(one));
            }
            texts.add(one.asString().strip());
        }
        return texts;
    }

    /** Mappings of a list. */
    List<Document> documents(String key) {
        asked.add(key);
        JsonNode value = node.get(key);
        List<Document> documents = new ArrayList<>();
        if (value == null || value.isNull()) {
            return documents;
        }
        if (!value.isArray()) {
            throw new UnusableInput(place + ": '" + key + "' must be a list, not " + kind(value));
        }
        for (JsonNode one : value) {
            documents.add(new Document(place + ": " + key + "[" + documents.size() + "]", one));
        }
        return documents;
    }

    /** A constant by its lower-case name, with dashes or underscores. */
    <E extends Enum<E>> E constant(String key, Class<E> type, Function<String, String> spelling) {
        String value = text(key);
        return constant(place + ": " + key, value, type, spelling);
    }

    static <E extends Enum<E>> E constant(
            String place, String value, Class<E> type, Function<String, String> spelling) {
        List<String> known = new ArrayList<>();
        for (E one : type.getEnumConstants()) {
            String name = spelling.apply(one.name().toLowerCase(Locale.ROOT).replace('_', '-'));
            if (name.equals(value) || one.name().equals(value)) {
                return one;
            }
            known.add(name);
        }
        throw new UnusableInput(place + ": '" + value + "' is not known; known are " + String.join(", ", known));
    }

    /** Refuses what nobody asked for. */
    void refuseOthers() {
        for (String name : node.propertyNames()) {
            if (!asked.contains(name)) {
                throw new UnusableInput(
                        place + ": there is no key '" + name + "'; known are " + String.join(", ", asked));
            }
        }
    }
}
