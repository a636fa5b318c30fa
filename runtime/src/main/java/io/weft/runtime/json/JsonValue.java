// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.json;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A JSON value that knows where it stands, so that a refusal can say so. Lines and columns count from 1. Immutable. */
public sealed interface JsonValue {
    /** Line where it starts. */
    int line();

    /** Column where it starts. */
    int column();

    /** What a person sees in a message: the value when it is short, else its kind. */
    String describe();

    /** An object; members keep their order. */
    record ObjectValue(Map<String, JsonValue> members, int line, int column) implements JsonValue {
        public ObjectValue {
            members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
        }

        @Override
        public String describe() {
            return "an object";
        }
    }

    /** An array. */
    record ArrayValue(List<JsonValue> items, int line, int column) implements JsonValue {
        public ArrayValue {
            items = List.copyOf(items);
        }

        @Override
        public String describe() {
            return "an array";
        }
    }

    /** A string. */
    record StringValue(String text, int line, int column) implements JsonValue {
        @Override
        public String describe() {
            return '"' + shortened(text) + '"';
        }
    }

    /** A number as it is written. */
    record NumberValue(String text, int line, int column) implements JsonValue {
        @Override
        public String describe() {
            return shortened(text);
        }
    }

    /** True or false. */
    record BooleanValue(boolean value, int line, int column) implements JsonValue {
        @Override
        public String describe() {
            return Boolean.toString(value);
        }
    }

    /** Null. */
    record NullValue(int line, int column) implements JsonValue {
        @Override
        public String describe() {
            return "null";
        }
    }

    private static String shortened(String text) {
        String line = text.replaceAll("\\p{Cntrl}", "?");
        return line.length() <= 40 ? line : line.substring(0, 40) + "...";
    }
}
