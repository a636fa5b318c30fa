// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import java.io.PrintWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Writes maps, lists, strings and numbers as JSON, keys in the order given. */
final class Json {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .disable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    private Json() {}

    static void print(PrintWriter out, Object value) {
        out.println(MAPPER.writeValueAsString(value));
    }
}
