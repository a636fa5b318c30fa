// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import io.weft.api.AcceleratorException;
import io.weft.memory.replay.Trace;
import io.weft.runtime.json.JsonReader;
import java.io.EOFException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.zip.ZipException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;

/**
 * Traces that are JSON, told apart by their structure: an object with {@code segments} and {@code device_traces} or a list of segments is a memory snapshot, one
 * with {@code traceEvents} or a list of such events a Chrome trace, and a list of lists a memory timeline. One event at a time is in memory. What profilers write
 * beside the standard (NaN, bare control characters, stray backslashes) is let pass.
 */
final class JsonTraces {
    private static final String ACCEPTED = "accepted are memory snapshots ('segments', 'device_traces'), Chrome traces"
            + " ('traceEvents') and raw memory timelines ([[time, action, bytes, category], ...])";

    /** Call stacks: most of a snapshot, and nothing of use here. */
    private static final Set<String> STACKS = Set.of("frames", "cpp_frames", "py_frames");

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
            .enable(JsonReadFeature.ALLOW_BACKSLASH_ESCAPING_ANY_CHARACTER)
            .enable(JsonReadFeature.ALLOW_TRAILING_COMMA)
            .build();

    private final TraceInput in;
    private final String place;
    private final String name;
    private final String device;

    JsonTraces(TraceInput in, String place, String name, String device) {
        this.in = in;
        this.place = place;
        this.name = name;
        this.device = device;
    }

    Trace read() {
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), in)) {
            try {
                return parser.nextToken() == JsonToken.START_OBJECT ? object(parser) : array(parser);
            } catch (JacksonIOException failure) {
                boolean gzip = failure.getCause() instanceof EOFException || failure.getCause() instanceof ZipException;
                throw TraceFile.fault(
                        at(parser.currentLocation()),
                        gzip
                                ? "the gzip data are cut off or damaged here"
                                : "cannot be read: " + failure.getOriginalMessage(),
                        failure);
            } catch (JacksonException failure) {
                throw TraceFile.fault(
                        at(failure.getLocation() == null ? parser.currentLocation() : failure.getLocation()),
                        JsonReader.explain(failure),
                        failure);
            }
        }
    }

    private String at(TokenStreamLocation location) {
        return place + ":" + location.getLineNr() + ":" + location.getColumnNr();
    }

    private AcceleratorException fault(JsonParser parser, String what) {
        return TraceFile.fault(at(parser.currentTokenLocation()), what, null);
    }

    private Trace object(JsonParser parser) {
        MemorySnapshot snapshot = new MemorySnapshot(place);
        boolean isSnapshot = false;
        KinetoMemory kineto = null;
        Fields others = new Fields();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String key = parser.currentName();
            parser.nextToken();
            switch (key) {
                case "segments" -> {
                    isSnapshot = true;
                    expectArray(parser, key);
                    segments(parser, snapshot, parser.nextToken());
                }
                case "device_traces" -> {
                    isSnapshot = true;
                    expectArray(parser, key);
                    deviceTraces(parser, snapshot);
                }
                case "traceEvents" -> {
                    kineto = new KinetoMemory(place);
                    expectArray(parser, key);
                    chromeEvents(parser, kineto, parser.nextToken());
                }
                default -> {
                    others.put(key, null);
                    parser.skipChildren();
                }
            }
        }
        if (kineto != null) {
            return kineto.trace(name, device);
        }
        if (!isSnapshot) {
            throw TraceFile.fault(place, "a JSON object with the keys " + others.names() + "; " + ACCEPTED, null);
        }
        return snapshot.trace(name, "JSON", device);
    }

    private void expectArray(JsonParser parser, String key) {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw fault(parser, "'" + key + "' is no list");
        }
    }

    private Trace array(JsonParser parser) {
        JsonToken first = parser.nextToken();
        if (first == JsonToken.START_ARRAY) {
            return new RawTimeline(place, name).read(parser);
        }
        if (first != JsonToken.START_OBJECT) {
            throw fault(parser, "a JSON list that holds neither objects nor lists; " + ACCEPTED);
        }
        Fields object = fields(parser, true);
        if (object.has("blocks")) {
            MemorySnapshot snapshot = new MemorySnapshot(place);
            snapshot.segments();
            snapshot.segment(object);
            segments(parser, snapshot, parser.nextToken());
            return snapshot.trace(name, "JSON", device);
        }
        if (object.has("ph")) {
            KinetoMemory kineto = new KinetoMemory(place);
            kineto.event(object);
            chromeEvents(parser, kineto, parser.nextToken());
            return kineto.trace(name, device);
        }
        throw TraceFile.fault(place, "a JSON list of objects with the keys " + object.names() + "; " + ACCEPTED, null);
    }

    private void segments(JsonParser parser, MemorySnapshot snapshot, JsonToken first) {
        snapshot.segments();
        for (JsonToken token = first; token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            snapshot.segment(value(parser, true));
        }
    }

    private void deviceTraces(JsonParser parser, MemorySnapshot snapshot) {
        for (int number = 0; parser.nextToken() != JsonToken.END_ARRAY; number++) {
            expectArray(parser, "device_traces[" + number + "]");
            snapshot.events(number);
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                snapshot.event(number, value(parser, true));
            }
        }
    }

    private void chromeEvents(JsonParser parser, KinetoMemory kineto, JsonToken first) {
        for (JsonToken token = first; token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            if (token == JsonToken.START_OBJECT) {
                kineto.event(fields(parser, false));
            } else {
                throw fault(parser, "an event of 'traceEvents' is no object");
            }
        }
    }

    /**
     * An object, without call stacks.
     *
     * @param whole whether everything else is kept; otherwise only what memory events need
     */
    private static Fields fields(JsonParser parser, boolean whole) {
        Fields fields = new Fields();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String key = parser.currentName();
            parser.nextToken();
            if (STACKS.contains(key) || (!whole && !KinetoMemory.needs(key, fields))) {
                parser.skipChildren();
            } else {
                fields.put(key, value(parser, true));
            }
        }
        return fields;
    }

    private static Object value(JsonParser parser, boolean whole) {
        return switch (parser.currentToken()) {
            case START_OBJECT -> fields(parser, whole);
            case START_ARRAY -> {
                List<Object> items = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    items.add(value(parser, whole));
                }
                yield items;
            }
            case VALUE_STRING -> parser.getString();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NUMBER_INT -> {
                Number number = parser.getNumberValue();
                yield number instanceof BigInteger ? number : (Object) number.longValue();
            }
            case VALUE_NUMBER_FLOAT -> parser.isNaN() ? null : decimal(parser);
            default -> null;
        };
    }

    /** A number with decimals; null when its exponent is beyond all measure. */
    private static BigDecimal decimal(JsonParser parser) {
        try {
            return parser.getDecimalValue();
        } catch (NumberFormatException | ArithmeticException beyond) {
            return null;
        }
    }
}
