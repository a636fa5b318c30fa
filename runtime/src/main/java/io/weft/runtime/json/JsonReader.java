// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.json;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.UnexpectedEndOfInputException;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads strict JSON in UTF-8 (a byte order mark is let pass) with the place of every value. Every fault is one line: file, line,
 * column, what is wrong.
 */
public final class JsonReader {
    /** Far above any configuration; keeps a mistaken path from filling memory. */
    public static final int MOST_BYTES = 16 << 20;

    private final String subject;
    private final String place;
    private final JsonParser parser;

    private JsonReader(String subject, String place, JsonParser parser) {
        this.subject = subject;
        this.place = place;
        this.parser = parser;
    }

    /**
     * Reads a file.
     *
     * @param subject what is being read, such as {@code model}; starts the message of a refusal
     * @throws AcceleratorException {@link ErrorCode#BAD_DOCUMENT}
     */
    public static JsonValue read(String subject, Path file) {
        return parse(subject, file.toString(), text(subject, file));
    }

    /**
     * Reads a text.
     *
     * @param place the file's name for messages
     */
    public static JsonValue parse(String subject, String place, String text) {
        if (text.isBlank()) {
            throw refusal(subject, place + " is empty; accepted is a JSON object", null);
        }
        JsonParser parser = JsonFactory.builder().build().createParser(ObjectReadContext.empty(), text);
        JsonReader reader = new JsonReader(subject, place, parser);
        try (parser) {
            parser.nextToken();
            JsonValue value = reader.value();
            if (parser.nextToken() != null) {
                TokenStreamLocation at = parser.currentTokenLocation();
                throw refusal(subject, reader.at(at) + ": there is more text after the end of the JSON value", null);
            }
            return value;
        } catch (JacksonException failure) {
            TokenStreamLocation at = failure.getLocation() == null ? parser.currentLocation() : failure.getLocation();
            throw refusal(subject, reader.at(at) + ": " + explain(failure), failure);
        }
    }

    private JsonValue value() {
        TokenStreamLocation at = parser.currentTokenLocation();
        int line = at.getLineNr();
        int column = at.getColumnNr();
        return switch (parser.currentToken()) {
            case START_OBJECT -> object(line, column);
            case START_ARRAY -> array(line, column);
            case VALUE_STRING -> new JsonValue.StringValue(parser.getString(), line, column);
            case VALUE_TRUE -> new JsonValue.BooleanValue(true, line, column);
            case VALUE_FALSE -> new JsonValue.BooleanValue(false, line, column);
            case VALUE_NULL -> new JsonValue.NullValue(line, column);
            default -> new JsonValue.NumberValue(parser.getString(), line, column);
        };
    }

    private JsonValue object(int line, int column) {
        Map<String, JsonValue> members = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String key = parser.currentName();
            TokenStreamLocation at = parser.currentTokenLocation();
            parser.nextToken();
            JsonValue first = members.putIfAbsent(key, value());
            if (first != null) {
                throw refusal(subject, at(at) + ": '" + key + "' was given before, in line " + first.line(), null);
            }
        }
        return new JsonValue.ObjectValue(members, line, column);
    }

    private JsonValue array(int line, int column) {
        List<JsonValue> items = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            items.add(value());
        }
        return new JsonValue.ArrayValue(items, line, column);
    }

    private String at(TokenStreamLocation at) {
        return place + ":" + at.getLineNr() + ":" + at.getColumnNr();
    }

    /** The parser's words without the names of its switches. */
    public static String explain(JacksonException failure) {
        if (failure instanceof UnexpectedEndOfInputException
                || failure.getOriginalMessage().startsWith("Unexpected end-of-input")) {
            return "the text ends in the middle of its JSON value";
        }
        String text = failure.getOriginalMessage();
        if (text.startsWith("Non-standard token")) {
            return text.substring("Non-standard token ".length(), text.indexOf(": enable")) + " is no JSON value";
        }
        if (text.contains("comment?")) {
            return "JSON has no comments";
        }
        for (String end :
                List.of(" (for ", " (start marker", ", from `", ": was expecting (JSON", ": expected a valid")) {
            int cut = text.indexOf(end);
            text = cut < 0 ? text : text.substring(0, cut);
        }
        return "not JSON: " + text.replaceAll("\\p{Cntrl}", "?");
    }

    private static String text(String subject, Path file) {
        byte[] bytes = bytes(subject, file);
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .onUnmappableCharacter(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return text.startsWith("\uFEFF") ? text.substring(1) : text;
        } catch (CharacterCodingException failure) {
            throw refusal(subject, file + " is not UTF-8 text; accepted is JSON in UTF-8", failure);
        }
    }

    private static byte[] bytes(String subject, Path file) {
        if (Files.isDirectory(file)) {
            throw refusal(subject, file + " is a directory; accepted is a JSON file", null);
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(MOST_BYTES + 1);
            if (bytes.length > MOST_BYTES) {
                throw refusal(subject, file + " has more than " + (MOST_BYTES >> 20) + " MiB", null);
            }
            return bytes;
        } catch (NoSuchFileException failure) {
            throw refusal(subject, file + " does not exist", failure);
        } catch (AccessDeniedException failure) {
            throw refusal(subject, file + " cannot be read: permission denied", failure);
        } catch (IOException failure) {
            throw refusal(subject, file + " cannot be read: " + failure.getMessage(), failure);
        }
    }

    private static AcceleratorException refusal(String subject, String what, Throwable cause) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, subject, what, cause);
    }
}
