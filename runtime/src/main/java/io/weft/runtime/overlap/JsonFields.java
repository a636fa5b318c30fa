// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.overlap;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.runtime.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The members of a JSON object, each asked for by name and kind. A refusal names file, line, column, member, what was found and what is accepted. */
final class JsonFields {
    private final String subject;
    private final String place;
    private final JsonValue.ObjectValue object;

    JsonFields(String subject, String place, JsonValue value) {
        this.subject = subject;
        this.place = place;
        if (!(value instanceof JsonValue.ObjectValue found)) {
            throw refusal(value, "found " + value.describe() + "; accepted is an object");
        }
        this.object = found;
    }

    Set<String> names() {
        return object.members().keySet();
    }

    boolean isNull(String name) {
        JsonValue value = object.members().get(name);
        return value == null || value instanceof JsonValue.NullValue;
    }

    String text(String name) {
        JsonValue value = value(name);
        if (value instanceof JsonValue.StringValue string) {
            return string.text();
        }
        throw refusal(value, "'" + name + "' is " + value.describe() + "; accepted is a string");
    }

    long whole(String name) {
        JsonValue value = value(name);
        if (value instanceof JsonValue.NumberValue number) {
            try {
                return Long.parseLong(number.text());
            } catch (NumberFormatException notWhole) {
                // Told below.
            }
        }
        throw refusal(value, "'" + name + "' is " + value.describe() + "; accepted is a whole number");
    }

    boolean flag(String name) {
        JsonValue value = value(name);
        if (value instanceof JsonValue.BooleanValue flag) {
            return flag.value();
        }
        throw refusal(value, "'" + name + "' is " + value.describe() + "; accepted is true or false");
    }

    /** A number that is not negative, such as a time. */
    double number(String name) {
        JsonValue value = value(name);
        if (value instanceof JsonValue.NumberValue number) {
            double found = Double.parseDouble(number.text());
            if (found >= 0 && !Double.isInfinite(found)) {
                return found;
            }
        }
        throw refusal(value, "'" + name + "' is " + value.describe() + "; accepted is a number of at least 0");
    }

    JsonFields object(String name) {
        return new JsonFields(subject, place, value(name));
    }

    List<JsonFields> objects(String name) {
        JsonValue value = value(name);
        if (!(value instanceof JsonValue.ArrayValue array)) {
            throw refusal(value, "'" + name + "' is " + value.describe() + "; accepted is an array of objects");
        }
        List<JsonFields> all = new ArrayList<>();
        array.items().forEach(item -> all.add(new JsonFields(subject, place, item)));
        return all;
    }

    /** Where a member stands, for messages. */
    String at(String name) {
        JsonValue value = value(name);
        return place + ":" + value.line() + ":" + value.column();
    }

    private JsonValue value(String name) {
        JsonValue value = object.members().get(name);
        if (value == null) {
            throw refusal(object, "'" + name + "' is missing");
        }
        return value;
    }

    private AcceleratorException refusal(JsonValue value, String what) {
        return new AcceleratorException(
                ErrorCode.BAD_DOCUMENT, subject, place + ":" + value.line() + ":" + value.column() + ": " + what);
    }
}
