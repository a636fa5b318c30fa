// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.Communicator;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.sim.machine.MachineCatalog;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a vendor's libraries add to a model. */
class VendorRulesTest {
    private final List<String> calls = new ArrayList<>();
    private int room = Integer.MAX_VALUE;

    private final VendorRules rules = new VendorRules() {
        @Override
        public long communicatorBytes() {
            return 1 << 20;
        }

        @Override
        public boolean allowsUnorderedStreams() {
            return false;
        }

        @Override
        public double executeNanos() {
            return 5e9;
        }

        @Override
        public void joining(long communicator, String name, int size, Map<Integer, Integer> devices) {
            calls.add("join " + devices);
        }

        @Override
        public void left(long communicator, Map<Integer, Integer> devices) {
            calls.add("left " + devices);
        }

        @Override
        public boolean issuing(long communicator, int rank, int device, Object stream, long bytes) {
            if (room == 0) {
                calls.add("full");
                return false;
            }
            room--;
            return true;
        }

        @Override
        public void ended(long communicator, int rank, int device, Object stream) {
            room++;
        }
    };

    private Platform open() {
        PlatformUri uri = PlatformUri.parse("sim:mesh-8?mode=timing&stall-timeout-ms=0");
        return new Platform(uri, MachinePlatform.open(uri, MachineCatalog.open("mesh-8"), rules));
    }

    private static void reduce(Communicator communicator, int rank, BufferView view, Stream stream) {
        communicator.allReduce(rank, view, view, ReduceOp.SUM, stream);
    }

    @Test
    void aCommunicatorTakesItsMemoryUntilItIsClosed() {
        try (Platform platform = open()) {
            long before = platform.device(0).memoryInfo().freeBytes();
            Communicator pair = Communicator.over(platform, platform.devices().subList(0, 2));
            assertEquals(before - (1 << 20), platform.device(0).memoryInfo().freeBytes());
            pair.close();
            assertEquals(before, platform.device(0).memoryInfo().freeBytes());
            assertEquals(List.of("join {0=0, 1=1}", "left {0=0, 1=1}"), calls);
        }
    }

    @Test
    void withoutRoomTheHostWaitsForTheOldest() {
        try (Platform platform = open()) {
            room = 2;
            Communicator one = Communicator.over(platform, platform.devices().subList(0, 1));
            Stream stream = platform.device(0).createStream();
            BufferView view = platform.device(0).allocate(4096).vector(1024, ElementType.FP32);
            for (int i = 0; i < 10; i++) {
                reduce(one, 0, view, stream);
            }
            assertTrue(calls.contains("full"));
            stream.synchronize();
            assertEquals(2, room);
            one.close();
        }
    }

    @Test
    void unorderedStreamsAreRefusedWhileTheFirstIsBusy() {
        try (Platform platform = open()) {
            Communicator one = Communicator.over(platform, platform.devices().subList(0, 1));
            Stream first = platform.device(0).createStream();
            Stream second = platform.device(0).createStream();
            BufferView view = platform.device(0).allocate(4096).vector(1024, ElementType.FP32);
            reduce(one, 0, view, first);
            assertEquals(
                    ErrorCode.INVALID_STATE,
                    assertThrows(AcceleratorException.class, () -> reduce(one, 0, view, second))
                            .code());
            first.synchronize();
            reduce(one, 0, view, second);
            reduce(one, 0, view, second);
            one.close();
        }
    }

    @Test
    void aWaitForAMissingRankTakesTheLimitOfVirtualTime() {
        try (Platform platform = open()) {
            Communicator pair = Communicator.over(platform, platform.devices().subList(0, 2));
            Stream stream = platform.device(0).createStream();
            BufferView view = platform.device(0).allocate(4096).vector(1024, ElementType.FP32);
            reduce(pair, 0, view, stream);
            AcceleratorException late = assertThrows(AcceleratorException.class, stream::synchronize);
            assertTrue(late.getMessage().contains("rank 1") && late.getMessage().contains("5 s"), late.getMessage());
            assertEquals(5e9, (double) platform.nanoTime(), 0.1e9);

            // The other rank comes when all is over.
            BufferView other = platform.device(1).allocate(4096).vector(1024, ElementType.FP32);
            Stream tardy = platform.device(1).createStream();
            reduce(pair, 1, other, tardy);
            AcceleratorException refused = assertThrows(AcceleratorException.class, tardy::synchronize);
            assertTrue(refused.getMessage().contains("came 5 s after the first"), refused.getMessage());
            pair.close();
        }
    }

    @Test
    void aThousandCollectivesOnOneStreamCanBeAborted() {
        try (Platform platform = open()) {
            Communicator pair = Communicator.over(platform, platform.devices().subList(0, 2));
            Stream stream = platform.device(0).createStream();
            BufferView view = platform.device(0).allocate(4096).vector(1024, ElementType.FP32);
            for (int i = 0; i < 2_000; i++) {
                reduce(pair, 0, view, stream);
            }
            assertThrows(AcceleratorException.class, stream::synchronize);
            pair.abort();
            assertEquals(
                    ErrorCode.ABORTED,
                    assertThrows(AcceleratorException.class, stream::synchronize)
                            .code());
            pair.close();
        }
    }
}
