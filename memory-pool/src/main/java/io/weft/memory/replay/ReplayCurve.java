// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import java.util.Arrays;
import java.util.List;

/**
 * How much is out and how much a target holds over one pass of a trace, and what the target's memory looks like when the most is out. Each sample is the most
 * within its share of the pass. Immutable.
 */
public final class ReplayCurve {
    private static final long NOWHERE = -1;

    private final String target;
    private final boolean timed;
    private final long first;
    private final long last;
    private final long[] live;
    private final long[] reserved;
    private final List<ReplayPiece> atPeak;

    private ReplayCurve(
            String target,
            boolean timed,
            long first,
            long last,
            long[] live,
            long[] reserved,
            List<ReplayPiece> atPeak) {
        this.target = target;
        this.timed = timed;
        this.first = first;
        this.last = last;
        this.live = live;
        this.reserved = reserved;
        this.atPeak = List.copyOf(atPeak);
    }

    /** The target's name. */
    public String target() {
        return target;
    }

    /** Whether samples are spread over time, ns, or over events. */
    public boolean timed() {
        return timed;
    }

    /** Where the first sample begins, ns or event. */
    public long first() {
        return first;
    }

    /** Where the last sample ends. */
    public long last() {
        return last;
    }

    /** Bytes out, by the trace. */
    public long[] live() {
        return live.clone();
    }

    /** Bytes held from the device. */
    public long[] reserved() {
        return reserved.clone();
    }

    /** The target's memory after the event with which the most is out, in address order. */
    public List<ReplayPiece> atPeak() {
        return atPeak;
    }

    /**
     * Replays a trace once.
     *
     * @param target a fresh one
     * @param samples 1 or more
     */
    public static ReplayCurve of(Trace trace, ReplayTarget target, int samples) {
        int begin = trace.eventsBefore();
        long first = trace.isTimed() && begin < trace.count() ? trace.nanos(begin) : begin;
        long last = first;
        for (int event = begin; event < trace.count(); event++) {
            long at = trace.isTimed() ? trace.nanos(event) : event;
            first = Math.min(first, at);
            last = Math.max(last, at);
        }
        long[] live = new long[samples];
        long[] reserved = new long[samples];
        Arrays.fill(live, NOWHERE);
        long[] addresses = new long[trace.blockCount()];
        Arrays.fill(addresses, NOWHERE);
        List<ReplayPiece> peak = List.of();
        long out = 0;
        int sample = 0;
        for (int event = 0; event < trace.count(); event++) {
            out += step(trace, target, event, addresses);
            if (event == trace.peakEvent()) {
                peak = target.pieces();
            }
            long at = Math.max(first, trace.isTimed() ? trace.nanos(event) : event);
            // Times of several threads may step back a little; a sample stays where it is then.
            int wanted =
                    last == first ? 0 : (int) Math.min(samples - 1, (double) (at - first) / (last - first) * samples);
            sample = Math.max(sample, wanted);
            live[sample] = Math.max(live[sample], out);
            reserved[sample] = Math.max(reserved[sample], target.reservedBytes());
        }
        for (int i = 0; i < samples; i++) {
            if (live[i] == NOWHERE) { // nothing happened in this share
                live[i] = i == 0 ? 0 : live[i - 1];
                reserved[i] = i == 0 ? 0 : reserved[i - 1];
            }
        }
        return new ReplayCurve(target.name(), trace.isTimed(), first, last, live, reserved, peak);
    }

    /** Does one event and gives the change of what is out. */
    private static long step(Trace trace, ReplayTarget target, int event, long[] addresses) {
        int block = trace.block(event);
        long bytes = trace.bytes(event);
        int stream = trace.stream(event);
        switch (trace.kind(event)) {
            case ALLOCATE -> {
                addresses[block] = bytes == 0 ? NOWHERE : target.allocate(bytes, stream);
                return bytes;
            }
            case FREE -> {
                if (addresses[block] >= 0) {
                    target.free(addresses[block], stream);
                    addresses[block] = NOWHERE;
                }
                return -bytes;
            }
            case USE -> {
                if (addresses[block] >= 0) {
                    target.recordUse(addresses[block], stream);
                }
                return 0;
            }
            case ITERATION -> target.nextIteration();
        }
        return 0;
    }
}
