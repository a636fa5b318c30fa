// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import java.util.Arrays;

/** Replays a trace through a target. */
public final class Replay {
    private static final long NOWHERE = -1;

    private final Trace trace;
    private final ReplayTarget target;
    private final long[] addresses;
    private final byte[] kinds;
    private final int[] blocks;
    private final long[] bytes;
    private final int[] streams;
    private long refusals;

    private Replay(Trace trace, ReplayTarget target) {
        this.trace = trace;
        this.target = target;
        this.addresses = new long[trace.blockCount()];
        int count = trace.count();
        this.kinds = new byte[count];
        this.blocks = new int[count];
        this.bytes = new long[count];
        this.streams = new int[count];
        for (int i = 0; i < count; i++) {
            kinds[i] = trace.kind(i).code;
            blocks[i] = trace.block(i);
            bytes[i] = trace.bytes(i);
            streams[i] = trace.stream(i);
        }
    }

    /** The number of passes that gives steady figures in about a second. */
    public static final int DEFAULT_PASSES = 31;

    /**
     * Replays a trace several times; each pass starts with everything free and ends as one iteration. What was live before the trace is set up first and is not
     * counted in times.
     *
     * @param passes 3 or more: the first is cold, the last times single events
     */
    public static ReplayReport run(Trace trace, ReplayTarget target, int passes) {
        if (passes < 3) {
            throw new IllegalArgumentException("passes must be 3 or more, not " + passes);
        }
        return new Replay(trace, target).run(passes);
    }

    private ReplayReport run(int passes) {
        int first = trace.eventsBefore();
        int count = trace.count();
        double[] perEvent = new double[passes - 1];
        double cold = 0;
        long callsCold = 0;
        long peakCold = 0;
        long plannedBefore = 0;
        long[] single = new long[count - first];
        for (int pass = 0; pass < passes; pass++) {
            Arrays.fill(addresses, NOWHERE);
            play(0, first);
            if (pass == passes - 1) {
                plannedBefore = target.plannedAllocations();
                playTimed(first, count, single);
            } else {
                long start = target.nanoTime();
                play(first, count);
                double nanos = (double) (target.nanoTime() - start) / Math.max(1, count - first);
                if (pass == 0) {
                    cold = nanos;
                } else {
                    perEvent[pass - 1] = nanos;
                }
            }
            if (pass == passes - 1) {
                plannedBefore = target.plannedAllocations() - plannedBefore;
            }
            if (pass == 0) {
                peakCold = target.peakReservedBytes();
            }
            freeRest();
            target.nextIteration();
            if (pass == 0) {
                callsCold = target.deviceCalls();
            }
        }
        double[] warm = Arrays.copyOf(perEvent, passes - 2);
        Arrays.sort(warm);
        Arrays.sort(single);
        long clock = clockNanos();
        double p99 = single.length == 0 ? 0 : Math.max(0, single[(int) (single.length * 0.99)] - clock);
        return new ReplayReport(
                trace.name(),
                target.name(),
                count - first,
                trace.allocations(),
                trace.frees(),
                passes,
                cold,
                warm[warm.length / 2],
                p99,
                trace.peakLiveBytes(),
                target.peakReservedBytes(),
                callsCold,
                target.deviceCalls() - callsCold,
                target.retries(),
                refusals,
                trace.allocations() == 0 ? 0 : (double) plannedBefore / trace.allocations(),
                peakCold,
                trace.recordedReservedPeak());
    }

    private void play(int from, int to) {
        for (int i = from; i < to; i++) {
            step(i);
        }
    }

    private void playTimed(int from, int to, long[] single) {
        for (int i = from; i < to; i++) {
            long start = target.nanoTime();
            step(i);
            single[i - from] = target.nanoTime() - start;
        }
    }

    private void step(int event) {
        int block = blocks[event];
        switch (kinds[event]) {
            case 0 -> {
                long size = bytes[event];
                long address = size == 0 ? NOWHERE : target.allocate(size, streams[event]);
                if (address < 0 && size != 0) {
                    refusals++;
                }
                addresses[block] = address;
            }
            case 1 -> {
                long address = addresses[block];
                if (address >= 0) {
                    target.free(address, streams[event]);
                    addresses[block] = NOWHERE;
                }
            }
            case 2 -> {
                if (addresses[block] >= 0) {
                    target.recordUse(addresses[block], streams[event]);
                }
            }
            default -> target.nextIteration();
        }
    }

    private void freeRest() {
        int[] freeOn = new int[addresses.length];
        for (int i = 0; i < kinds.length; i++) {
            freeOn[blocks[i]] = streams[i];
        }
        for (int block = 0; block < addresses.length; block++) {
            if (addresses[block] >= 0) {
                target.free(addresses[block], freeOn[block]);
                addresses[block] = NOWHERE;
            }
        }
    }

    /** What reading the clock costs, which single-event times contain. */
    private long clockNanos() {
        long[] costs = new long[1001];
        for (int i = 0; i < costs.length; i++) {
            long start = target.nanoTime();
            costs[i] = target.nanoTime() - start;
        }
        Arrays.sort(costs);
        return costs[costs.length / 2];
    }
}
