// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.stream;

import io.weft.api.Event;
import io.weft.api.Stream;
import java.util.HashMap;
import java.util.Map;

/** What each stream is ordered after, as vector clocks over records and waits. Not for several threads at once. */
final class StreamHistory {
    private final Map<Stream, Map<Stream, Long>> seen = new HashMap<>();
    private final Map<Event, Map<Stream, Long>> records = new HashMap<>();

    /** A new point in the order of a stream. */
    long tick(Stream stream) {
        return seen(stream).merge(stream, 1L, Long::sum);
    }

    private Map<Stream, Long> seen(Stream stream) {
        return seen.computeIfAbsent(stream, key -> new HashMap<>());
    }

    /**
     * An event was recorded on a stream.
     *
     * @return the point of the record
     */
    long recorded(Event event, Stream stream) {
        long point = tick(stream);
        records.put(event, new HashMap<>(seen(stream)));
        return point;
    }

    /** A stream waits for an event; one that was never recorded orders nothing. */
    void waited(Stream stream, Event event) {
        Map<Stream, Long> own = seen(stream);
        records.getOrDefault(event, Map.of()).forEach((other, point) -> own.merge(other, point, Math::max));
    }

    /** Whether all later work of a stream comes after a point of another. */
    boolean isAfter(Stream stream, Stream other, long point) {
        return stream == other || seen(stream).getOrDefault(other, 0L) >= point;
    }
}
