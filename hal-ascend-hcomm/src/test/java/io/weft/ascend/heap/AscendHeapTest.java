// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.heap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.Stream;
import io.weft.ascend.hccl.HcclFamily;
import io.weft.ascend.hccl.Models;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AscendHeapTest {
    private static final long HEAP = 4L << 20;
    private static final Duration TIMEOUT = Duration.ofMinutes(4);

    private Platform platform;
    private ExecutorService threads;

    @BeforeEach
    void open() {
        platform = Models.open(HcclFamily.A2, "");
        threads = Executors.newCachedThreadPool();
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        platform.close();
    }

    private AscendHeap heap(int ranks) {
        return AscendHeap.open(HcclFamily.A2, platform.devices().subList(0, ranks), HEAP, TIMEOUT);
    }

    /** Runs a collective call on every rank, each on a thread of its own. */
    private long[] all(AscendHeap heap, ToLongFunction<ProcessingElement> call) throws Exception {
        List<Future<Long>> futures = new ArrayList<>();
        for (ProcessingElement element : heap.elements()) {
            futures.add(threads.submit(() -> call.applyAsLong(element)));
        }
        long[] results = new long[futures.size()];
        for (int i = 0; i < results.length; i++) {
            results[i] = futures.get(i).get();
        }
        return results;
    }

    private void each(AscendHeap heap, java.util.function.Consumer<ProcessingElement> call) throws Exception {
        all(heap, element -> {
            call.accept(element);
            return 0;
        });
    }

    private static float[] numbers(int count, float from) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = from + i;
        }
        return values;
    }

    @Test
    void theSameCallsGiveTheSameOffsetsOnEveryRank() throws Exception {
        try (AscendHeap heap = heap(4)) {
            long[] first = all(heap, element -> element.allocate(1000));
            long[] second = all(heap, element -> element.allocate(5000));
            assertArrayEquals(new long[] {first[0], first[0], first[0], first[0]}, first);
            assertArrayEquals(new long[] {second[0], second[0], second[0], second[0]}, second);
            assertEquals(2, heap.element(3).round());
            each(heap, element -> element.free(first[0]));
            each(heap, element -> element.free(second[0]));
        }
    }

    @Test
    void nothingIsAllocatedForZeroBytesButEveryRankComes() throws Exception {
        try (AscendHeap heap = heap(2)) {
            assertArrayEquals(
                    new long[] {ProcessingElement.NULL, ProcessingElement.NULL},
                    all(heap, element -> element.allocate(0)));
            each(heap, element -> element.free(ProcessingElement.NULL));
        }
    }

    @Test
    void aRankThatLagsIsNamedWithTheRound() {
        AscendHeap heap = AscendHeap.open(HcclFamily.A2, platform.devices().subList(0, 2), HEAP, Duration.ofMillis(50));
        AcceleratorException late =
                assertThrows(AcceleratorException.class, () -> heap.element(0).allocate(64));
        assertEquals(ErrorCode.TIMEOUT, late.code());
        assertTrue(late.getMessage().contains("round 1") && late.getMessage().contains("rank 1"), late.getMessage());
        heap.close();
    }

    @Test
    void putAndGetMoveDataByRankAndOffset() throws Exception {
        try (AscendHeap heap = heap(2)) {
            long offset = all(heap, element -> element.allocate(4096))[0];
            try (Buffer source = platform.device(0).allocate(4096);
                    Buffer target = platform.device(1).allocate(4096)) {
                source.write(ElementType.FP32, numbers(1024, 1));
                ProcessingElement zero = heap.element(0);
                zero.put(1, offset, source.vector(1024, ElementType.FP32));
                zero.quiet();
                assertArrayEquals(
                        numbers(1024, 1), heap.element(1).local(offset, 4096).read(ElementType.FP32, 1024));
                heap.element(1).local(offset, 4096).write(ElementType.FP32, numbers(1024, 5));
                zero.get(source.vector(1024, ElementType.FP32), 1, offset);
                assertArrayEquals(numbers(1024, 5), source.read(ElementType.FP32, 1024));
                assertThrows(AcceleratorException.class, () -> zero.put(1, offset, target.vector(4, ElementType.FP32)));
            }
            each(heap, element -> element.free(offset));
        }
    }

    @Test
    void whoSeesTheSignalSeesTheData() throws Exception {
        try (AscendHeap heap = heap(2)) {
            long data = all(heap, element -> element.allocate(1 << 20))[0];
            long signal = all(heap, element -> element.allocate(64))[0];
            try (Buffer source = platform.device(0).allocate(1 << 20)) {
                source.write(ElementType.FP32, numbers(1 << 18, 3));
                Future<Long> waiting = threads.submit(() -> heap.element(1).waitUntil(signal, Compare.GE, 1));
                heap.element(0)
                        .putSignalAsync(1, data, source.vector(1 << 18, ElementType.FP32), signal, SignalOp.SET, 7);
                assertEquals(7, waiting.get());
                assertArrayEquals(
                        numbers(1 << 18, 3),
                        heap.element(1).local(data, 1 << 20).read(ElementType.FP32, 1 << 18));
            }
            each(heap, ProcessingElement::barrier);
            each(heap, element -> element.free(signal));
            each(heap, element -> element.free(data));
        }
    }

    @Test
    void additionsOfAllRanksAreAllCounted() throws Exception {
        try (AscendHeap heap = heap(4)) {
            long signal = all(heap, element -> element.allocate(8))[0];
            each(heap, element -> {
                for (int i = 0; i < 25; i++) {
                    element.signal(0, signal, SignalOp.ADD, 1L << 31);
                }
            });
            assertEquals(100L << 31, heap.element(0).waitUntil(signal, Compare.EQ, 100L << 31));
            assertEquals(100L << 31, heap.element(0).signalValue(signal));
            int[] words = new int[2];
            heap.element(0).local(signal, 8).read(java.lang.foreign.MemorySegment.ofArray(words), 0);
            assertEquals(
                    100L << 31, Integer.toUnsignedLong(words[0]) | (long) words[1] << 32, "the device's own words");
            each(heap, element -> element.free(signal));
            long again = all(heap, element -> element.allocate(8))[0];
            assertEquals(signal, again);
            assertEquals(0, heap.element(0).signalValue(again));
            each(heap, element -> element.free(again));
        }
    }

    @Test
    void aStreamCanWaitForASignal() throws Exception {
        try (AscendHeap heap = heap(2)) {
            long data = all(heap, element -> element.allocate(4096))[0];
            long signal = all(heap, element -> element.allocate(8))[0];
            try (Buffer source = platform.device(0).allocate(4096);
                    Buffer copy = platform.device(1).allocate(4096);
                    Stream stream = platform.device(1).createStream()) {
                source.write(ElementType.FP32, numbers(1024, 9));
                heap.element(0).putSignalAsync(1, data, source.vector(1024, ElementType.FP32), signal, SignalOp.ADD, 2);
                heap.element(1).waitUntilOnStream(stream, signal, Compare.EQ, 2);
                stream.copy(
                        copy.vector(1024, ElementType.FP32),
                        heap.element(1).local(data, 4096).vector(1024, ElementType.FP32));
                stream.synchronize();
                assertArrayEquals(numbers(1024, 9), copy.read(ElementType.FP32, 1024));
            }
            each(heap, element -> element.free(signal));
            each(heap, element -> element.free(data));
        }
    }

    @Test
    void aSignalThatNobodySendsEndsInATimeoutThatSaysWhatItWas() throws Exception {
        AscendHeap heap = AscendHeap.open(HcclFamily.A2, platform.devices().subList(0, 1), HEAP, Duration.ofMillis(30));
        long signal = heap.element(0).allocate(8);
        heap.element(0).signal(0, signal, SignalOp.SET, 3);
        AcceleratorException late =
                assertThrows(AcceleratorException.class, () -> heap.element(0).waitUntil(signal, Compare.GT, 3));
        assertEquals(ErrorCode.TIMEOUT, late.code());
        assertTrue(late.getMessage().contains("is 3 and must be GT 3"), late.getMessage());
        heap.element(0).free(signal);
        heap.close();
    }

    @Test
    void peerAccessIsMadeOneWayWhenItIsFirstUsed() throws Exception {
        try (AscendHeap heap = heap(2)) {
            long offset = all(heap, element -> element.allocate(64))[0];
            heap.element(0).peer(1, offset, 64);
            assertThrows(
                    AcceleratorException.class,
                    () -> platform.device(0)
                            .driver()
                            .enablePeerAccess(platform.device(1).driver()));
            platform.device(1).driver().enablePeerAccess(platform.device(0).driver());
            each(heap, element -> element.free(offset));
        }
    }

    @Test
    void ranksOfOtherProcessesImportAKeyOnceForEachProcess() throws Exception {
        try (AscendHeap heap = AscendHeap.open(
                HcclFamily.A2, platform.devices().subList(0, 4), List.of(11, 11, 12, 12), HEAP, TIMEOUT)) {
            long offset = all(heap, element -> element.allocate(64))[0];
            assertEquals(Sharing.ADDRESS, heap.sharing(0, 1));
            assertEquals(Sharing.IPC_KEY, heap.sharing(0, 2));
            for (int from = 0; from < 4; from++) {
                for (int to = 0; to < 4; to++) {
                    heap.element(from).peer(to, offset, 64);
                }
            }
            assertEquals(4, heap.exports().size());
            each(heap, element -> element.free(offset));
        }
    }

    @Test
    void windowsAreNativeOnTheNewerGenerationsAlone() {
        assertEquals(Sharing.WINDOW, Sharing.between(HcclFamily.A3, false));
        assertEquals(Sharing.WINDOW, Sharing.between(HcclFamily.A950, true));
        assertEquals(Sharing.IPC_KEY, Sharing.between(HcclFamily.A910A, false));
        assertEquals(Sharing.ADDRESS, Sharing.between(HcclFamily.A2, true));
    }

    @Test
    void windowsLieOnTwoMegabytePages() throws Exception {
        try (AscendHeap heap = heap(2)) {
            long offset = all(heap, element -> element.allocate(2L << 20))[0];
            ExecutionException refused =
                    assertThrows(ExecutionException.class, () -> each(heap, element -> element.window(offset, 4096)));
            assertEquals(ErrorCode.MISALIGNED, ((AcceleratorException) refused.getCause()).code());
            all(heap, element -> element.window(offset, 2L << 20).bytes());
            each(heap, element -> element.free(offset));
        }
        assertThrows(
                AcceleratorException.class, () -> AscendHeap.open(HcclFamily.A2, platform.devices(), 4096, TIMEOUT));
    }

    @Test
    void aBlockThatIsNotFreedIsALeak() throws Exception {
        AscendHeap heap = heap(2);
        all(heap, element -> element.allocate(64));
        AcceleratorException leak = assertThrows(AcceleratorException.class, heap::close);
        assertEquals(ErrorCode.INVALID_STATE, leak.code());
    }

    @Test
    void limitsOfTheVendorsLibraryHold() {
        assertThrows(
                AcceleratorException.class,
                () -> AscendHeap.open(HcclFamily.A2, platform.devices(), AscendHeap.MAX_BYTES + (2L << 20), TIMEOUT));
        assertThrows(AcceleratorException.class, () -> AscendHeap.open(HcclFamily.A2, List.of(), HEAP, TIMEOUT));
    }

    // Keys.

    @Test
    void aKeyTravelsInSixtyFiveBytes() {
        IpcKey key = new IpcKey("k".repeat(64));
        assertEquals(65, key.field().length);
        assertEquals(key, IpcKey.of(key.field()));
        assertEquals(new IpcKey("short"), IpcKey.of(new IpcKey("short").field()));
        assertThrows(AcceleratorException.class, () -> new IpcKey("k".repeat(65)));
        assertThrows(AcceleratorException.class, () -> new IpcKey("with space"));
        assertThrows(AcceleratorException.class, () -> IpcKey.of(new byte[64]));
    }

    @Test
    void onlyListedProcessesMayImportAndNeverTheExporter() {
        IpcExports exports = new IpcExports();
        IpcKey key = exports.export(1, 0, 2L << 20);
        AcceleratorException unlisted = assertThrows(AcceleratorException.class, () -> exports.importKey(2, key));
        assertEquals(ErrorCode.PEER_ACCESS, unlisted.code());
        exports.allow(key, 1, 2);
        assertEquals(2L << 20, exports.importKey(2, key).bytes());
        assertThrows(AcceleratorException.class, () -> exports.importKey(2, key));
        assertEquals(
                ErrorCode.INVALID_STATE,
                assertThrows(AcceleratorException.class, () -> exports.importKey(1, key))
                        .code());
        exports.close(2, key);
        assertThrows(AcceleratorException.class, () -> exports.close(2, key));
        exports.close(1, key);
        assertEquals(
                ErrorCode.NOT_FOUND,
                assertThrows(AcceleratorException.class, () -> exports.importKey(2, key))
                        .code());
        assertThrows(AcceleratorException.class, () -> exports.export(1, 0, 4096));
    }
}
