// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Figures;
import io.weft.runtime.json.JsonReader;
import io.weft.runtime.json.JsonValue;
import io.weft.runtime.json.JsonValue.ArrayValue;
import io.weft.runtime.json.JsonValue.ObjectValue;
import io.weft.runtime.json.JsonValue.StringValue;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class TraceWriterTest {
    private static byte[] trace() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        TraceWriter.write(out, "sketch:ring-2", Figures.MODEL, TimelineSketch.sections());
        return out.toByteArray();
    }

    private static Map<String, JsonValue> document() {
        return ((ObjectValue) JsonReader.parse("trace", "trace.json", new String(trace(), StandardCharsets.US_ASCII)))
                .members();
    }

    private static List<Map<String, JsonValue>> events() {
        List<Map<String, JsonValue>> events = new ArrayList<>();
        for (JsonValue event : ((ArrayValue) document().get("traceEvents")).items()) {
            events.add(((ObjectValue) event).members());
        }
        return events;
    }

    private static String text(JsonValue value) {
        return switch (value) {
            case StringValue string -> string.text();
            case JsonValue.NumberValue number -> number.text();
            default -> value.describe();
        };
    }

    private static String argument(Map<String, JsonValue> event, String key) {
        return text(((ObjectValue) event.get("args")).members().get(key));
    }

    @Test
    void figuresAreLabelled() {
        Map<String, JsonValue> other = ((ObjectValue) document().get("otherData")).members();
        assertEquals("model", text(other.get("figures")));
        assertEquals("sketch:ring-2", text(other.get("platform")));
    }

    @Test
    void everyDeviceIsAProcessAndEveryLaneEngineAndLinkATrack() {
        Map<String, String> names = new TreeMap<>();
        for (Map<String, JsonValue> event : events()) {
            if (text(event.get("name")).equals("process_name")) {
                names.put(text(event.get("pid")), argument(event, "name"));
            } else if (text(event.get("name")).equals("thread_name")) {
                names.put(text(event.get("pid")) + "/" + text(event.get("tid")), argument(event, "name"));
            }
        }
        assertEquals(
                Map.of(
                        "0", "schedules (model figures)",
                        "0/0", "schedule",
                        "1", "device 0",
                        "1/0", "lane 0",
                        "1/1", "lane 1",
                        "1/1000", "engine sdma0",
                        "2", "device 1",
                        "2/0", "lane 0",
                        "2/1", "lane 1",
                        "2/1000", "link 1->0"),
                withoutSecondRows(names));
        // Two copies share the link for a while, so it has a second row.
        assertEquals("link 1->0 (2)", names.get("2/1001"));
    }

    private static Map<String, String> withoutSecondRows(Map<String, String> names) {
        Map<String, String> firsts = new TreeMap<>(names);
        firsts.values().removeIf(name -> name.endsWith(" (2)"));
        return firsts;
    }

    @Test
    void spansOfOneTrackNeverOverlapAndSectionsFollowOneAnother() {
        Map<String, List<double[]>> tracks = new TreeMap<>();
        int spans = 0;
        for (Map<String, JsonValue> event : events()) {
            if (text(event.get("ph")).equals("X")) {
                double start = Double.parseDouble(text(event.get("ts")));
                double length = Double.parseDouble(text(event.get("dur")));
                tracks.computeIfAbsent(
                                text(event.get("pid")) + "/" + text(event.get("tid")), track -> new ArrayList<>())
                        .add(new double[] {start, start + length});
                spans++;
            }
        }
        assertEquals(2 * (1 + 4 + 3), spans);
        tracks.forEach((track, list) -> {
            list.sort((a, b) -> Double.compare(a[0], b[0]));
            for (int i = 1; i < list.size(); i++) {
                assertTrue(list.get(i)[0] >= list.get(i - 1)[1] - 1e-9, "spans overlap on track " + track);
            }
        });
        assertEquals(2.61, tracks.get("0/0").get(1)[0], 1e-9); // 1.61 us and a gap of 1 us
    }

    @Test
    void aSpanNamesItsKindAndWhatItWaitedFor() {
        Map<String, JsonValue> fill = events().stream()
                .filter(event -> text(event.get("name")).equals("fill"))
                .findFirst()
                .orElseThrow();
        assertEquals("fill", text(fill.get("cat")));
        assertEquals("1", text(fill.get("ts")));
        assertEquals("0.01", text(fill.get("dur")));
        assertEquals("NORMAL", argument(fill, "priority"));
        ArrayValue dependencies =
                (ArrayValue) ((ObjectValue) fill.get("args")).members().get("dependsOn");
        assertEquals(
                List.of("0"),
                dependencies.items().stream().map(TraceWriterTest::text).toList());
    }

    @Test
    void equalTimelinesGiveEqualBytes() {
        assertArrayEquals(trace(), trace());
    }
}
