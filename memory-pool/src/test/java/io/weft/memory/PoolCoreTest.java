// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.memory.replay.CountedPages;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The core in numbers; the links name the report whose fault the test would find in this pool. */
class PoolCoreTest {
    private static final long MB = 1L << 20;

    private static PoolOptions options() {
        return PoolOptions.defaults().withSegmentBytes(2 * MB);
    }

    private static PoolCore core(boolean contiguous, long limit) {
        return new PoolCore(new CountedPages(limit, contiguous), StreamOrder.immediate(), options());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noTwoBlocksThatAreOutOverlap(boolean contiguous) {
        long seed = 11;
        SplittableRandom random = new SplittableRandom(seed);
        PoolCore core = core(contiguous, 1L << 40);
        TreeMap<Long, Long> out = new TreeMap<>();
        List<Long> order = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            if (order.size() < 50 || (order.size() < 2000 && random.nextInt(100) < 52)) {
                long bytes = 1 + (long) Math.pow(2, random.nextDouble() * 23);
                long at = core.allocate(bytes, 0);
                var before = out.floorEntry(at);
                assertFalse(before != null && before.getKey() + before.getValue() > at, () -> "seed " + seed);
                var after = out.ceilingEntry(at);
                assertFalse(after != null && at + bytes > after.getKey(), () -> "seed " + seed);
                out.put(at, bytes);
                order.add(at);
            } else {
                int pick = random.nextInt(order.size());
                long at = order.get(pick);
                order.set(pick, order.getLast());
                order.removeLast();
                out.remove(at);
                core.free(at, 0);
            }
            if (i % 50_000 == 49_999) {
                core.nextIteration(i);
            }
        }
        order.forEach(at -> core.free(at, 0));
        core.trim();
        assertEquals(0, core.reservedBytes());
        assertEquals(0, core.statistics().usedBytes());
    }

    @Test
    void everySizeFitsItsClassAndWastesAtMostAnEighthAboveTheFloor() {
        SizeClasses classes = new SizeClasses(128);
        for (int bytes = 1; bytes <= SizeClasses.MAX_SMALL; bytes++) {
            int size = classes.size(classes.classOf(bytes));
            assertTrue(size >= bytes);
            assertTrue(bytes < 1024 || size - bytes <= bytes / 8.0, bytes + " in " + size);
            assertTrue(classes.classOf(bytes) == 0 || classes.size(classes.classOf(bytes) - 1) < bytes);
            assertEquals(0, size % (bytes > 4096 ? 512 : 128));
        }
    }

    /** https://github.com/matrixorigin/matrixone/pull/9812 */
    @ParameterizedTest
    @ValueSource(longs = {1, 100, 4096, 1 << 20, (1 << 20) + 1, 5 << 20})
    void aDoubleFreeIsNamedForEverySize(long bytes) {
        PoolCore core = core(true, 1L << 40);
        long keep = core.allocate(bytes, 0);
        long at = core.allocate(bytes, 0);
        core.free(at, 0);
        AcceleratorException error = assertThrows(AcceleratorException.class, () -> core.free(at, 0));
        assertEquals(ErrorCode.CLOSED, error.code());
        core.free(keep, 0);
        assertEquals(0, core.statistics().liveBuffers());
    }

