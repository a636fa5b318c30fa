// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.amd.Nodes;
import io.weft.amd.stream.HipMemoryPool.Reuse;
import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.Stream;
import java.util.EnumSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class HipMemoryPoolTest {
    private static final long BYTES = 1 << 20;
    private Platform platform;
    private Device device;
    private Stream a;
    private Stream b;
    private HipMemoryPool pool;

    @BeforeEach
    void open() {
        platform = Nodes.open("amd:mi300x-8?mode=timing");
        device = platform.device(0);
        a = device.createStream();
        b = device.createStream();
        pool = new HipMemoryPool(device);
    }

    @AfterEach
    void close() {
        pool.close();
        platform.close();
    }

    private void keepBusy(Stream stream) {
        Buffer buffer = device.allocate(1L << 30);
        stream.fill(buffer.vector(1L << 30, ElementType.INT8), 1);
    }

    @Test
    void aThresholdOfZeroGivesEverythingBackAtASynchronisationAndAGreaterOneKeepsSome() {
        long free = device.memoryInfo().freeBytes();
        for (int round = 0; round < 3; round++) {
            Buffer buffer = pool.allocate(BYTES, a).orElseThrow();
            pool.free(buffer, a);
            assertEquals(BYTES, pool.usage().reserved());
            pool.synchronize();
            assertEquals(0, pool.usage().reserved());
            assertEquals(free, device.memoryInfo().freeBytes());
        }
        pool.releaseThreshold(BYTES);
        Buffer one = pool.allocate(BYTES, a).orElseThrow();
        Buffer two = pool.allocate(BYTES, a).orElseThrow();
        pool.free(one, a);
        pool.free(two, a);
        pool.synchronize();
        assertEquals(BYTES, pool.usage().reserved());
        assertEquals(2 * BYTES, pool.usage().reservedHigh());
        pool.trimTo(0);
        assertEquals(0, pool.usage().reserved());
        pool.resetHigh();
        assertEquals(0, pool.usage().usedHigh());
    }

    @Test
    void aStreamGetsItsOwnBlockBackAtOnce() {
        keepBusy(a);
        Buffer first = pool.allocate(BYTES, a).orElseThrow();
        pool.free(first, a);
        assertSame(first, pool.allocate(BYTES, a).orElseThrow());
        assertEquals(BYTES, pool.usage().used());
    }

    @ParameterizedTest
    @EnumSource(Reuse.class)
    void anotherStreamGetsABlockByItsPolicyOnly(Reuse policy) {
        pool.reuse(EnumSet.noneOf(Reuse.class));
        keepBusy(a);
        Buffer first = pool.allocate(BYTES, a).orElseThrow();
        pool.free(first, a);
        Buffer other = pool.allocate(BYTES, b).orElseThrow();
        assertNotSame(first, other);
        pool.reuse(EnumSet.of(policy));
        switch (policy) {
            case FOLLOW_EVENT_DEPENDENCIES -> {
                assertNotSame(first, pool.allocate(BYTES, b).orElseThrow());
                Event event = device.createEvent(EventOptions.untimed());
                pool.record(event, a);
                pool.waitFor(b, event);
            }
            case ALLOW_OPPORTUNISTIC -> {
                assertNotSame(first, pool.allocate(BYTES, b).orElseThrow());
                a.synchronize();
            }
            case ALLOW_INTERNAL_DEPENDENCIES -> {
                // The pool makes the stream wait itself.
            }
        }
        assertSame(first, pool.allocate(BYTES, b).orElseThrow());
        if (policy == Reuse.ALLOW_INTERNAL_DEPENDENCIES) {
            b.synchronize();
            assertTrue(a.query(), "b waited for what a did with the block");
        }
    }

    @Test
    void aFreeOnAStreamThatIsNotOrderedAfterTheUseIsRefused() {
        Buffer buffer = pool.allocate(BYTES, a).orElseThrow();
        Nodes.refused(ErrorCode.INVALID_STATE, () -> pool.free(buffer, b), "not ordered after");
        assertEquals(BYTES, pool.usage().used());
        Event event = device.createEvent(EventOptions.untimed());
        pool.record(event, a);
        pool.waitFor(b, event);
        pool.free(buffer, b);
        Nodes.refused(ErrorCode.INVALID_ARGUMENT, () -> pool.free(buffer, b), "not in use");
    }

    @Test
    void aFailedAllocationChangesNoCounterAndUnusedMemoryIsGivenUpFirst() {
        long total = device.memoryInfo().totalBytes();
        Buffer kept = pool.allocate(BYTES, a).orElseThrow();
        HipMemoryPool.Usage before = pool.usage();
        Nodes.refused(ErrorCode.OUT_OF_MEMORY, () -> pool.allocate(total, a));
        assertEquals(before, pool.usage());
        pool.free(kept, a);
        Buffer all = pool.allocate(total, a).orElseThrow();
        assertEquals(total, pool.usage().reserved());
        pool.free(all, a);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void smallSizesAreRoundedUpAndNothingIsNothing(long bytes) {
        assertTrue(pool.allocate(0, a).isEmpty());
        Buffer buffer = pool.allocate(bytes, a).orElseThrow();
        assertEquals(0, buffer.bytes() % device.properties().allocationAlignment());
        pool.free(buffer, a);
    }
}
