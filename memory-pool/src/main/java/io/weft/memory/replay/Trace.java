// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import java.util.Arrays;
import java.util.List;

/**
 * A sequence of allocations and frees, in primitive arrays so that a replay measures the allocator and not the trace. Blocks are numbered densely from 0 in the
 * order of their allocation.
 */
public final class Trace {
    /** What an event is. */
    public enum Kind {
        /** A block is asked for. */
        ALLOCATE((byte) 0),
        /** A block is freed. */
        FREE((byte) 1),
        /** Another stream uses a block. */
        USE((byte) 2),
        /** An iteration ends. */
        ITERATION((byte) 3);

        final byte code;

        Kind(byte code) {
            this.code = code;
        }
    }

    private static final Kind[] BY_CODE = {Kind.ALLOCATE, Kind.FREE, Kind.USE, Kind.ITERATION};

    private final String name;
    private byte[] kinds = new byte[1024];
    private int[] blocks = new int[1024];
    private long[] bytes = new long[1024];
    private int[] streams = new int[1024];
    private long[] nanos = new long[1024];
    private int count;
    private int blockCount;
    private int streamCount = 1;
    private int before;
    private long recordedReservedPeak = -1;
    private boolean timed;
    private List<String> notes = List.of();
    private String format = "";
    private String device = "";
    private long liveBefore;
    private long live;
    private long peakLive;
    private int peakEvent;
    private long allocations;
    private long frees;

    Trace(String name) {
        this.name = name;
    }

    void add(Kind kind, int block, long size, int stream, long time) {
        if (count == kinds.length) {
            kinds = Arrays.copyOf(kinds, 2 * count);
            blocks = Arrays.copyOf(blocks, 2 * count);
            bytes = Arrays.copyOf(bytes, 2 * count);
            streams = Arrays.copyOf(streams, 2 * count);
            nanos = Arrays.copyOf(nanos, 2 * count);
        }
        kinds[count] = kind.code;
        blocks[count] = block;
        bytes[count] = size;
        streams[count] = stream;
        nanos[count] = time;
        count++;
        streamCount = Math.max(streamCount, stream + 1);
        if (kind == Kind.ALLOCATE) {
            blockCount = Math.max(blockCount, block + 1);
            allocations++;
            live += size;
            if (live > peakLive) {
                peakLive = live;
                peakEvent = count - 1;
            }
        } else if (kind == Kind.FREE) {
            frees++;
            live -= size;
        }
    }

    void liveBefore() {
        before = count;
        liveBefore = live;
    }

    void origin(String formatRead, String deviceRead) {
        format = formatRead;
        device = deviceRead;
    }

    void timed() {
        timed = true;
    }

    void notes(List<String> sentences) {
        notes = List.copyOf(sentences);
    }

    void recordedReservedPeak(long reserved) {
        recordedReservedPeak = reserved;
    }

    /** The file's name. */
    public String name() {
        return name;
    }

    /** What the file was read as, in words; empty when whoever built the trace did not say. */
    public String format() {
        return format;
    }

    /** The device whose memory it is, as the file names it; empty when the file names none. */
    public String device() {
        return device;
    }

    /** Bytes that are out when the trace begins; 0 when it starts with nothing allocated. */
    public long liveBeforeBytes() {
        return liveBefore;
    }

    /** Events. */
    public int count() {
        return count;
    }

    /** Blocks. */
    public int blockCount() {
        return blockCount;
    }

    /** Streams. */
    public int streamCount() {
        return streamCount;
    }

    /** The first so many events only set up what was live before the trace began. */
    public int eventsBefore() {
        return before;
    }

    /** Allocations. */
    public long allocations() {
        return allocations;
    }

    /** Frees. */
    public long frees() {
        return frees;
    }

    /** The most bytes that are out at one time: an outside count, which no allocator has a part in. */
    public long peakLiveBytes() {
        return peakLive;
    }

    /** The most bytes that the recorded allocator itself had reserved, -1 when the trace does not say. */
    public long recordedReservedPeak() {
        return recordedReservedPeak;
    }

    /** The event after which the most bytes are out for the first time. */
    public int peakEvent() {
        return peakEvent;
    }

    /** Whether the trace tells when events happened, not only in which order. */
    public boolean isTimed() {
        return timed;
    }

    /** What was odd about the file and how it was taken, each one sentence with the first line of its kind. */
    public List<String> notes() {
        return notes;
    }

    /** What an event is. */
    public Kind kind(int event) {
        return BY_CODE[kinds[event]];
    }

    /** Its block. */
    public int block(int event) {
        return blocks[event];
    }

    /** Bytes of its block; also for a free. */
    public long bytes(int event) {
        return bytes[event];
    }

    /** Its stream. */
    public int stream(int event) {
        return streams[event];
    }

    /** When it was recorded, ns from the trace's start. */
    public long nanos(int event) {
        return nanos[event];
    }
}
