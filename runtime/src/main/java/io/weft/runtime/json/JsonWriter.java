// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.json;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import tools.jackson.core.JsonEncoding;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.PrettyPrinter;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.core.util.DefaultIndenter;
import tools.jackson.core.util.DefaultPrettyPrinter;

/**
 * Writes JSON that any parser reads and that is the same on every run: keys in the order of the calls, ASCII only, and no number that
 * JSON lacks. Numbers keep nine significant digits, beyond which no model and no clock has anything to say; one that is not finite becomes
 * null.
 */
public final class JsonWriter implements AutoCloseable {
    private static final MathContext DIGITS = new MathContext(9);

    private final JsonGenerator json;

    private JsonWriter(JsonGenerator json) {
        this.json = json;
    }

    /** A text with one member a line, ending in a line break. */
    public static String text(Consumer<JsonWriter> content) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonWriter writer = of(bytes, true)) {
            content.accept(writer);
            writer.json.writeRaw('\n');
        }
        return bytes.toString(StandardCharsets.US_ASCII);
    }

    /** Writes to a stream without line breaks, for large documents. Closing the writer flushes the stream and leaves it open. */
    public static JsonWriter compact(OutputStream out) {
        return of(out, false);
    }

    private static JsonWriter of(OutputStream out, boolean pretty) {
        JsonFactory factory = JsonFactory.builder()
                .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
                .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
                .build();
        ObjectWriteContext context = pretty ? new Pretty() : ObjectWriteContext.empty();
        return new JsonWriter(factory.createGenerator(context, out, JsonEncoding.UTF8));
    }

    /** The generator takes its line breaks from here; they must not depend on the machine. */
    private static final class Pretty extends ObjectWriteContext.Base {
        @Override
        public PrettyPrinter getPrettyPrinter() {
            DefaultIndenter indent = new DefaultIndenter("  ", "\n");
            return new DefaultPrettyPrinter().withObjectIndenter(indent).withArrayIndenter(indent);
        }
    }

    /** An object as an array's item or as the document. */
    public JsonWriter object(Runnable members) {
        json.writeStartObject();
        members.run();
        json.writeEndObject();
        return this;
    }

    /** An object as a member. */
    public JsonWriter object(String name, Runnable members) {
        json.writeName(name);
        return object(members);
    }

    /** An array as the document or as an array's item. */
    public <T> JsonWriter array(Iterable<T> values, Consumer<T> item) {
        json.writeStartArray();
        values.forEach(item);
        json.writeEndArray();
        return this;
    }

    /** An array as a member. */
    public <T> JsonWriter array(String name, Iterable<T> values, Consumer<T> item) {
        json.writeName(name);
        return array(values, item);
    }

    /** A string as a member; null stays null. */
    public JsonWriter member(String name, String value) {
        json.writeName(name);
        return value(value);
    }

    /** A whole number as a member. */
    public JsonWriter member(String name, long value) {
        json.writeNumberProperty(name, value);
        return this;
    }

    /** A number as a member. */
    public JsonWriter member(String name, double value) {
        json.writeName(name);
        return value(value);
    }

    /** A time in microseconds as a member, exact to the nanosecond. */
    public JsonWriter micros(String name, long nanos) {
        json.writeName(name);
        json.writeNumber(BigDecimal.valueOf(nanos, 3).stripTrailingZeros().toPlainString());
        return this;
    }

    /** A truth value as a member. */
    public JsonWriter member(String name, boolean value) {
        json.writeBooleanProperty(name, value);
        return this;
    }

    /** A string as an array's item; null stays null. */
    public JsonWriter value(String value) {
        if (value == null) {
            json.writeNull();
        } else {
            json.writeString(value);
        }
        return this;
    }

    /** A whole number as an array's item. */
    public JsonWriter value(long value) {
        json.writeNumber(value);
        return this;
    }

    /** A number as an array's item. */
    public JsonWriter value(double value) {
        if (!Double.isFinite(value)) {
            json.writeNull();
        } else if (value == Math.rint(value) && Math.abs(value) < 1e9) {
            json.writeNumber((long) value);
        } else {
            BigDecimal rounded = new BigDecimal(value).round(DIGITS).stripTrailingZeros();
            // Plain digits where a person would write them so.
            boolean plain = Math.abs(value) >= 1e-6 && Math.abs(value) < 1e15;
            json.writeNumber(plain ? rounded.toPlainString() : rounded.toString());
        }
        return this;
    }

    @Override
    public void close() {
        json.close();
    }
}
