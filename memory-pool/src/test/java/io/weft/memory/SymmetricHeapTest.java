// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class SymmetricHeapTest {
    private static final long MB = 1L << 20;
    /** More than ranks of one process are apart on any machine. */
    private static final Duration AMPLE = Duration.ofMinutes(4);

    private final FakePlatform fake = new FakePlatform(4, 64 * MB, false, true);

    private SymmetricHeap heap(Duration timeout) {
        return SymmetricHeap.open(fake.platform.devices(), 32 * MB, timeout);
    }

    /** Runs each rank in a thread and returns what each threw, null for nothing. */
    private static List<AcceleratorException> onEveryRank(SymmetricHeap heap, Consumer<SymmetricHeap.Rank> body) {
        AcceleratorException[] thrown = new AcceleratorException[4];
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            SymmetricHeap.Rank rank = heap.rank(i);
            threads.add(Thread.ofVirtual().start(() -> {
                try {
                    body.accept(rank);
                } catch (AcceleratorException error) {
                    thrown[rank.number()] = error;
                }
            }));
        }
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException interrupted) {
                throw new AssertionError(interrupted);
            }
        }
        return java.util.Arrays.asList(thrown);
    }

    @Test
    void aPoolOverABlockOfTheHeapGivesBuffersThatPeersReach() {
        SymmetricHeap heap = heap(AMPLE);
        List<AcceleratorException> thrown = onEveryRank(heap, rank -> {
            long block = rank.allocate(16 * MB, 2 * MB);
            io.weft.api.Stream stream = rank.device().createStream();
            try (DevicePool pool = DevicePool.open(
                    rank.device(), SegmentSource.symmetric(rank, block, 16 * MB), PoolOptions.defaults())) {
                for (long bytes : new long[] {100, 70_000, 3 * MB}) {
                    try (io.weft.api.Buffer buffer = pool.allocate(bytes, stream)) {
                        long offset = rank.offsetOf(buffer);
                        assertTrue(offset >= block && offset + bytes <= block + 16 * MB, () -> "offset " + offset);
                        for (int other = 0; other < 4; other++) {
                            assertEquals(
                                    rank.peer(other, block, 1).address() + offset - block,
                                    rank.peer(other, offset, bytes).address());
                        }
                        assertEquals(buffer.address(), rank.local(offset, bytes).address());
                    }
                }
                assertTrue(pool.tryAllocate(17 * MB, stream).code() == PoolResult.Code.DEVICE_EXHAUSTED);
            }
            rank.free(block);
        });
        thrown.forEach(org.junit.jupiter.api.Assertions::assertNull);
        heap.close();
    }

    @Test
    void aSymmetricBlockOutOfStepIsRefused() {
        SymmetricHeap heap = heap(AMPLE);
        List<AcceleratorException> thrown = onEveryRank(heap, rank -> {
            rank.allocate(4 * MB, 2 * MB);
            SegmentSource.symmetric(rank, 0, 3 * MB).close();
        });
        thrown.forEach(error -> assertEquals(ErrorCode.MISALIGNED, error.code()));
    }

    @Test
    void theSameCallsGiveTheSameOffsetsOnEveryRank() {
        SymmetricHeap heap = heap(AMPLE);
        long[][] offsets = new long[4][200];
        List<AcceleratorException> thrown = onEveryRank(heap, rank -> {
            SplittableRandom random = new SplittableRandom(7);
            List<Long> live = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                if (live.size() > 5 && random.nextInt(2) == 0) {
                    rank.free(live.remove(random.nextInt(live.size())));
                } else {
                    long at = rank.allocate(1 + random.nextInt(1 << 20), 1L << random.nextInt(13));
                    live.add(at);
                    offsets[rank.number()][i] = at;
                }
            }
            live.forEach(rank::free);
        });
        thrown.forEach(error -> assertNull(error, "seed 7"));
        for (int rank = 1; rank < 4; rank++) {
            assertTrue(java.util.Arrays.equals(offsets[0], offsets[rank]));
        }
        heap.close();
        fake.devices.forEach(device -> assertEquals(0, device.held));
    }

    @Test
    void aDifferentSizeIsNamedOnEveryRankWithRoundAndRank() {
        SymmetricHeap heap = heap(AMPLE);
        List<AcceleratorException> thrown = onEveryRank(heap, rank -> {
            rank.barrier();
            rank.allocate(rank.number() == 2 ? 2000 : 1000);
        });
        for (AcceleratorException error : thrown) {
            assertNotNull(error);
            assertEquals(ErrorCode.COLLECTIVE_MISMATCH, error.code());
            assertTrue(error.getMessage().contains("round 2: rank 2 calls allocate(2000 bytes"), error.getMessage());
        }
    }

    @Test
    void aDifferentOrderIsNamed() {
        SymmetricHeap heap = heap(AMPLE);
        List<AcceleratorException> thrown = onEveryRank(heap, rank -> {
            long offset = rank.allocate(1000);
            if (rank.number() == 3) {
                rank.barrier();
            } else {
                rank.free(offset);
            }
        });
        thrown.forEach(error -> assertTrue(
                error.getMessage().contains("rank 3 calls barrier(), rank 0 calls free(offset 0)"),
                error.getMessage()));
    }

    @Test
    void aRankThatDoesNotComeIsNamedWithinTheTimeout() {
        // A short limit only once all are through round 1: a slow machine must not fail that one.
        AtomicReference<Duration> limit = new AtomicReference<>(Duration.ofHours(1));
        SymmetricHeap heap = SymmetricHeap.open(fake.platform.devices(), 32 * MB, limit::get);
        CyclicBarrier through = new CyclicBarrier(4, () -> limit.set(Duration.ofMillis(20)));
        List<AcceleratorException> thrown = onEveryRank(heap, rank -> {
            rank.allocate(100);
            meet(through);
            if (rank.number() != 1) {
                rank.allocate(100);
            }
        });
        assertNull(thrown.get(1));
        for (int rank : new int[] {0, 2, 3}) {
            assertEquals(ErrorCode.TIMEOUT, thrown.get(rank).code());
            assertTrue(
                    thrown.get(rank).getMessage().contains("rank 1 was last in round 1"),
                    thrown.get(rank).getMessage());
        }
    }

    private static void meet(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException stopped) {
            throw new AssertionError(stopped);
        }
    }

    @Test
    void aRoundThatIsCompleteIsCompleteAlsoForARankThatWakesUpLate() {
        for (int attempt = 0; attempt < 300; attempt++) {
            SymmetricHeap heap = heap(Duration.ofHours(1));
            List<AcceleratorException> thrown = onEveryRank(heap, rank -> {
                rank.barrier();
                if (rank.number() == 1) {
                    rank.leave("its process ended");
                } else if (rank.number() != 2) {
                    rank.barrier();
                }
            });
            assertNull(thrown.get(2), "attempt " + attempt);
            heap.close();
        }
    }

    @Test
    void aRankThatDiesIsNamedAtOnce() {
        SymmetricHeap heap = heap(Duration.ofHours(1));
        List<AcceleratorException> thrown = onEveryRank(heap, rank -> {
            rank.allocate(100);
            if (rank.number() == 1) {
                rank.leave("its process ended");
            } else {
                rank.allocate(100);
            }
        });
        for (int rank : new int[] {0, 2, 3}) {
            assertEquals(ErrorCode.ABORTED, thrown.get(rank).code());
            assertTrue(
                    thrown.get(rank).getMessage().contains("rank 1 is gone (its process ended)"),
                    thrown.get(rank).getMessage());
        }
    }

    @Test
    void exhaustionIsTheSameOnEveryRankAndTheHeapGoesOn() {
        SymmetricHeap heap = heap(AMPLE);
        List<AcceleratorException> thrown = onEveryRank(heap, rank -> {
            AcceleratorException error = assertThrows(AcceleratorException.class, () -> rank.allocate(33 * MB));
            assertEquals(ErrorCode.OUT_OF_MEMORY, error.code());
            rank.free(rank.allocate(32 * MB));
        });
        thrown.forEach(error -> assertNull(error));
    }

    @Test
    void windowsAreAlignedAsTheBackendAsksAndPeersAreReachedByOffset() {
        for (long alignment : new long[] {4096, 2 * MB}) {
            SymmetricHeap heap = SymmetricHeap.open(fake.platform.devices(), 8 * MB, alignment, AMPLE);
            List<AcceleratorException> thrown = onEveryRank(heap, rank -> {
                long small = rank.allocate(100);
                long offset = rank.allocate(2 * MB, alignment);
                assertEquals(2 * MB, rank.window(offset, 2 * MB).bytes());
                assertEquals(
                        rank.local(offset, 8).address()
                                - rank.local(offset, 8).memory().address(),
                        rank.peer(3, offset, 8).address()
                                - rank.peer(3, offset, 8).memory().address());
                assertEquals(
                        ErrorCode.MISALIGNED,
                        assertThrows(AcceleratorException.class, () -> rank.window(small, 100))
                                .code());
                rank.free(small);
                rank.free(offset);
            });
            thrown.forEach(error -> assertNull(error, () -> String.valueOf(error)));
            heap.close();
        }
    }
}
