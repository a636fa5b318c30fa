// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Puts a trace together from calls that name memory by an id or an address, and makes sense of what recordings of running programs look like: they begin with
 * memory that is out already, and calls are missing.
 *
 * <p>Sizes are bytes and times are ns from the trace's start. Each call says at which place of the file it is, a line unless {@link #places} says otherwise, so
 * that a note of the trace can. Not for several threads.
 */
public final class TraceBuilder {
    /** Something odd that was made sense of. */
    private enum Oddity {
        LIVE_BEFORE("memory is freed that was allocated before the trace; it counts as live from the start"),
        UNKNOWN("memory is freed that was never allocated, and the free tells no size; it is left out"),
        TWICE("memory is freed that is free already; it is left out"),
        STILL_LIVE("memory is allocated at a place that is still out; the free between counts as missing"),
        USED_UNKNOWN("memory is used that is not out; it is left out"),
        SEGMENT("a segment is returned that was not obtained, so what the recorded allocator held is not known"),
        SEGMENT_TWICE("a segment is obtained that is there already, so what the recorded allocator held is not known");

        private final String text;

        Oddity(String text) {
            this.text = text;
        }
    }

    private record Event(Trace.Kind kind, int block, long bytes, int stream, long nanos) {}

    private record Seen(long firstLine, long count) {}

    private final String name;
    private final List<Event> before = new ArrayList<>();
    private final List<Event> events = new ArrayList<>();
    private final Map<String, Integer> live = new HashMap<>();
    private final Set<String> freed = new HashSet<>();
    private final List<Long> sizes = new ArrayList<>();
    private final Map<String, Long> segments = new HashMap<>();
    private final Map<Oddity, Seen> oddities = new LinkedHashMap<>();
    private long reserved;
    private long reservedPeak;
    private boolean reservedKnown;
    private boolean timed;
    private String place = "line";
    private String format = "";
    private String device = "";
    private final List<String> remarks = new ArrayList<>();

    /** @param name the file's name, for reports */
    public TraceBuilder(String name) {
        this.name = name;
    }

    /**
     * Says what is read.
     *
     * @param formatRead the format in words
     * @param deviceRead the device as the file names it; empty when it names none
     */
    public void origin(String formatRead, String deviceRead) {
        format = formatRead;
        device = deviceRead;
    }

    /** Says what is counted by the places that calls give, such as {@code event}; {@code line} unless this is called. */
    public void places(String word) {
        place = word;
    }

    /** Adds a note of the trace, one sentence. */
    public void remark(String sentence) {
        remarks.add(sentence);
    }

    private void note(Oddity oddity, long line) {
        Seen seen = oddities.get(oddity);
        oddities.put(oddity, seen == null ? new Seen(line, 1) : new Seen(seen.firstLine, seen.count + 1));
    }

    /** Times are times, and not only an order. */
    public void timed() {
        timed = true;
    }

    private int block(long bytes) {
        sizes.add(bytes);
        return sizes.size() - 1;
    }

    /** Memory that is out when the trace begins. */
    public void liveBefore(String id, long bytes, int stream, long line) {
        int block = block(bytes);
        before.add(new Event(Trace.Kind.ALLOCATE, block, bytes, stream, 0));
        if (live.put(id, block) != null) {
            note(Oddity.STILL_LIVE, line);
        }
    }

    /**
     * Memory is allocated.
     *
     * @param id an id or an address; it may be used again
     * @param stream streams are numbered densely from 0
     */
    public void allocate(String id, long bytes, int stream, long nanos, long line) {
        int block = block(bytes);
        Integer there = live.put(id, block);
        if (there != null) {
            note(Oddity.STILL_LIVE, line);
            events.add(new Event(Trace.Kind.FREE, there, sizes.get(there), stream, nanos));
        }
        events.add(new Event(Trace.Kind.ALLOCATE, block, bytes, stream, nanos));
    }

