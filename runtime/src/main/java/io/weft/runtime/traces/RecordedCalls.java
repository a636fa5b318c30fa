// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import io.weft.memory.replay.TraceBuilder;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Allocations and frees in their order, by address or, where a recording has none, by size. It begins in the middle of a program, so what it frees before it
 * allocates was there from the start.
 */
final class RecordedCalls {
    private boolean[] allocates = new boolean[1024];
    private long[] ids = new long[1024];
    private long[] bytes = new long[1024];
    private int[] streams = new int[1024];
    private long[] nanos = new long[1024];
    private int[] places = new int[1024];
    private int count;

    private final Map<Long, Deque<Long>> bySize = new HashMap<>();
    /** Blocks without addresses that were there from the start. */
    private final Set<Long> known = new HashSet<>();

    private long nextId;

    /**
     * An allocation at an address.
     *
     * @param place the event of the file, from 1
     */
    void allocate(long address, long size, int stream, long time, int place) {
        add(true, address, size, stream, time, place);
    }

    /** A free at an address. */
    void free(long address, long size, int stream, long time, int place) {
        add(false, address, size, stream, time, place);
    }

    /** An allocation whose address was not recorded. */
    void allocate(long size, long time, int place) {
        long id = nextId++;
        bySize.computeIfAbsent(size, any -> new ArrayDeque<>()).push(id);
        add(true, id, size, 0, time, place);
    }

    /** A free whose address was not recorded: of the youngest allocation of that size, as most memory lives the way a stack does. */
    void free(long size, long time, int place) {
        Deque<Long> live = bySize.get(size);
        add(false, live == null || live.isEmpty() ? nextId++ : live.pop(), size, 0, time, place);
    }

    /** What is out before everything else and has no address. */
    void before(long size, TraceBuilder trace, int place) {
        long id = nextId++;
        bySize.computeIfAbsent(size, any -> new ArrayDeque<>()).push(id);
        known.add(id);
        trace.liveBefore(Long.toString(id), size, 0, place);
    }

    private void add(boolean allocate, long id, long size, int stream, long time, int place) {
        if (count == ids.length) {
            allocates = Arrays.copyOf(allocates, 2 * count);
            ids = Arrays.copyOf(ids, 2 * count);
            bytes = Arrays.copyOf(bytes, 2 * count);
            streams = Arrays.copyOf(streams, 2 * count);
            nanos = Arrays.copyOf(nanos, 2 * count);
            places = Arrays.copyOf(places, 2 * count);
        }
        allocates[count] = allocate;
        ids[count] = id;
        bytes[count] = size;
        streams[count] = stream;
        nanos[count] = time;
        places[count] = place;
        count++;
    }

    /**
     * Tells a trace what was there from the start: what is freed before it is allocated.
     *
     * @return its bytes
     */
    long liveBefore(TraceBuilder trace) {
        long sum = 0;
        Set<Long> seen = new HashSet<>(known);
        for (int i = 0; i < count; i++) {
            if (seen.add(ids[i]) && !allocates[i]) {
                trace.liveBefore(Long.toString(ids[i]), bytes[i], streams[i], places[i]);
                sum += bytes[i];
            }
        }
        return sum;
    }

    /** Addresses that some call names, each with whether its last call allocates. */
    Map<Long, Boolean> outcomes() {
        Map<Long, Boolean> last = new HashMap<>();
        for (int i = 0; i < count; i++) {
            last.put(ids[i], allocates[i]);
        }
        return last;
    }

    /** Calls so far. */
    int count() {
        return count;
    }

    /** Tells a trace of one call. */
    void replay(int call, TraceBuilder trace) {
        String id = Long.toString(ids[call]);
        if (allocates[call]) {
            trace.allocate(id, bytes[call], streams[call], nanos[call], places[call]);
        } else {
            trace.free(id, bytes[call], streams[call], nanos[call], places[call]);
        }
    }

    /** Tells a trace of every call. */
    void replay(TraceBuilder trace) {
        for (int i = 0; i < count; i++) {
            replay(i, trace);
        }
    }
}