    @Test
    void twoThreadsThatFreeTheSameBlockAtOnceAreToldApart() throws InterruptedException {
        PoolCore core = core(true, 1L << 40);
        AtomicInteger refused = new AtomicInteger();
        int rounds = 2000;
        long[] at = new long[rounds];
        for (int i = 0; i < rounds; i++) {
            at[i] = core.allocate(i % 2 == 0 ? 100 : 2 * MB, 0);
        }
        Runnable freeing = () -> {
            for (long address : at) {
                try {
                    core.free(address, 0);
                } catch (AcceleratorException error) {
                    refused.incrementAndGet();
                }
            }
        };
        Thread one = Thread.ofPlatform().start(freeing);
        Thread two = Thread.ofPlatform().start(freeing);
        one.join();
        two.join();
        assertEquals(rounds, refused.get());
        assertEquals(0, core.statistics().liveBuffers());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 64, 129, -1, Long.MIN_VALUE, 1L << 50, (1L << 14) + 1})
    void aForeignAddressIsNamed(long offset) {
        PoolCore core = core(true, 1L << 40);
        long at = core.allocate(100, 0);
        AcceleratorException error =
                assertThrows(AcceleratorException.class, () -> core.free(offset < 0 ? offset : at + offset, 0));
        assertEquals(ErrorCode.INVALID_ARGUMENT, error.code());
        core.free(at, 0);
    }

    /** https://github.com/pytorch/pytorch/issues/35901, https://github.com/netty/netty/issues/16827 */
    @Test
    void smallLongLivedBlocksDoNotSpoilTheRangeForLargeOnes() {
        PoolCore core = core(true, 1L << 40);
        long large = core.allocate(512 * MB, 0);
        core.free(large, 0);
        List<Long> small = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            small.add(core.allocate(1000 + i, 0));
            core.free(core.allocate(3 * MB, 0), 0);
        }
        long again = core.allocate(500 * MB, 0);
        assertTrue(core.reservedBytes() <= 516 * MB, () -> core.statistics().toString());
        core.free(again, 0);
        small.forEach(at -> core.free(at, 0));
    }

    /** https://github.com/rapidsai/rmm/issues/1245, https://github.com/NVIDIA/cudf-spark/issues/4045 */
    @Test
    void aRequestThatFitsTheFreeMemoryIsServedHoweverThatIsScattered() {
        PoolCore core = core(true, 100 * MB);
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            all.add(core.allocate(2 * MB, 0));
        }
        for (int i = 0; i < 50; i += 2) {
            core.free(all.get(i), 0);
        }
        long at = core.allocate(48 * MB, 0);
        assertTrue(at >= 0, () -> core.statistics().toString());
    }

    /** https://github.com/rapidsai/rmm/issues/1664 */
    @Test
    void aPoolAtItsLimitFromTheStartServesTwoHalves() {
        PoolCore core = new PoolCore(
                new CountedPages(1L << 40, true),
                StreamOrder.immediate(),
                options().withLimits(64 * MB, 64 * MB).withSegmentBytes(64 * MB));
        long first = core.allocate(32 * MB, 0);
        assertTrue(core.allocate(32 * MB, 0) >= 0);
        assertEquals(PoolCore.LIMIT_REACHED, core.allocate(2 * MB, 0));
        core.free(first, 0);
    }

    /** https://github.com/rapidsai/rmm/issues/75, https://github.com/rapidsai/rmm/issues/1421 */
    @Test
    void pieceByPieceGrowthMergesIntoOneRange() {
        PoolCore core = core(true, 64 * MB);
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            all.add(core.allocate(2 * MB, 0));
        }
        all.forEach(at -> core.free(at, 0));
        assertEquals(64 * MB, core.largestFree());
        assertTrue(core.allocate(64 * MB, 0) >= 0);
    }

    /** https://github.com/llnl/Umpire/issues/906 */
    @Test
    void sizesThatAreNoMultipleOfTheAlignmentAreServedAgainFromTheSameMemory() {
        CountedPages pages = new CountedPages(1L << 40, true);
        PoolCore core = new PoolCore(pages, StreamOrder.immediate(), options().withAlignment(4096));
        for (int i = 0; i < 1000; i++) {
            core.free(core.allocate(5 * MB + 13, 0), 0);
            core.free(core.allocate(4097, 0), 0);
        }
        assertTrue(pages.calls() <= 8, () -> pages.calls() + " calls");
    }

    /** https://github.com/netty/netty/issues/15850, https://github.com/microsoft/mimalloc/issues/1117 */
    @Test
    void blocksFreedByAnotherThreadComeBack() throws InterruptedException {
        PoolCore core = core(true, 1L << 40);
        BlockingQueue<Long> handed = new ArrayBlockingQueue<>(500);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        int count = 100_000;
        Thread consumer = Thread.ofPlatform().start(() -> {
            try {
                for (int freed = 0; freed < count; freed++) {
                    core.free(handed.take(), 0);
                }
            } catch (RuntimeException | InterruptedException error) {
                failure.set(error);
            }
        });
        SplittableRandom random = new SplittableRandom(9);
        for (int i = 0; i < count && failure.get() == null; i++) {
            long at = core.allocate(1 + random.nextInt(20_000), 0);
            assertTrue(handed.offer(at, 10, TimeUnit.MINUTES), "nobody frees any more");
        }
        consumer.join();
        assertEquals(null, failure.get());
        assertEquals(0, core.statistics().liveBuffers());
        assertTrue(
                core.statistics().peakReservedBytes() < 128 * MB,
                () -> core.statistics().toString());
        core.trim();
        assertEquals(0, core.reservedBytes());
    }

    @Test
    void manyThreadsAndStreamsLeaveNothingBehind() throws InterruptedException {
        PoolCore core = core(true, 1L << 40);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < 4; number++) {
            int stream = number / 2;
            SplittableRandom random = new SplittableRandom(100 + number);
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    long[] at = new long[100];
                    java.util.Arrays.fill(at, -1);
                    for (int i = 0; i < 100_000; i++) {
                        int slot = random.nextInt(at.length);
                        if (at[slot] >= 0) {
                            core.free(at[slot], random.nextInt(10) == 0 ? 1 - stream : stream);
                        }
                        at[slot] = core.allocate(
                                random.nextInt(20) == 0 ? MB + random.nextInt(1 << 22) : 1 + random.nextInt(50_000),
                                stream);
                    }
                    for (long address : at) {
                        if (address >= 0) {
                            core.free(address, stream);
                        }
                    }
                } catch (Throwable error) {
                    failure.set(error);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(null, failure.get());
        core.synchronize();
        assertEquals(0, core.statistics().liveBuffers());
        assertEquals(0, core.statistics().usedBytes());
        core.trim();
        assertEquals(0, core.reservedBytes());
    }

    @Test
    void driftingIterationsDoNotFragmentThePoolOrMakeItGrow() {
        PoolCore core = core(true, 1L << 40);
        SplittableRandom random = new SplittableRandom(72);
        long afterWarmUp = 0;
        for (int iteration = 0; iteration < 600; iteration++) {
            long length = 100L + random.nextInt(iteration < 60 ? 400 : 380);
            long[] at = new long[40];
            for (int layer = 0; layer < at.length; layer++) {
                at[layer] = core.allocate(length * (16 + layer % 5) * 512, 0);
                core.free(core.allocate(length * 7 * 512, 0), 0);
            }
            for (int layer = at.length - 1; layer >= 0; layer--) {
                core.free(at[layer], 0);
            }
            core.nextIteration(iteration * 50_000_000L);
            if (iteration == 60) {
                afterWarmUp = core.statistics().peakReservedBytes();
            }
        }
        PoolStatistics end = core.statistics();
        assertEquals(afterWarmUp, end.peakReservedBytes(), "no growth");
        assertTrue(end.fragmentation() < 0.03, end::toString);
    }

    /** https://github.com/pytorch/pytorch/issues/152135 */
    @Test
    void memoryThatIsSoonWantedAgainIsKeptLongerAndMemoryThatIsNotGoesBack() {
        CountedPages pages = new CountedPages(1L << 40, true);
        PoolCore core = new PoolCore(pages, StreamOrder.immediate(), options());
        long now = 0;
        long callsBefore = 0;
        for (int swing = 0; swing < 20; swing++) {
            if (swing == 10) {
                callsBefore = pages.calls();
            }
            core.free(core.allocate(100 * MB, 0), 0);
            for (int quiet = 0; quiet < 10; quiet++) {
                now += 200_000_000L;
                core.free(core.allocate(10 * MB, 0), 0);
                core.nextIteration(now);
            }
        }
        assertEquals(callsBefore, pages.calls(), "a swinging need calls the device on and on");
        for (int quiet = 0; quiet < 5000; quiet++) {
            now += 200_000_000L;
            core.free(core.allocate(10 * MB, 0), 0);
            core.nextIteration(now);
        }
        assertTrue(core.reservedBytes() <= 12 * MB, () -> core.statistics().toString());
    }

    @Test
    void aThreadThatEndsKeepsNoMemory() throws InterruptedException {
        PoolCore core = core(true, 1L << 40);
        for (int i = 0; i < 40; i++) {
            int size = 1000 * (i + 1);
            Thread worker = Thread.ofPlatform().start(() -> {
                long[] at = new long[50];
                for (int block = 0; block < at.length; block++) {
                    at[block] = core.allocate(size, 0);
                }
                for (long address : at) {
                    core.free(address, 0);
                }
            });
            worker.join();
        }
        long now = 0;
        for (int i = 0; i < 8; i++) {
            now += 400_000_000L;
            core.nextIteration(now);
        }
        assertEquals(0, core.reservedBytes(), () -> core.statistics().toString());
    }

    @Test
    void theDeviceIsNotCalledAfterTheFirstIterationOfManyEqualOnes() {
        CountedPages pages = new CountedPages(1L << 40, true);
        PoolCore core = new PoolCore(pages, StreamOrder.immediate(), options());
        long afterFirst = 0;
        for (int iteration = 0; iteration < 12; iteration++) {
            SplittableRandom random = new SplittableRandom(5);
            List<Long> out = new ArrayList<>();
            for (int i = 0; i < 600; i++) {
                if (out.size() > 20 && random.nextInt(3) == 0) {
                    core.free(out.remove(random.nextInt(out.size())), 0);
                } else {
                    out.add(core.allocate((long) Math.pow(2, 9 + 15 * random.nextDouble()), 0));
                }
            }
            out.forEach(at -> core.free(at, 0));
            core.nextIteration(iteration * 1_000_000L);
            if (iteration == 0) {
                afterFirst = pages.calls();
            }
        }
        assertEquals(afterFirst, pages.calls());
    }

    /** Streams that pass their marks when they are told to. */
    private static final class Lagging implements StreamOrder {
        private final int[] recorded = new int[4];
        private final int[] passed = new int[4];

        void pass(int stream) {
            passed[stream] = recorded[stream];
        }

        @Override
        public void record(int stream, int mark) {
            recorded[stream] = mark;
        }

        @Override
        public int passed(int stream) {
            return passed[stream];
        }

        @Override
        public void await(int stream, int other, int mark) {}

        @Override
        public void synchronize() {
            System.arraycopy(recorded, 0, passed, 0, recorded.length);
        }
    }

    /** Two free blocks of stream 0 side by side, the first of which it has passed; stream 1 is known. */
    private static PoolCore freeSideBySide(long passedBytes, long freshBytes) {
        Lagging order = new Lagging();
        PoolCore core = new PoolCore(new CountedPages(1L << 40, true), order, options());
        core.allocate(2 * MB, 1);
        long passed = core.allocate(passedBytes, 0);
        long fresh = core.allocate(freshBytes, 0);
        core.allocate(2 * MB, 0);
        core.free(passed, 0);
        order.pass(0);
        core.giveBackIdle(0);
        core.free(fresh, 0);
        return core;
    }

    @Test
    void whatAStreamFreesJoinsWhatItHasPassedAndServesItAtOnce() {
        PoolCore core = freeSideBySide(8 * MB, 8 * MB);
        PoolStatistics before = core.statistics();
        assertTrue(core.allocate(16 * MB, 0) >= 0);
        assertEquals(before.tierMisses(), core.statistics().tierMisses());
        assertEquals(before.reservedBytes(), core.reservedBytes());
    }

    @Test
    void aSmallFreeKeepsNoLargePassedBlockFromOtherStreams() {
        PoolCore core = freeSideBySide(32 * MB, 4 * MB);
        long before = core.reservedBytes();
        assertTrue(core.allocate(32 * MB, 1) >= 0);
        assertEquals(before, core.reservedBytes(), "stream 1 could have had what stream 0 has passed");
    }

    @Test
    void whatAnotherStreamHasPassedServesEvenBehindWhatItHasNotPassed() {
        Lagging order = new Lagging();
        PoolCore core =
                new PoolCore(new CountedPages(1L << 40, true), order, options().withWaitAcrossStreams(false));
        core.allocate(2 * MB, 1);
        long fresh = core.allocate(8 * MB, 0);
        core.allocate(2 * MB, 0);
        long passed = core.allocate(8 * MB, 0);
        core.allocate(2 * MB, 0);
        core.free(passed, 0);
        order.pass(0);
        core.giveBackIdle(0);
        core.free(fresh, 0);
        assertEquals(passed, core.allocate(8 * MB, 1));
        assertEquals(0, core.statistics().retries());
    }

    @Test
    void newMemoryServesTheRequestItWasObtainedForBesideALargerBlockThatWaits() {
        Lagging order = new Lagging();
        PoolCore core =
                new PoolCore(new CountedPages(1L << 40, true), order, options().withWaitAcrossStreams(false));
        core.allocate(2 * MB, 1);
        long fresh = core.allocate(64 * MB, 0);
        core.free(fresh, 0);
        long got = core.allocate(4 * MB, 1);
        assertTrue(got >= 0, () -> "refused with " + got + " although nothing limits the pool");
        assertEquals(0, core.statistics().retries());
    }

    /** Memory by the megabyte: to whom it went last, and after which mark of that stream others may have it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noStreamGetsWhatAnotherHasNotPassedAndNoneIsRefused(boolean contiguous) {
        int streams = 4;
        Lagging order = new Lagging();
        PoolCore core = new PoolCore(
                new CountedPages(1L << 40, contiguous), order, options().withWaitAcrossStreams(false));
        SplittableRandom random = new SplittableRandom(5);
        int[] owner = new int[1 << 14];
        int[] mark = new int[1 << 14];
        List<long[]> out = new ArrayList<>();
        for (int i = 0; i < 40_000; i++) {
            int stream = random.nextInt(streams);
            int what = random.nextInt(100);
            if (what < 8) {
                order.pass(stream);
            } else if (what < 10) {
                core.giveBackIdle(i);
            } else if (what < 11) {
                core.trim();
            } else if (out.size() < 40 && what < 60) {
                long granted = 2L + random.nextInt(24);
                long at = core.allocate(granted * MB, stream);
                int step = i;
                assertTrue(at >= 0, () -> "refused at step " + step + " with " + at);
                for (int piece = (int) (at / MB); piece <= (at + granted * MB - 1) / MB; piece++) {
                    assertTrue(
                            mark[piece] == 0 || owner[piece] == stream || order.passed(owner[piece]) >= mark[piece],
                            () -> "step " + step);
                }
                out.add(new long[] {at, granted, stream});
            } else if (!out.isEmpty()) {
                long[] block = out.remove(random.nextInt(out.size()));
                int on = (int) block[2];
                // The mark that is recorded at the free or later.
                int before = order.recorded[on];
                core.free(block[0], on);
                for (int piece = (int) (block[0] / MB); piece <= (block[0] + block[1] * MB - 1) / MB; piece++) {
                    owner[piece] = on;
                    mark[piece] = before + 1;
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theRangeIsWholeAndBytesAddUpWhateverComesInWhateverOrder(boolean contiguous) {
        for (int seed = 0; seed < 12; seed++) {
            String where = "seed " + seed;
            Lagging order = new Lagging();
            // Every third pool is short of memory, so that pages move, blocks are waited for, and some requests are
            // refused.
            long device = seed % 3 == 1 ? 300 * MB : 1L << 40;
            PoolCore core = new PoolCore(new CountedPages(device, contiguous), order, options());
            SplittableRandom random = new SplittableRandom(seed);
            TreeMap<Long, long[]> out = new TreeMap<>();
            for (int i = 0; i < 4_000; i++) {
                int stream = random.nextInt(1 + seed % 4);
                int what = random.nextInt(100);
                if (what < 8) {
                    order.pass(stream);
                } else if (what < 10) {
                    core.nextIteration(i);
                } else if (what < 11) {
                    core.trim();
                } else if (out.size() < 40 && what < 60) {
                    long bytes = (2 + (long) random.nextInt(24)) * MB;
                    long at = core.allocate(bytes, stream);
                    if (at >= 0) {
                        var before = out.lowerEntry(at + bytes);
                        assertTrue(before == null || before.getKey() + before.getValue()[0] <= at, where);
                        out.put(at, new long[] {bytes, stream});
                    } else {
                        assertTrue(device < 1L << 40, where);
                    }
                } else if (!out.isEmpty()) {
                    long at = List.copyOf(out.keySet()).get(random.nextInt(out.size()));
                    core.free(at, (int) out.remove(at)[1]);
                }
                if (i % 200 == 0) {
                    addUp(
                            core,
                            out.values().stream().mapToLong(block -> block[0]).sum(),
                            where);
                }
            }
        }
    }

    private static void addUp(PoolCore core, long out, String where) {
        long end = 0;
        long held = 0;
        for (PoolCore.Piece piece : core.snapshot()) {
            assertEquals(end, piece.start(), where);
            end += piece.bytes();
            held += piece.use() == PoolCore.Use.VOID ? 0 : piece.bytes();
        }
        assertEquals(core.reservedBytes(), held, where);
        assertEquals(out, core.statistics().allocatedBytes(), where);
    }
}
