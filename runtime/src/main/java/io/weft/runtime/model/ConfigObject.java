// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.model;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.runtime.json.JsonValue;
import io.weft.runtime.settings.NearestName;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** An object of a model file, read key by key. A key that is null counts as absent, as in the library that writes these files. Not for several threads at once. */
final class ConfigObject {
    /** Wider than any model by a factor of hundreds; larger sizes are slips, and would overflow what is computed from them. */
    static final long LARGEST_SIZE = 1 << 24;

    private final String place;
    /** Shorter names differ by a letter without being slips of one another. */
    private static final int SHORTEST_SLIP = 6;

    private final JsonValue.ObjectValue object;
    /** Every key that was asked for, whether it is there or not. */
    private final Set<String> asked = new LinkedHashSet<>();

    ConfigObject(String place, JsonValue.ObjectValue object) {
        this.place = place;
        this.object = object;
    }

    /** The file. */
    String place() {
        return place;
    }

    /** Every key, in the order of the file. */
    List<String> keys() {
        return List.copyOf(object.members().keySet());
    }

    /** Whether a key is there and not null. */
    boolean has(String key) {
        return value(key) != null;
    }

    /** The first of several names for one thing that is there, if any. */
    Optional<String> firstOf(List<String> names) {
        return names.stream().filter(this::has).findFirst();
    }

    /** A size under the first of several names that is there. */
    OptionalLong size(String... names) {
        return firstOf(List.of(names))
                .map(name -> OptionalLong.of(whole(name, 1)))
                .orElse(OptionalLong.empty());
    }

    /** A count that may be 0, under the first of several names that is there. */
    OptionalLong count(String... names) {
        return firstOf(List.of(names))
                .map(name -> OptionalLong.of(whole(name, 0)))
                .orElse(OptionalLong.empty());
    }

    /** A switch; the default when it is absent. */
    boolean flag(String key, boolean byDefault) {
        return switch (value(key)) {
            case null -> byDefault;
            case JsonValue.BooleanValue flag -> flag.value();
            case JsonValue other -> throw refusal(key, other, "true or false");
        };
    }

    /** A word, if it is there. */
    Optional<String> word(String key) {
        return switch (value(key)) {
            case null -> Optional.empty();
            case JsonValue.StringValue word -> Optional.of(word.text());
            case JsonValue other -> throw refusal(key, other, "a string");
        };
    }

    /** An object inside, if it is there. */
    Optional<ConfigObject> inside(String key) {
        return switch (value(key)) {
            case null -> Optional.empty();
            case JsonValue.ObjectValue inside -> Optional.of(new ConfigObject(place, inside));
            case JsonValue other -> throw refusal(key, other, "an object");
        };
    }

    /** The items of an array; none when it is absent. */
    List<JsonValue> items(String key) {
        return switch (value(key)) {
            case null -> List.of();
            case JsonValue.ArrayValue array -> array.items();
            case JsonValue other -> throw refusal(key, other, "an array");
        };
    }

    /** The whole numbers of an array, each from 0; none when it is absent. */
    List<Long> wholes(String key) {
        return items(key).stream().map(item -> whole(key, item, 0)).toList();
    }

    /**
     * Refuses a key that nobody asked for and that is one slip away from one that was asked for in vain: read on without it, the file would give a plan for another model. Other keys are not this reader's business; such files hold dozens.
     * Called when everything has been read.
     */
    void refuseSlips() {
        for (String key : keys()) {
            if (key.length() < SHORTEST_SLIP || asked.contains(key) || !has(key)) {
                continue;
            }
            asked.remove(key); // has() has just asked for it
            for (String known : asked) {
                if (!object.members().containsKey(known) && NearestName.edits(key, known) == 1) {
                    throw refusal(key, "the key '" + key + "' is not known; did you mean '" + known + "'?");
                }
            }
        }
    }

    /** A refusal of this object as a whole. */
    AcceleratorException refusal(String what) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "model", place + ": " + what);
    }

    /** A refusal of one key, with its line and column where it is there. */
    AcceleratorException refusal(String key, String what) {
        JsonValue value = object.members().get(key);
        String at = value == null ? place : place + ":" + value.line() + ":" + value.column();
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "model", at + ": " + what);
    }

    private AcceleratorException refusal(String key, JsonValue value, String accepted) {
        return new AcceleratorException(
                ErrorCode.BAD_DOCUMENT,
                "model",
                place + ":" + value.line() + ":" + value.column() + ": " + key + " is " + value.describe()
                        + "; accepted is " + accepted);
    }

    private JsonValue value(String key) {
        asked.add(key);
        Map<String, JsonValue> members = object.members();
        JsonValue value = members.get(key);
        return value instanceof JsonValue.NullValue ? null : value;
    }

    private long whole(String key, long least) {
        return whole(key, value(key), least);
    }

    private long whole(String key, JsonValue value, long least) {
        if (value instanceof JsonValue.NumberValue(String text, int line, int column)) {
            try {
                long number = Long.parseLong(text);
                if (number >= least && number <= LARGEST_SIZE) {
                    return number;
                }
            } catch (NumberFormatException notWhole) {
                // Told below, with line and column.
            }
        }
        throw refusal(key, value, "a whole number from " + least + " to " + LARGEST_SIZE);
    }
}
