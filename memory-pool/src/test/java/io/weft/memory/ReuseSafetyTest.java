// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.memory.replay.CountedPages;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random allocations, frees on any stream, and uses on others, against streams that lag behind by chance. A shadow keeps for every byte range the work that still
 * reads or writes it, and looks at each new block whether all of it is over or ordered before. The same shadow finds a pool that does not wait.
 */
class ReuseSafetyTest {
    private static final long SEED = 20261129;
    private static final int STREAMS = 5;

    /** Streams as counters: work issued, work done, and how far each stream is ordered behind each other one. */
    private static final class Streams implements StreamOrder {
        final long[] issued = new long[STREAMS];
        final long[] done = new long[STREAMS];
        /** {@code behind[a][b]}: later work of {@code a} starts after this much of {@code b}. */
        final long[][] behind = new long[STREAMS][STREAMS];

        final Map<Long, Long> marks = new java.util.HashMap<>();
        final int[] last = new int[STREAMS];
        final int[] passed = new int[STREAMS];
        final boolean honest;

        Streams(boolean honest) {
            this.honest = honest;
        }

        @Override
        public void record(int stream, int mark) {
            marks.put(((long) stream << 32) | mark, issued[stream]);
            last[stream] = mark;
        }

        @Override
        public int passed(int stream) {
            if (!honest) {
                return last[stream];
            }
            while (passed[stream] < last[stream]
                    && marks.get(((long) stream << 32) | (passed[stream] + 1)) <= done[stream]) {
                passed[stream]++;
            }
            return passed[stream];
        }

        @Override
        public void await(int stream, int other, int mark) {
            Long at = marks.get(((long) other << 32) | mark);
            assertNotNull(at, "a wait for a mark that was never recorded");
            behind[stream][other] = Math.max(behind[stream][other], at);
        }

        @Override
        public void synchronize() {
            System.arraycopy(issued, 0, done, 0, STREAMS);
        }
    }

    /** What still touches a range: its end, and by stream the last work that does. */
    private static final class Range {
        private final long end;
        private final long[] work;

        Range(long end, long[] work) {
            this.end = end;
            this.work = work;
        }

        long end() {
            return end;
        }

        long[] work() {
            return work;
        }
    }

    private static String run(long operations, boolean honest, PoolOptions options, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Streams streams = new Streams(honest);
        PoolCore core = new PoolCore(new CountedPages(1L << 30, true), streams, options);
        TreeMap<Long, Range> shadow = new TreeMap<>();
        long[] address = new long[400];
        long[] size = new long[400];
        int[] home = new int[400];
        long[][] work = new long[400][];
        int[] out = new int[400];
        int outCount = 0;
        int[] spare = new int[400];
        for (int i = 0; i < spare.length; i++) {
            spare[i] = i;
        }
        int spareCount = spare.length;
        for (long operation = 0; operation < operations; operation++) {
            int dice = random.nextInt(100);
            if (dice < 45 && spareCount > 0) {
                int stream = random.nextInt(STREAMS);
                long bytes = random.nextInt(10) < 7
                        ? 1 + (long) Math.pow(2, random.nextDouble() * 20)
                        : (1 << 20) + random.nextInt(6 << 20);
                long at = core.allocate(bytes, stream);
                if (at < 0) {
                    continue;
                }
                String fault = check(shadow, at, bytes, stream, streams);
                if (fault != null) {
                    return "operation " + operation + ": " + fault;
                }
                int slot = spare[--spareCount];
                address[slot] = at;
                size[slot] = bytes;
                home[slot] = stream;
                work[slot] = new long[STREAMS];
                work[slot][stream] = ++streams.issued[stream];
                out[outCount++] = slot;
            } else if (dice < 55 && outCount > 0) {
                int slot = out[random.nextInt(outCount)];
                int stream = random.nextInt(STREAMS);
                core.recordUse(address[slot], stream);
                work[slot][stream] = ++streams.issued[stream];
            } else if (dice < 94 && outCount > 0) {
                int pick = random.nextInt(outCount);
                int slot = out[pick];
                out[pick] = out[--outCount];
                int stream = home[slot];
                if (random.nextInt(4) == 0) {
                    // Freed elsewhere: the program orders that stream behind the home stream first, as it must.
                    stream = random.nextInt(STREAMS);
                    if (stream != home[slot]) {
                        streams.behind[stream][home[slot]] = streams.issued[home[slot]];
                        work[slot][stream] = ++streams.issued[stream];
                        work[slot][home[slot]] = 0;
                    }
                }
                core.free(address[slot], stream);
                shadow.put(address[slot], new Range(address[slot] + size[slot], work[slot]));
                spare[spareCount++] = slot;
            } else if (dice < 99) {
                int stream = random.nextInt(STREAMS);
                streams.done[stream] +=
                        (long) (random.nextDouble() * (streams.issued[stream] - streams.done[stream] + 1));
            } else if (random.nextInt(20) == 0) {
                core.nextIteration(operation * 1000);
            } else if (random.nextInt(200) == 0) {
                core.trim();
            }
        }
        for (int i = 0; i < outCount; i++) {
            core.free(address[out[i]], home[out[i]]);
        }
        core.synchronize();
        PoolStatistics end = core.statistics();
        assertEquals(0, end.liveBuffers());
        assertEquals(0, end.allocatedBytes());
        core.trim();
        assertEquals(0, core.reservedBytes(), "everything goes back");
        return null;
    }

    private static String check(NavigableMap<Long, Range> shadow, long at, long bytes, int stream, Streams streams) {
        Map.Entry<Long, Range> before = shadow.floorEntry(at);
        long from = before != null && before.getValue().end() > at ? before.getKey() : at;
        for (var entries =
                        shadow.subMap(from, true, at + bytes, false).entrySet().iterator();
                entries.hasNext(); ) {
            var entry = entries.next();
            if (entry.getValue().end() <= at) {
                continue;
            }
            for (int other = 0; other < STREAMS; other++) {
                long last = entry.getValue().work()[other];
                if (other != stream && last > streams.done[other] && last > streams.behind[stream][other]) {
                    return "block at " + at + " on stream " + stream + " reuses memory which work " + last
                            + " of stream " + other + " still touches (done " + streams.done[other] + ")";
                }
            }
            entries.remove();
        }
        return null;
    }

    @Test
    void findsNoPrematureReuseInAMillionOperations() {
        assertNull(run(1_000_000, true, options(false), SEED), () -> "seed " + SEED);
    }

    @Test
    void findsNoPrematureReuseWithInsertedWaits() {
        assertNull(run(300_000, true, options(true), SEED + 1), () -> "seed " + (SEED + 1));
    }

    @Test
    void findsNoPrematureReuseUnderAHardLimit() {
        PoolOptions tight = options(true).withLimits(64L << 20, 96L << 20);
        assertNull(run(300_000, true, tight, SEED + 2), () -> "seed " + (SEED + 2));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void findsAPoolThatDoesNotWaitForEvents(long seed) {
        String fault = run(1_000_000, false, options(false), seed);
        assertNotNull(fault, "the check must be able to fail");
        assertTrue(fault.contains("still touches"), fault);
    }

    private static PoolOptions options(boolean waits) {
        return PoolOptions.defaults()
                .withSegmentBytes(PoolOptions.SEGMENT_STEP)
                .withWaitAcrossStreams(waits)
                .withIdleNanos(1000);
    }
}
