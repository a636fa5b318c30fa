// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import io.weft.api.AcceleratorException;
import io.weft.memory.replay.Trace;
import io.weft.memory.replay.TraceBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A memory snapshot of PyTorch, from whatever holds it: the segments of its caching allocator as they are at the end, with their blocks, and for each device the
 * last so many events. The events are a ring buffer and begin in the middle, so what was there before is found from the end: a block that is out at the end and
 * that no event allocates was there from the start, and so was what is freed before it is allocated. Bytes that the allocator held are walked back in the same way.
 *
 * <p>Sizes are those that the program asked for, where the snapshot has them. Memory is free from when its free was asked for; what {@code record_stream} held
 * longer is not told by whom.
 */
final class MemorySnapshot {
    private static final long MOST_BYTES = 1L << 46;
    private static final int MOST_DEVICES = 4096;
    private static final int NANOS_PER_MICRO = 1000;
    private static final long NO_TIME = Long.MIN_VALUE;
    private static final Pattern DEVICE = Pattern.compile("(?:device *|[a-z]+:?)?(\\d{1,9})");

    private enum Action {
        ALLOCATE,
        FREE,
        OBTAIN,
        RETURN,
        OUT_OF_MEMORY,
        OTHER
    }

    /** A block of a segment. */
    private record Block(long address, long bytes, long stream) {}

    /** What is known of one device. */
    private static final class Device {
        private Action[] actions = new Action[256];
        private long[] addresses = new long[256];
        private long[] sizes = new long[256];
        private long[] streams = new long[256];
        private long[] micros = new long[256];
        private int count;
        private boolean timed = true;
        private final List<Block> live = new ArrayList<>();
        private long reserved;
        private boolean allocates;

        void add(Action action, long address, long size, long stream, long time) {
            if (count == actions.length) {
                actions = Arrays.copyOf(actions, 2 * count);
                addresses = Arrays.copyOf(addresses, 2 * count);
                sizes = Arrays.copyOf(sizes, 2 * count);
                streams = Arrays.copyOf(streams, 2 * count);
                micros = Arrays.copyOf(micros, 2 * count);
            }
            actions[count] = action;
            addresses[count] = address;
            sizes[count] = size;
            streams[count] = stream;
            micros[count] = time;
            count++;
            timed &= time != NO_TIME;
            allocates |= action == Action.ALLOCATE;
        }
    }

    private final String place;
    private final Map<Integer, Device> devices = new TreeMap<>();
    private boolean segmentsKnown;
    private long segments;
    private final TreeSet<String> unknown = new TreeSet<>();

    /** @param place the file as refusals name it */
    MemorySnapshot(String place) {
        this.place = place;
    }

    private AcceleratorException fault(String what) {
        return TraceFile.fault(place, what, null);
    }

    private Device device(long number) {
        if (number < 0 || number >= MOST_DEVICES) {
            throw fault("device " + number + " is not in 0.." + (MOST_DEVICES - 1));
        }
        return devices.computeIfAbsent((int) number, any -> new Device());
    }

    /** Says that the snapshot lists its segments, of which there may be none. */
    void segments() {
        segmentsKnown = true;
    }

    /** Takes one segment. */
    void segment(Object value) {
        String where = "segments[" + segments++ + "]";
        if (!(value instanceof Fields segment)) {
            throw fault(where + " is no dictionary");
        }
        Device device = device(segment.whole("device", 0));
        long bytes = bytes(segment, where, "total_size");
        device.reserved += bytes;
        if (device.reserved > MOST_BYTES) {
            throw fault("the segments have more than " + MOST_BYTES + " bytes");
        }
        long stream = segment.whole("stream", 0);
        long address = segment.whole("address", 0);
        List<?> blocks = segment.list("blocks");
        if (blocks == null) {
            throw fault(where + " has no list 'blocks'");
        }
        for (int i = 0; i < blocks.size(); i++) {
            String at = where + ".blocks[" + i + "]";
            if (!(blocks.get(i) instanceof Fields block)) {
                throw fault(at + " is no dictionary");
            }
            long size = bytes(block, at, "size");
            String state = block.text("state");
            if (state == null) {
                throw fault(at + " has no text 'state'");
            }
            if (state.equals("active_allocated")) {
                device.live.add(new Block(block.whole("address", address), requested(block, at, size), stream));
            }
            address += size;
        }
    }

