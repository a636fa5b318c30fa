// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.memory;

import io.weft.memory.PoolCore;
import io.weft.memory.PoolOptions;
import io.weft.memory.StreamOrder;
import io.weft.memory.replay.CountedPages;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Hours of training in virtual time, whose sequence length is drawn anew in each iteration around a mean that drifts up and down by 30 % every 40 minutes. One
 * iteration takes half a second: 64 layers each keep an activation until the way back, and use work space and a small buffer in between. What is live is counted
 * here and not by the pool.
 */
public final class PoolSoak {
    /** Iterations in an hour. */
    public static final int HOUR = 7200;

    private static final long ITERATION_NANOS = 500_000_000L;
    private static final int LAYERS = 64;
    private static final double DRIFT_ITERATIONS = 4800;

    /**
     * One hour.
     *
     * @param peakLiveBytes most bytes that were asked for and out at one time in this hour
     * @param peakReservedBytes most bytes that the pool held in this hour
     * @param deviceCalls how often it asked the device for memory or gave some back
     */
    public record Hour(long peakLiveBytes, long peakReservedBytes, long deviceCalls) {
        /** Share of what was held at most that was never needed, within this hour. */
        public double fragmentation() {
            return 1 - (double) peakLiveBytes / peakReservedBytes;
        }
    }

    private final CountedPages pages = new CountedPages(1L << 42, true);
    private final PoolCore core = new PoolCore(
            pages, StreamOrder.immediate(), PoolOptions.defaults().withSegmentBytes(PoolOptions.SEGMENT_STEP));
    private final SplittableRandom random;
    private final List<Hour> hours = new ArrayList<>();
    private final long[] at = new long[LAYERS];
    private long iteration;
    private long live;
    private long peakLive;

    /** A soak that has not begun. */
    public PoolSoak(long seed) {
        this.random = new SplittableRandom(seed);
    }

    /** What the hours so far were like. */
    public List<Hour> hours() {
        return List.copyOf(hours);
    }

    /** Lets one more hour pass. */
    public Hour hour(int iterations) {
        long callsBefore = pages.calls();
        pages.forgetPeak();
        peakLive = 0;
        for (int i = 0; i < iterations; i++) {
            iterate();
        }
        Hour hour = new Hour(peakLive, pages.peakHeldBytes(), pages.calls() - callsBefore);
        hours.add(hour);
        return hour;
    }

    private void iterate() {
        double drift = 1 + 0.3 * Math.sin(2 * Math.PI * iteration / DRIFT_ITERATIONS);
        long length = (long) (drift * (300 + random.nextInt(100)));
        for (int layer = 0; layer < LAYERS; layer++) {
            at[layer] = allocate(activation(length, layer));
            passing(length * 7 * 512);
            passing(1 + random.nextInt(100_000));
        }
        for (int layer = LAYERS - 1; layer >= 0; layer--) {
            core.free(at[layer], 0);
            live -= activation(length, layer);
        }
        core.nextIteration(++iteration * ITERATION_NANOS);
    }

    private static long activation(long length, int layer) {
        return length * (16 + layer % 5) * 512;
    }

    private void passing(long bytes) {
        core.free(allocate(bytes), 0);
        live -= bytes;
    }

    private long allocate(long bytes) {
        long address = core.allocate(bytes, 0);
        if (address < 0) {
            throw new IllegalStateException("refused " + bytes + " bytes in iteration " + iteration);
        }
        live += bytes;
        peakLive = Math.max(peakLive, live);
        return address;
    }

    /** Hands everything back and returns the bytes that the pool still holds. */
    public long close() {
        core.trim();
        return pages.heldBytes();
    }

    /** Runs so many hours and prints each. */
    static void print(int count) {
        PoolSoak soak = new PoolSoak(72);
        System.out.println("| hour | peak live, MB | peak reserved, MB | fragmentation, % | device calls |");
        System.out.println("|---:|---:|---:|---:|---:|");
        for (int number = 1; number <= count; number++) {
            Hour hour = soak.hour(HOUR);
            System.out.printf(
                    "| %d | %.1f | %.1f | %.2f | %d |%n",
                    number,
                    hour.peakLiveBytes() / 1e6,
                    hour.peakReservedBytes() / 1e6,
                    100 * hour.fragmentation(),
                    hour.deviceCalls());
        }
        long growth =
                soak.hours.stream().mapToLong(Hour::peakReservedBytes).max().orElse(0)
                        - soak.hours.getFirst().peakReservedBytes();
        double worst =
                soak.hours.stream().mapToDouble(Hour::fragmentation).max().orElse(0);
        System.out.printf(
                "%d virtual hours, %d iterations: worst hour %.2f %%, growth after the first hour %d bytes, %d bytes left at close%n",
                count, soak.iteration, 100 * worst, growth, soak.close());
    }
}