    /** The size with which memory was allocated that is out, -1 when there is none. */
    long bytes(String id) {
        Integer block = live.get(id);
        return block == null ? -1 : sizes.get(block);
    }

    /**
     * Memory is freed in the order of a stream.
     *
     * @param bytes -1 when the free tells none
     */
    public void free(String id, long bytes, int stream, long nanos, long line) {
        Integer block = live.remove(id);
        if (block == null) {
            if (freed.contains(id)) {
                note(Oddity.TWICE, line);
                return;
            }
            if (bytes < 0) {
                note(Oddity.UNKNOWN, line);
                return;
            }
            note(Oddity.LIVE_BEFORE, line);
            block = block(bytes);
            before.add(new Event(Trace.Kind.ALLOCATE, block, bytes, stream, 0));
        }
        freed.add(id);
        events.add(new Event(Trace.Kind.FREE, block, sizes.get(block), stream, nanos));
    }

    void use(String id, int stream, long nanos, long line) {
        Integer block = live.get(id);
        if (block == null) {
            note(Oddity.USED_UNKNOWN, line);
            return;
        }
        events.add(new Event(Trace.Kind.USE, block, sizes.get(block), stream, nanos));
    }

    void iteration(long nanos) {
        events.add(new Event(Trace.Kind.ITERATION, 0, 0, 0, nanos));
    }

    /** The recorded allocator got memory from the device. */
    void segment(String id, long bytes, long line) {
        if (segments.put(id, bytes) != null) {
            note(Oddity.SEGMENT_TWICE, line);
            return;
        }
        reserved += bytes;
        reservedPeak = Math.max(reservedPeak, reserved);
        reservedKnown = true;
    }

    /** The recorded allocator gave memory back to the device. */
    void segmentReturned(String id, long line) {
        Long bytes = segments.remove(id);
        if (bytes == null) {
            note(Oddity.SEGMENT, line);
            return;
        }
        reserved -= bytes;
    }

    /** The recorded allocator holds so many bytes more than before, or fewer. */
    public void reserved(long bytes, long line) {
        reserved += bytes;
        if (reserved < 0) {
            note(Oddity.SEGMENT, line);
        }
        reservedPeak = Math.max(reservedPeak, reserved);
        reservedKnown = true;
    }

    /** The trace; the builder is of no use afterwards. */
    public Trace build() {
        Trace trace = new Trace(name);
        trace.origin(format, device);
        // Blocks are numbered in the order of their allocation.
        int[] numbers = new int[sizes.size()];
        int next = 0;
        for (Event event : before) {
            numbers[event.block] = next++;
            add(trace, event, numbers);
        }
        trace.liveBefore();
        for (Event event : events) {
            if (event.kind == Trace.Kind.ALLOCATE) {
                numbers[event.block] = next++;
            }
            add(trace, event, numbers);
        }
        boolean held =
                reservedKnown && !oddities.containsKey(Oddity.SEGMENT) && !oddities.containsKey(Oddity.SEGMENT_TWICE);
        if (held && reservedPeak < trace.peakLiveBytes()) {
            remark("the recorded allocator is said to have held " + reservedPeak
                    + " bytes, fewer than were out, so what it held is not known");
        } else if (held) {
            trace.recordedReservedPeak(reservedPeak);
        }
        if (timed) {
            trace.timed();
        }
        List<String> notes = new ArrayList<>();
        oddities.forEach((oddity, seen) -> notes.add(place + " " + seen.firstLine
                + (seen.count > 1 ? " and " + (seen.count - 1) + " more" : "") + ": " + oddity.text));
        notes.addAll(remarks);
        trace.notes(notes);
        return trace;
    }

    private static void add(Trace trace, Event event, int[] numbers) {
        int block = event.kind == Trace.Kind.ITERATION ? 0 : numbers[event.block];
        trace.add(event.kind, block, event.bytes, event.stream, event.nanos);
    }
}
