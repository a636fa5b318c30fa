// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import tools.jackson.core.JacksonException;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** JSON as AMD's tools print it: with warnings before it, text after it, and now and then a comma too many. */
final class Json {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(JsonReadFeature.ALLOW_TRAILING_COMMA)
            .disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private Json() {}

    /** The first array or object that starts a line of a text; null when there is none. */
    static JsonNode first(String text, Path file, String expected) {
        int start = start(text);
        if (start < 0 || !text.contains(expected)) {
            return null;
        }
        try {
            return MAPPER.readTree(text.substring(start));
        } catch (JacksonException broken) {
            var where = broken.getLocation();
            int before = (int)
                    text.substring(0, start).chars().filter(c -> c == '\n').count();
            String place = where == null
                    ? ""
                    : "line " + (before + Math.max(1, where.getLineNr())) + ", column " + where.getColumnNr() + ": ";
            throw ToolText.refused(file, place + "the JSON is broken: " + broken.getOriginalMessage());
        }
    }

    private static int start(String text) {
        int at = 0;
        while (at >= 0 && at < text.length()) {
            int end = text.indexOf('\n', at);
            String line = text.substring(at, end < 0 ? text.length() : end).strip();
            // A log line may start with "[warning]": JSON goes on with an object, a name, or nothing.
            if (line.matches("\\[\\s*(\\{.*|\\]?)") || line.matches("\\{\\s*(\".*|\\}?)")) {
                return at;
            }
            at = end < 0 ? -1 : end + 1;
        }
        return -1;
    }
}
