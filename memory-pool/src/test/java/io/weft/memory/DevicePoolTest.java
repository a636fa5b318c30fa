// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Stream;
import io.weft.memory.FakePlatform.FakeStream;
import io.weft.memory.replay.Trace;
import io.weft.memory.replay.TraceReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DevicePoolTest {
    private static final long MB = 1L << 20;

    private final FakePlatform fake = new FakePlatform(2, 256 * MB, false, false);
    private final Device device = fake.platform.device(0);
    private final Stream a = device.createStream();
    private final Stream b = device.createStream();

    private static void issue(Stream stream) {
        ((FakeStream) stream.driver()).issue();
    }

    private static void finish(Stream stream) {
        ((FakeStream) stream.driver()).completeAll();
    }

    private DevicePool pool(PoolOptions options) {
        return DevicePool.open(device, SegmentSource.device(device), options.withSegmentBytes(2 * MB));
    }

    @ParameterizedTest
    @ValueSource(longs = {1000, 3 * MB})
    void memoryFreedOnAStreamIsReusableThereAtOnce(long bytes) {
        try (DevicePool pool = pool(PoolOptions.defaults())) {
            Buffer first = pool.allocate(bytes, a);
            long address = first.address();
            issue(a);
            first.close();
            try (Buffer second = pool.allocate(bytes, a)) {
                assertEquals(address, second.address());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1000, 3 * MB})
    void memoryFreedOnABusyStreamIsNotGivenToAnother(long bytes) {
        try (DevicePool pool = pool(PoolOptions.defaults())) {
            Buffer first = pool.allocate(bytes, a);
            long address = first.address();
            try (Buffer other = pool.allocate(bytes, b)) {
                assertNotEquals(address, other.address());
            }
            issue(a);
            first.close();
            try (Buffer second = pool.allocate(bytes, b);
                    Buffer third = pool.allocate(bytes, b)) {
                assertNotEquals(address, second.address());
                assertNotEquals(address, third.address());
            }
        }
    }

    @Test
    void memoryFreedOnAStreamIsGivenToAnotherOnceThatStreamHasPassed() {
        try (DevicePool pool = pool(PoolOptions.defaults().withLimits(4 * MB, 4 * MB))) {
            pool.allocate(1, b).close();
            Buffer first = pool.allocate(2 * MB, a);
            issue(a);
            first.close();
            finish(a);
            try (Buffer second = pool.allocate(2 * MB, b);
                    Buffer third = pool.allocate(2 * MB, b)) {
                assertNotEquals(second.address(), third.address());
            }
            assertEquals(2, pool.statistics().deviceAllocations());
            assertEquals(0, pool.statistics().retries(), "nobody waited");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1000, 3 * MB})
    void aRecordedUseHoldsMemoryUntilThatStreamHasPassed(long bytes) {
        try (DevicePool pool = pool(PoolOptions.defaults())) {
            Buffer first = pool.allocate(bytes, a);
            long address = first.address();
            pool.recordUse(first, b);
            issue(b);
            first.close();
            Buffer second = pool.allocate(bytes, a);
            assertNotEquals(address, second.address());
            finish(b);
            pool.trim();
            Set<Long> seen = new HashSet<>();
            List<Buffer> many = new ArrayList<>();
            for (int i = 0; i < (bytes < MB ? 200 : 2); i++) {
                Buffer more = pool.allocate(bytes, a);
                seen.add(more.address());
                many.add(more);
            }
            assertTrue(seen.contains(address) || bytes > MB, "it came back");
            many.forEach(Buffer::close);
            second.close();
        }
    }

    @Test
    void aWaitIsInsertedRatherThanAskingTheDeviceForMoreWhereThatIsWished() {
        try (DevicePool pool = pool(PoolOptions.defaults().withWaitAcrossStreams(true))) {
            pool.allocate(1, b).close();
            Buffer first = pool.allocate(3 * MB, a);
            long address = first.address();
            issue(a);
            first.close();
            try (Buffer second = pool.allocate(3 * MB, b)) {
                assertEquals(address, second.address());
            }
            assertEquals(1, pool.statistics().waitsInserted());
            assertEquals(1, ((FakeStream) b.driver()).waits);
        }
    }

    @Test
    void anotherStreamsBusyMemoryIsWaitedForBeforeARequestIsRefused() {
        try (DevicePool pool = pool(PoolOptions.defaults().withLimits(4 * MB, 4 * MB))) {
            Buffer first = pool.allocate(4 * MB, a);
            issue(a);
            first.close();
            try (Buffer second = pool.allocate(4 * MB, b)) {
                assertEquals(4 * MB, second.bytes());
            }
        }
    }

    @Test
    void freeingOnAnotherStreamMakesTheMemoryReusableThere() {
        try (DevicePool pool = pool(PoolOptions.defaults())) {
            pool.allocate(1, b).close();
            Buffer first = pool.allocate(3 * MB, a);
            long address = first.address();
            pool.free(first, b);
            try (Buffer second = pool.allocate(3 * MB, b)) {
                assertEquals(address, second.address());
            }
        }
    }

    @Test
    void aDoubleFreeIsNamed() {
        try (DevicePool pool = pool(PoolOptions.defaults())) {
            Buffer buffer = pool.allocate(100, a);
            pool.free(buffer, a);
            AcceleratorException error = assertThrows(AcceleratorException.class, () -> pool.free(buffer, a));
            assertEquals(ErrorCode.CLOSED, error.code());
            assertTrue(error.getMessage().contains("double free"), error.getMessage());
            assertThrows(AcceleratorException.class, buffer::close);
        }
    }

    @Test
    void aForeignFreeIsNamed() {
        try (DevicePool pool = pool(PoolOptions.defaults().withName("mine"));
                DevicePool other = pool(PoolOptions.defaults().withName("theirs"));
                Buffer raw = device.allocate(100);
                Buffer pooled = other.allocate(100, a)) {
            for (Buffer foreign : List.of(raw, pooled)) {
                AcceleratorException error = assertThrows(AcceleratorException.class, () -> pool.free(foreign, a));
                assertEquals(ErrorCode.INVALID_ARGUMENT, error.code());
                assertTrue(error.getMessage().contains("foreign free"), error.getMessage());
                assertFalse(foreign.isClosed(), "a refused free frees nothing");
            }
        }
    }

    @Test
    void aLeakIsNamedAtCloseAndTheMemoryGoesBackAllTheSame() {
        DevicePool pool = pool(PoolOptions.defaults().withName("leaky"));
        pool.allocate(3 * MB, a);
        pool.allocate(700, a);
        AcceleratorException error = assertThrows(AcceleratorException.class, pool::close);
        assertEquals(ErrorCode.INVALID_STATE, error.code());
        assertTrue(error.getMessage().contains("2 buffers still out"), error.getMessage());
        assertTrue(
                error.getMessage().contains("3145728 bytes")
                        && error.getMessage().contains("700 bytes"),
                error.getMessage());
        assertEquals(0, fake.devices.get(0).held);
    }

    @Test
    void everythingIncludingEventsGoesBackAtClose() {
        DevicePool pool = pool(PoolOptions.defaults());
        for (int i = 0; i < 50; i++) {
            Buffer buffer = pool.allocate(1 + i * 100_000L, i % 2 == 0 ? a : b);
            pool.recordUse(buffer, b);
            issue(b);
            buffer.close();
        }
        pool.close();
        assertEquals(0, fake.devices.get(0).held);
        assertEquals(0, fake.devices.get(0).openEvents);
    }

    @Test
    void exhaustionIsAResultCodeOrAnExceptionThatListsTheLargestHolders() {
        try (DevicePool pool = pool(PoolOptions.defaults().withLimits(8 * MB, 8 * MB));
                Buffer holder = pool.allocate(6 * MB, a)) {
            assertEquals(6 * MB, holder.bytes());
            assertEquals(
                    PoolResult.Code.LIMIT_REACHED, pool.tryAllocate(4 * MB, a).code());
            AcceleratorException error = assertThrows(AcceleratorException.class, () -> pool.allocate(4 * MB, a));
            assertEquals(ErrorCode.OUT_OF_MEMORY, error.code());
            assertTrue(error.getMessage().contains("the largest hold 6291456 bytes"), error.getMessage());
        }
        try (DevicePool pool = pool(PoolOptions.defaults())) {
            assertEquals(
                    PoolResult.Code.DEVICE_EXHAUSTED,
                    pool.tryAllocate(300 * MB, a).code());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void aSizeThatMakesNoSenseIsRefused(long bytes) {
        try (DevicePool pool = pool(PoolOptions.defaults())) {
            assertEquals(
                    ErrorCode.INVALID_ARGUMENT,
                    assertThrows(AcceleratorException.class, () -> pool.allocate(bytes, a))
                            .code());
            assertFalse(pool.tryAllocate(Long.MAX_VALUE, a).isAllocated());
        }
    }

    @Test
    void aStreamOfAnotherDeviceIsRefused() {
        try (DevicePool pool = pool(PoolOptions.defaults());
                Stream foreign = fake.platform.device(1).createStream()) {
            assertEquals(
                    ErrorCode.WRONG_DEVICE,
                    assertThrows(AcceleratorException.class, () -> pool.allocate(1, foreign))
                            .code());
        }
    }

    @Test
    void poolsOfDifferentRolesShareNoSegment() {
        try (DevicePools pools = DevicePools.open(device, PoolOptions.defaults().withSegmentBytes(2 * MB));
                Buffer compute = pools.compute().allocate(100, a);
                Buffer communication = pools.communication().allocate(100, a)) {
            assertNotEquals(compute.memory().address(), communication.memory().address());
            assertEquals(
                    PoolRole.COMMUNICATION,
                    pools.pool(PoolRole.COMMUNICATION).options().role());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {128, 256, 512, 4096})
    void everyBufferIsAlignedAsAsked(long alignment) {
        try (DevicePool pool = pool(PoolOptions.defaults().withAlignment(alignment))) {
            List<Buffer> all = new ArrayList<>();
            for (long bytes = 1; bytes < 3 * MB; bytes = bytes * 5 / 3 + 1) {
                Buffer buffer = pool.allocate(bytes, a);
                assertEquals(0, buffer.address() % alignment, () -> buffer.toString());
                assertEquals(0, buffer.base() % (bytes >= 4096 ? 512 : 128));
                all.add(buffer);
            }
            all.forEach(Buffer::close);
        }
    }

    @Test
    void aDestroyedStreamsMemoryServesTheNextStream() {
        try (DevicePool pool = pool(PoolOptions.defaults())) {
            for (int i = 0; i < 100; i++) {
                Stream shortLived = device.createStream();
                Buffer large = pool.allocate(2 * MB, shortLived);
                Buffer small = pool.allocate(1000, shortLived);
                issue(shortLived);
                large.close();
                shortLived.close();
                small.close();
            }
            assertTrue(
                    pool.statistics().reservedBytes() <= 8 * MB,
                    () -> pool.statistics().toString());
            assertTrue(fake.devices.get(0).openEvents < 20);
        }
    }

    @Test
    void checkingModeFindsAnOverrunAndNamesThePlace() {
        DevicePool pool = pool(PoolOptions.defaults().withChecking(true));
        Buffer buffer = pool.allocate(1000, a);
        Buffer beyond = ((PooledBlock) buffer.owner()).pool.overrun(buffer, 1000, 1);
        beyond.write(ElementType.INT8, 7);
        AcceleratorException error = assertThrows(AcceleratorException.class, buffer::close);
        assertTrue(error.getMessage().contains("behind the end"), error.getMessage());
        assertTrue(error.getMessage().contains("DevicePoolTest"), error.getMessage());
    }

    @Test
    void checkingModeFindsAWriteAfterTheFree() {
        DevicePool pool = pool(PoolOptions.defaults().withChecking(true));
        Buffer buffer = pool.allocate(1000, a);
        Buffer stale = pool.overrun(buffer, 0, 1000);
        buffer.close();
        stale.write(ElementType.INT8, 1, 2, 3);
        AcceleratorException error = assertThrows(AcceleratorException.class, pool::trim);
        assertTrue(error.getMessage().contains("use after free"), error.getMessage());
    }

    @Test
    void idleMemoryGoesBackAfterItsTimeInVirtualTime() {
        try (DevicePool pool = pool(PoolOptions.defaults())) {
            pool.allocate(3 * MB, a).close();
            pool.nextIteration();
            long held = pool.statistics().reservedBytes();
            assertTrue(held >= 3 * MB);
            for (int i = 0; i < 4; i++) {
                fake.now += 100_000_000;
                pool.nextIteration();
            }
            assertEquals(0, pool.statistics().reservedBytes(), "300 ms idle and not used in the last 3 iterations");
        }
    }

    @Test
    void memoryUsedInEveryIterationIsHotAndNeverTrimmedByTime() {
        try (DevicePool pool = pool(PoolOptions.defaults())) {
            for (int i = 0; i < 12; i++) {
                pool.allocate(3 * MB, a).close();
                fake.now += 1_000_000_000;
                pool.nextIteration();
            }
            PoolStatistics now = pool.statistics();
            assertTrue(now.hot().bytes() >= 2 * MB, now::toString);
            assertEquals(1, now.deviceAllocations());
            for (int i = 0; i < 2; i++) {
                fake.now += 1_000_000_000;
                pool.nextIteration();
            }
            assertEquals(0, pool.statistics().hot().bytes());
            assertTrue(pool.statistics().warm().bytes() >= 2 * MB);
        }
    }

    @Test
    void equalIterationsAreServedFromTheLearnedLayoutAndADeviationNeverFails() {
        try (DevicePool pool = DevicePool.open(
                device, SegmentSource.device(device), PoolOptions.defaults().withSegmentBytes(64 * MB))) {
            for (int iteration = 0; iteration < 4; iteration++) {
                List<Buffer> all = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    all.add(pool.allocate((2 + i) * MB, a));
                }
                all.forEach(Buffer::close);
                pool.nextIteration();
            }
            // The first one is trusted to be repeated.
            assertEquals(24, pool.statistics().plannedAllocations());
            Buffer first = pool.allocate(2 * MB, a);
            Buffer other = pool.allocate(5 * MB, a);
            Buffer more = pool.allocate(4 * MB, a);
            assertEquals(1, pool.statistics().planDeviations());
            assertTrue(first.address() + first.bytes() <= other.address()
                    || other.address() + other.bytes() <= first.address());
            first.close();
            other.close();
            more.close();
            pool.nextIteration();
        }
    }

    @Test
    void aRecordingIsReadBackAsWhatHappened(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("pool.csv.gz");
        try (DevicePool pool = pool(PoolOptions.defaults());
                PoolRecording recording = new PoolRecording(file)) {
            pool.startRecording(recording);
            Buffer one = pool.allocate(1000, a);
            Buffer two = pool.allocate(3 * MB, b);
            pool.recordUse(one, b);
            one.close();
            pool.nextIteration();
            two.close();
            pool.stopRecording();
        }
        Trace trace = TraceReader.read(file);
        assertEquals(6, trace.count());
        assertEquals(2, trace.allocations());
        assertEquals(1000 + 3 * MB, trace.peakLiveBytes());
        assertEquals(Trace.Kind.USE, trace.kind(2));
        assertEquals(Trace.Kind.ITERATION, trace.kind(4));
    }

    @Test
    void pinnedHostMemoryIsPooledToo() {
        try (DevicePool pool = DevicePool.open(
                        device,
                        SegmentSource.pinnedHost(device),
                        PoolOptions.defaults().withSegmentBytes(2 * MB));
                Buffer buffer = pool.allocate(1000, a)) {
            buffer.segment().fill((byte) 3);
            assertEquals(1000, buffer.segment().byteSize());
        }
    }

    @Test
    void pagesOfVirtualMemoryMoveToWhereTheyAreNeeded() {
        FakePlatform paged = new FakePlatform(1, 64 * MB, true, true);
        Device on = paged.platform.device(0);
        Stream stream = on.createStream();
        try (DevicePool pool = DevicePool.open(on, PoolOptions.defaults().withSegmentBytes(2 * MB))) {
            List<Buffer> all = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                all.add(pool.allocate(4 * MB, stream));
            }
            for (int i = 0; i < 16; i += 2) {
                all.get(i).close();
            }
            // 32 MiB are free in pieces of 4 MiB, and the device has no more.
            Buffer large = pool.allocate(24 * MB, stream);
            assertEquals(24 * MB, large.bytes());
            assertTrue(pool.statistics().reservedBytes() <= 64 * MB);
            large.close();
            for (int i = 1; i < 16; i += 2) {
                all.get(i).close();
            }
        }
        assertEquals(0, paged.devices.get(0).held);
    }
}