    /** Bytes that the program asked for: in old snapshots the block's history has them, if anything does. */
    private long requested(Fields block, String where, long size) {
        if (block.has("requested_size")) {
            return bytes(block, where, "requested_size");
        }
        List<?> history = block.list("history");
        return history != null
                        && !history.isEmpty()
                        && history.getFirst() instanceof Fields last
                        && last.has("real_size")
                ? bytes(last, where + ".history[0]", "real_size")
                : size;
    }

    private long bytes(Fields fields, String where, String key) {
        if (!fields.isWhole(key)) {
            throw fault(where + " has no whole number '" + key + "'");
        }
        long bytes = fields.whole(key);
        if (bytes < 0 || bytes > MOST_BYTES) {
            throw fault(where + ": " + key + " " + bytes + " is not in 0.." + MOST_BYTES);
        }
        return bytes;
    }

    /** Says that a device has a list of events, of which there may be none. */
    void events(int device) {
        device(device);
    }

    /** Takes one event of a device; in their order. */
    void event(int number, Object value) {
        Device device = device(number);
        String where = "device_traces[" + number + "][" + device.count + "]";
        if (!(value instanceof Fields event)) {
            throw fault(where + " is no dictionary");
        }
        String name = event.text("action");
        if (name == null) {
            throw fault(where + " has no text 'action'");
        }
        Action action = action(name);
        boolean places = action != Action.OUT_OF_MEMORY && action != Action.OTHER;
        if (places && !event.isWhole("addr")) {
            throw fault(where + " has no whole number 'addr'");
        }
        device.add(
                action,
                event.whole("addr", event.whole("device_free", -1)),
                places ? bytes(event, where, "size") : event.whole("size", 0),
                event.whole("stream", 0),
                event.whole("time_us", NO_TIME));
    }

    private Action action(String name) {
        return switch (name) {
            case "alloc" -> Action.ALLOCATE;
            case "free_requested", "free" -> Action.FREE;
            case "segment_alloc", "segment_map" -> Action.OBTAIN;
            case "segment_free", "segment_unmap" -> Action.RETURN;
            case "oom" -> Action.OUT_OF_MEMORY;
            case "free_completed", "snapshot", "workspace_snapshot", "user_defined" -> Action.OTHER;
            default -> {
                if (unknown.size() < 3) {
                    unknown.add(TraceFile.shorten(name));
                }
                yield Action.OTHER;
            }
        };
    }

    /**
     * The trace of one device.
     *
     * @param format what held the snapshot, in words
     * @param wanted the device, null for the first one whose events allocate, or else the first that has blocks
     */
    Trace trace(String name, String format, String wanted) {
        int number = choose(wanted);
        Device device = devices.get(number);
        TraceBuilder trace = new TraceBuilder(name);
        trace.origin("PyTorch memory snapshot (" + format + ")", Integer.toString(number));
        trace.places("event");
        if (device.allocates || hasFrees(device)) {
            history(device, trace);
        } else {
            state(device, trace);
        }
        outOfMemory(device, trace);
        if (!unknown.isEmpty()) {
            trace.remark("events of unknown kinds are left out: " + String.join(", ", unknown));
        }
        return trace.build();
    }

    private static boolean hasFrees(Device device) {
        for (int i = 0; i < device.count; i++) {
            if (device.actions[i] == Action.FREE) {
                return true;
            }
        }
        return false;
    }

    private int choose(String wanted) {
        if (wanted != null) {
            Matcher named = DEVICE.matcher(wanted.strip());
            Integer number = named.matches() ? Integer.valueOf(named.group(1)) : null;
            if (number == null || !devices.containsKey(number)) {
                throw fault("there is no device '" + TraceFile.shorten(wanted) + "'; the snapshot has "
                        + (devices.isEmpty() ? "none" : devices.keySet().toString()));
            }
            return number;
        }
        for (Map.Entry<Integer, Device> one : devices.entrySet()) {
            if (one.getValue().allocates) {
                return one.getKey();
            }
        }
        for (Map.Entry<Integer, Device> one : devices.entrySet()) {
            if (!one.getValue().live.isEmpty() || hasFrees(one.getValue())) {
                return one.getKey();
            }
        }
        throw fault("the snapshot has no event and no block that is out; record with"
                + " torch.cuda.memory._record_memory_history() before the program allocates");
    }

    /** A snapshot without history: what is out is all there is to allocate. */
    private void state(Device device, TraceBuilder trace) {
        Streams streams = new Streams();
        trace.reserved(device.reserved, 0);
        for (int i = 0; i < device.live.size(); i++) {
            Block block = device.live.get(i);
            trace.allocate(Integer.toString(i), block.bytes, stream(streams, block.stream), i, i + 1);
        }
        trace.remark(
                "the snapshot has no history, so its blocks that are out are allocated one after the other, and that is"
                        + " all; torch.cuda.memory._record_memory_history() before the program runs records one");
    }

