// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import io.weft.api.AcceleratorException;
import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A value of a JSON document together with where it stands, so that every refusal names file and place. Numbers are taken as numbers or as strings, since tables of one version have either.
 *
 * @param file the document
 * @param path such as {@code server_list[0].device[3]}; empty at the top
 * @param node the value
 */
record JsonPlace(Path file, String path, JsonNode node) {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /** Reads a document whose top is an object. */
    static JsonPlace read(Path file, String accepted) {
        String text = ToolText.read(file, accepted, "");
        JsonNode root;
        try {
            root = MAPPER.readTree(text);
        } catch (JacksonException broken) {
            var where = broken.getLocation();
            throw ToolText.refused(
                    file,
                    (where == null
                                    ? ""
                                    : "line " + Math.max(1, where.getLineNr()) + ", column " + where.getColumnNr()
                                            + ": ")
                            + "no JSON (" + firstLine(broken.getOriginalMessage()) + "); accepted is " + accepted);
        }
        if (!root.isObject()) {
            throw ToolText.refused(file, "holds " + kind(root) + "; accepted is " + accepted);
        }
        return new JsonPlace(file, "", root);
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("").strip();
    }

    boolean has(String key) {
        return node.has(key) && !node.get(key).isNull();
    }

    JsonPlace at(String key) {
        return new JsonPlace(file, path.isEmpty() ? key : path + "." + key, node.path(key));
    }

    /** Each entry of a list that must be there. */
    List<JsonPlace> list(String key) {
        JsonPlace list = at(key);
        if (!list.node.isArray()) {
            throw list.refused("a list");
        }
        List<JsonPlace> entries = new ArrayList<>();
        for (int i = 0; i < list.node.size(); i++) {
            JsonPlace entry = new JsonPlace(file, list.path + "[" + i + "]", list.node.get(i));
            entries.add(entry);
        }
        return entries;
    }

    /** Each object of a list that must be there. */
    List<JsonPlace> objects(String key) {
        List<JsonPlace> entries = list(key);
        for (JsonPlace entry : entries) {
            if (!entry.node.isObject()) {
                throw entry.refused("an object");
            }
        }
        return entries;
    }

    String text(String key) {
        JsonPlace value = at(key);
        if (!value.node.isString() && !value.node.isNumber()) {
            throw value.refused("a text");
        }
        return value.node.asString().strip();
    }

    String text(String key, String otherwise) {
        return has(key) ? text(key) : otherwise;
    }

    /** A whole number within bounds, as a number or as a string of digits. */
    long number(String key, long least, long most) {
        JsonPlace value = at(key);
        String digits = value.node.isString() || value.node.isIntegralNumber()
                ? value.node.asString().strip()
                : "";
        if (digits.matches("-?\\d{1,18}")) {
            long number = Long.parseLong(digits);
            if (number >= least && number <= most) {
                return number;
            }
        }
        throw value.refused("a whole number from " + least + " to " + most + ", as a number or a string");
    }

    long number(String key, long least, long most, long otherwise) {
        return has(key) && !(at(key).node.isString() && at(key).node.asString().isBlank())
                ? number(key, least, most)
                : otherwise;
    }

    AcceleratorException refused(String expected) {
        return ToolText.refused(file, path + ": found " + kind(node) + ", expected " + expected);
    }

    private static String kind(JsonNode node) {
        if (node.isMissingNode()) {
            return "nothing";
        }
        if (node.isArray()) {
            return "a list";
        }
        if (node.isObject()) {
            return "an object";
        }
        if (node.isString()) {
            String text = node.asString();
            return "'" + (text.length() > 40 ? text.substring(0, 40) + "..." : text) + "'";
        }
        return node.toString();
    }
}