    private int stream(Streams streams, long handle) {
        int number = streams.number(handle);
        if (number < 0) {
            throw fault("more streams than a program has");
        }
        return number;
    }

    private void history(Device device, TraceBuilder trace) {
        if (device.timed) {
            trace.timed();
        }
        Streams streams = new Streams();
        RecordedCalls calls = new RecordedCalls();
        int[] callOf = new int[device.count];
        long latest = 0;
        for (int i = 0; i < device.count; i++) {
            latest = Math.max(latest, nanos(device, i));
            callOf[i] = calls.count();
            switch (device.actions[i]) {
                case ALLOCATE ->
                    calls.allocate(
                            device.addresses[i], device.sizes[i], stream(streams, device.streams[i]), latest, i + 1);
                case FREE ->
                    calls.free(device.addresses[i], device.sizes[i], stream(streams, device.streams[i]), latest, i + 1);
                default -> {}
            }
        }
        calls.liveBefore(trace);
        liveThroughout(device, calls, streams, trace);
        boolean reserved = segmentsKnown && reservedBefore(device, trace);
        for (int i = 0; i < device.count; i++) {
            switch (device.actions[i]) {
                case ALLOCATE, FREE -> calls.replay(callOf[i], trace);
                case OBTAIN -> reserve(reserved, device.sizes[i], i, trace);
                case RETURN -> reserve(reserved, -device.sizes[i], i, trace);
                default -> {}
            }
        }
    }

    private static void reserve(boolean known, long bytes, int event, TraceBuilder trace) {
        if (known) {
            trace.reserved(bytes, event + 1L);
        }
    }

    /** ns since the first event; where there are no times, the event's number. */
    private static long nanos(Device device, int event) {
        if (!device.timed) {
            return event;
        }
        long since = device.micros[event] - device.micros[0];
        return since < 0 || since > Long.MAX_VALUE / (4 * NANOS_PER_MICRO) ? 0 : since * NANOS_PER_MICRO;
    }

    /** Blocks that are out at the end and that no event names were there from the start. */
    private void liveThroughout(Device device, RecordedCalls calls, Streams streams, TraceBuilder trace) {
        Map<Long, Boolean> outcomes = calls.outcomes();
        long after = 0;
        long afterBytes = 0;
        for (Block block : device.live) {
            Boolean allocated = outcomes.remove(block.address);
            if (allocated == null) {
                trace.liveBefore(Long.toString(block.address), block.bytes, stream(streams, block.stream), 0);
            } else if (!allocated) {
                after++;
                afterBytes += block.bytes;
            }
        }
        if (after > 0) {
            trace.remark("left out are " + after + " of the blocks that are out at the end, " + afterBytes
                    + " bytes, as they were allocated after the last event");
        }
        long freedAfter = segmentsKnown
                ? outcomes.values().stream().filter(allocated -> allocated).count()
                : 0;
        if (freedAfter > 0) {
            trace.remark("of the blocks that the events leave allocated, " + freedAfter
                    + " are not out at the end; their frees are missing");
        }
    }

    /** Walks back what the allocator held; false when it does not come out. */
    private static boolean reservedBefore(Device device, TraceBuilder trace) {
        long before = device.reserved;
        long least = before;
        for (int i = device.count - 1; i >= 0; i--) {
            switch (device.actions[i]) {
                case OBTAIN -> before -= device.sizes[i];
                case RETURN -> before += device.sizes[i];
                default -> {}
            }
            least = Math.min(least, before);
        }
        if (least < 0) {
            trace.remark("segments and events do not agree, so what the recorded allocator held is not known");
            return false;
        }
        trace.reserved(before, 0);
        return true;
    }

    private static void outOfMemory(Device device, TraceBuilder trace) {
        long count = 0;
        int first = -1;
        for (int i = 0; i < device.count; i++) {
            if (device.actions[i] == Action.OUT_OF_MEMORY) {
                first = first < 0 ? i : first;
                count++;
            }
        }
        if (count > 0) {
            trace.remark("event " + (first + 1) + (count > 1 ? " and " + (count - 1) + " more" : "")
                    + ": the recorded allocator was out of memory, asked for " + device.sizes[first]
                    + " bytes with " + device.addresses[first] + " free on the device");
        }
    }
}
