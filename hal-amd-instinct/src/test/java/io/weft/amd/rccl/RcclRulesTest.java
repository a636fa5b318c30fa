// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.rccl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.amd.Nodes;
import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Communicator;
import io.weft.api.CommunicatorOptions;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** RCCL's rules as a program meets them on a modelled node; the numbers are those of the rules. */
class RcclRulesTest {
    private Platform platform;
    private final List<Stream> streams = new ArrayList<>();

    @BeforeEach
    void open() {
        platform = Nodes.open("amd:mi300x-8?stall-timeout-ms=200");
        platform.devices().forEach(device -> streams.add(device.createStream()));
    }

    @AfterEach
    void close() {
        platform.close();
    }

    private Communicator over(int ranks) {
        return Communicator.over(platform, platform.devices().subList(0, ranks));
    }

    private Buffer floats(int rank, int count, float... values) {
        Buffer buffer = platform.device(rank).allocate(4L * count);
        if (values.length > 0) {
            buffer.write(ElementType.FP32, values);
        }
        return buffer;
    }

    private void refused(
            RcclResult result, ErrorCode code, org.junit.jupiter.api.function.Executable call, String words) {
        AcceleratorException refusal = Nodes.refused(code, call, words);
        assertEquals(result.code(), refusal.vendorError().orElseThrow().code(), refusal::getMessage);
    }

    // Life cycle.

    @Test
    void uniqueIdsHave128BytesAndOthersAreRefused() {
        byte[] id = Communicator.newUniqueId(platform);
        assertEquals(128, id.length);
        refused(
                RcclResult.INVALID_ARGUMENT,
                ErrorCode.INVALID_ARGUMENT,
                () -> Communicator.join(platform, new byte[16], 1, Map.of(0, platform.device(0))),
                "128");
        refused(
                RcclResult.INVALID_ARGUMENT,
                ErrorCode.INVALID_ARGUMENT,
                () -> Communicator.join(platform, new byte[128], 1, Map.of(0, platform.device(0))),
                "unique id");
    }

    @Test
    void rule4OneGpuTwiceIsInvalidUsageAlsoWhenRanksJoinApart() {
        byte[] id = Communicator.newUniqueId(platform);
        Communicator first = Communicator.join(platform, id, 2, Map.of(0, platform.device(3)));
        refused(
                RcclResult.INVALID_USAGE,
                ErrorCode.INVALID_ARGUMENT,
                () -> Communicator.join(platform, id, 2, Map.of(1, platform.device(3))),
                "duplicate GPU");
        first.abort();
        first.close();
    }

    @Test
    void rule4ChannelsMustBePositiveAndInOrder() {
        CommunicatorOptions options = CommunicatorOptions.defaults();
        assertThrows(AcceleratorException.class, () -> options.withChannels(-1, 0));
        assertThrows(AcceleratorException.class, () -> options.withChannels(9, 8));
        assertEquals(8, options.withChannels(1, 8).maxChannels());
    }

    @Test
    void rule4MembersMustAgreeWhetherTheyBlock() {
        byte[] id = Communicator.newUniqueId(platform);
        Communicator first = Communicator.join(platform, id, 2, Map.of(0, platform.device(0)));
        refused(
                RcclResult.INVALID_ARGUMENT,
                ErrorCode.INVALID_ARGUMENT,
                () -> Communicator.join(
                        platform,
                        id,
                        2,
                        Map.of(1, platform.device(1)),
                        CommunicatorOptions.defaults().withBlocking(false)),
                "all must do alike");
        first.abort();
        first.close();
    }

    @Test
    void rule8OneThatDoesNotBlockIsUsedWhenItIsReadyAndFinishedBeforeItIsClosed() {
        CommunicatorOptions options = CommunicatorOptions.defaults().withBlocking(false);
        byte[] id = Communicator.newUniqueId(platform);
        Communicator zero = Communicator.join(platform, id, 2, Map.of(0, platform.device(0)), options);
        assertFalse(zero.isReady());
        Buffer send = floats(0, 4, 1, 2, 3, 4);
        BufferView view = send.vector(4, ElementType.FP32);
        refused(
                RcclResult.INVALID_ARGUMENT,
                ErrorCode.INVALID_STATE,
                () -> zero.allReduce(0, view, view, ReduceOp.SUM, streams.get(0)),
                "is not ready");
        Communicator one = Communicator.join(platform, id, 2, Map.of(1, platform.device(1)), options);
        assertTrue(zero.isReady());
        Buffer other = floats(1, 4, 10, 20, 30, 40);
        BufferView otherView = other.vector(4, ElementType.FP32);
        zero.allReduce(0, view, view, ReduceOp.SUM, streams.get(0));
        one.allReduce(1, otherView, otherView, ReduceOp.SUM, streams.get(1));
        zero.finish();
        one.finish();
        int polls = 0;
        while (!zero.isReady() || !one.isReady()) {
            polls++;
        }
        assertTrue(polls > 0, "finishing returned at once");
        assertArrayEquals(new float[] {11, 22, 33, 44}, other.read(ElementType.FP32, 4));
        refused(
                RcclResult.INVALID_ARGUMENT,
                ErrorCode.INVALID_STATE,
                () -> zero.allReduce(0, view, view, ReduceOp.SUM, streams.get(0)),
                "was finished before");
        zero.close();
        one.close();
    }

    @Test
    void rule8AnAbortFreesTheRanksThatWaitForADeadOne() {
        Communicator communicator = over(3);
        BufferView view = floats(0, 4).vector(4, ElementType.FP32);
        communicator.allReduce(0, view, view, ReduceOp.SUM, streams.get(0));
        communicator.abort();
        Nodes.refused(ErrorCode.ABORTED, streams.get(0)::synchronize);
        refused(RcclResult.REMOTE_ERROR, ErrorCode.ABORTED, communicator::finish, "aborted");
        communicator.close();
    }

    @Test
    void rule8ASplitOrdersByKeyThenRankLeavesOutWhoHasNoColourAndTakesOverOptions() {
        Map<Integer, io.weft.api.Device> ranks =
                Map.of(0, platform.device(0), 1, platform.device(1), 2, platform.device(2), 3, platform.device(3));
        Communicator world = Communicator.join(
                platform,
                Communicator.newUniqueId(platform),
                4,
                ranks,
                CommunicatorOptions.defaults().withBlocking(false));
        Map<Integer, Communicator> parts = world.split(Map.of(0, 7, 1, -1, 2, 7, 3, 7), Map.of(0, 5, 2, 1, 3, 1), null);
        assertEquals(List.of(0, 2, 3), List.copyOf(parts.keySet()));
        Communicator part = parts.get(0);
        assertEquals(3, part.size());
        assertEquals(platform.device(2), part.device(0));
        assertEquals(platform.device(3), part.device(1));
        assertEquals(platform.device(0), part.device(2));
        assertTrue(part.isReady());
        part.close();
        world.close();
    }

    // Collectives.

    @Test
    void rule1AllToAllIsNotInPlace() {
        try (Communicator communicator = over(2)) {
            BufferView view = floats(0, 4).vector(4, ElementType.FP32);
            Nodes.refused(
                    ErrorCode.INVALID_ARGUMENT,
                    () -> communicator.group().allToAll(0, view, view, streams.get(0)),
                    "in place");
        }
    }

    @Test
    void rule1AnAllGatherInPlaceSendsFromItsOwnBlock() {
        try (Communicator communicator = over(3)) {
            List<Buffer> buffers = new ArrayList<>();
            try (Communicator.Group group = communicator.group()) {
                for (int rank = 0; rank < 3; rank++) {
                    float[] own = new float[6];
                    own[2 * rank] = rank + 1;
                    own[2 * rank + 1] = -rank - 1;
                    Buffer buffer = floats(rank, 6, own);
                    buffers.add(buffer);
                    group.allGather(
                            rank,
                            BufferView.vector(buffer, 8L * rank, 2, ElementType.FP32),
                            buffer.vector(6, ElementType.FP32),
                            streams.get(rank));
                }
            }
            platform.synchronize();
            for (Buffer buffer : buffers) {
                assertArrayEquals(new float[] {1, -1, 2, -2, 3, -3}, buffer.read(ElementType.FP32, 6));
            }
        }
    }

    @Test
    void rule2NothingIsAGoodCollectiveAndStillATransferThatMustPair() {
        try (Communicator communicator = over(2)) {
            BufferView none = floats(0, 1).vector(0, ElementType.FP32);
            BufferView other = floats(1, 1).vector(0, ElementType.FP32);
            try (Communicator.Group group = communicator.group()) {
                group.allReduce(0, none, none, ReduceOp.SUM, streams.get(0));
                group.allReduce(1, other, other, ReduceOp.SUM, streams.get(1));
            }
            platform.synchronize();
            communicator.group().send(0, none, 1, streams.get(0)).close();
            Nodes.refused(ErrorCode.TIMEOUT, streams.get(0)::synchronize, "rank 1");
            communicator.group().receive(1, other, 0, streams.get(1)).close();
            platform.synchronize();
        }
    }

    @Test
    void rule3ARootOutOfRangeIsRefused() {
        try (Communicator communicator = over(2)) {
            BufferView view = floats(0, 4).vector(4, ElementType.FP32);
            Nodes.refused(
                    ErrorCode.INVALID_ARGUMENT,
                    () -> communicator.group().broadcast(0, view, view, 2, streams.get(0)),
                    "must lie in 0..1");
        }
    }

    @Test
    void rule3AReductionNeedsABufferToReceiveOnTheRootOnly() {
        try (Communicator communicator = over(2)) {
            Buffer result = floats(0, 2);
            try (Communicator.Group group = communicator.group()) {
                group.reduce(
                        0,
                        floats(0, 2, 1, 2).vector(2, ElementType.FP32),
                        result.vector(2, ElementType.FP32),
                        ReduceOp.SUM,
                        0,
                        streams.get(0));
                group.reduce(1, floats(1, 2, 3, 4).vector(2, ElementType.FP32), null, ReduceOp.SUM, 0, streams.get(1));
            }
            platform.synchronize();
            assertArrayEquals(new float[] {4, 6}, result.read(ElementType.FP32, 2));
        }
    }

    @Test
    void rule5AGroupReturnsBeforeItIsComplete() {
        try (Communicator communicator = over(2)) {
            int count = 1 << 20;
            try (Communicator.Group group = communicator.group()) {
                for (int rank = 0; rank < 2; rank++) {
                    BufferView view = floats(rank, count).vector(count, ElementType.FP32);
                    group.allReduce(rank, view, view, ReduceOp.SUM, streams.get(rank));
                }
            }
            assertFalse(streams.get(0).query());
            platform.synchronize();
        }
    }

    @Test
    void rule6ASendToOneselfNeedsItsReceiveInTheSameGroup() {
        try (Communicator communicator = over(2)) {
            BufferView view = floats(0, 2, 5, 6).vector(2, ElementType.FP32);
            Buffer mine = floats(0, 2);
            Nodes.refused(
                    ErrorCode.INVALID_ARGUMENT,
                    () -> communicator.group().send(0, view, 0, streams.get(0)).close(),
                    "both must be in one group");
            communicator
                    .group()
                    .send(0, view, 0, streams.get(0))
                    .receive(0, mine.vector(2, ElementType.FP32), 0, streams.get(0))
                    .close();
            platform.synchronize();
            assertArrayEquals(new float[] {5, 6}, mine.read(ElementType.FP32, 2));
        }
    }

    @Test
    void rule7AnAverageOfFloatsMultipliesFirstAndOneOfIntegersDividesLast() {
        try (Communicator communicator = over(3)) {
            List<Buffer> floats = new ArrayList<>();
            List<Buffer> integers = new ArrayList<>();
            try (Communicator.Group group = communicator.group()) {
                for (int rank = 0; rank < 3; rank++) {
                    Buffer buffer = platform.device(rank).allocate(256);
                    buffer.write(ElementType.FP8_E4M3_FNUZ, 3);
                    floats.add(buffer);
                    BufferView view = buffer.vector(1, ElementType.FP8_E4M3_FNUZ);
                    group.allReduce(rank, view, view, ReduceOp.AVG, streams.get(rank));
                    Buffer whole = platform.device(rank).allocate(256);
                    whole.write(ElementType.INT32, rank + 4);
                    integers.add(whole);
                    BufferView wholeView = whole.vector(1, ElementType.INT32);
                    group.allReduce(rank, wholeView, wholeView, ReduceOp.AVG, streams.get(rank));
                }
            }
            platform.synchronize();
            // 1/3 in this type is 0.34375, and three times 3 * 0.34375 is 3.09, of which the nearest value is 3; not so
            // with 1.
            float third = ElementType.FP8_E4M3_FNUZ.decode(ElementType.FP8_E4M3_FNUZ.encode(1f / 3));
            float expected = ElementType.FP8_E4M3_FNUZ.decode(ElementType.FP8_E4M3_FNUZ.encode(3 * (3 * third)));
            assertEquals(0.34375f, third);
            assertEquals(expected, floats.get(1).read(ElementType.FP8_E4M3_FNUZ, 1)[0]);
            assertEquals(5, integers.get(2).read(ElementType.INT32, 1)[0]);
        }
    }

    @Test
    void rule7APreMultipliedSumTakesEachRanksOwnFactor() {
        try (Communicator communicator = over(3)) {
            Buffer first = null;
            try (Communicator.Group group = communicator.group()) {
                for (int rank = 0; rank < 3; rank++) {
                    Buffer buffer = floats(rank, 2, 1, 10);
                    first = first == null ? buffer : first;
                    BufferView view = buffer.vector(2, ElementType.FP32);
                    group.allReduce(rank, view, view, ReduceOp.scaledSum(rank + 0.5f), streams.get(rank));
                }
            }
            platform.synchronize();
            assertArrayEquals(new float[] {4.5f, 45}, first.read(ElementType.FP32, 2));
        }
    }

    @Test
    void rule9AMismatchIsToldInsteadOfHanging() {
        try (Communicator communicator = over(2)) {
            Communicator.Group group = communicator.group();
            BufferView four = floats(0, 4).vector(4, ElementType.FP32);
            BufferView two = floats(1, 2).vector(2, ElementType.FP32);
            group.allReduce(0, four, four, ReduceOp.SUM, streams.get(0));
            group.allReduce(1, two, two, ReduceOp.SUM, streams.get(1));
            refused(RcclResult.INVALID_USAGE, ErrorCode.COLLECTIVE_MISMATCH, group::close, "of 4 fp32");
            assertEquals(
                    RcclResult.INVALID_USAGE.code(),
                    communicator
                            .asyncError()
                            .orElseThrow()
                            .vendorError()
                            .orElseThrow()
                            .code());
        }
    }

    @Test
    void rule9TwoCommunicatorsInAnotherOrderOnAnotherRankAreToldInsteadOfHanging() {
        try (Communicator one = over(2);
                Communicator two = over(2)) {
            BufferView zero = floats(0, 4).vector(4, ElementType.FP32);
            BufferView other = floats(1, 4).vector(4, ElementType.FP32);
            one.allReduce(0, zero, zero, ReduceOp.SUM, streams.get(0));
            two.allReduce(0, zero, zero, ReduceOp.SUM, streams.get(0));
            two.allReduce(1, other, other, ReduceOp.SUM, streams.get(1));
            one.allReduce(1, other, other, ReduceOp.SUM, streams.get(1));
            AcceleratorException told = assertThrows(AcceleratorException.class, streams.get(0)::synchronize);
            assertTrue(told.getMessage().contains("communicator"), told::getMessage);
            one.abort();
            two.abort();
        }
    }

    // Eight-bit floats.

    @ParameterizedTest
    @CsvSource({"mi300x-8, fnuz, FP8_E4M3_FNUZ, 0.5, 240", "mi355x-8, ocp, FP8_E4M3, 1.0, 448"})
    void aByteMeansWhatTheChipMakesOfIt(
            String machine, String encoding, ElementType type, float value, float greatest) {
        try (Platform other = Nodes.open("amd:" + machine + "?mode=timing")) {
            assertEquals(encoding, other.device(0).properties().extra().get("fp8"));
            assertTrue(other.device(0).properties().gemmTypes().contains(type));
        }
        assertEquals(value, type.decode(0x38));
        assertEquals(greatest, type.maxFinite());
        assertTrue(Float.isNaN(type.decode(type == ElementType.FP8_E4M3 ? 0x7F : 0x80)));
    }

    @Test
    void aReductionInTheEncodingThatTheChipHasNotIsRefusedAndAMoveIsNot() {
        try (Communicator communicator = over(2)) {
            Communicator.Group sum = communicator.group();
            Communicator.Group move = communicator.group();
            Communicator.Group good = communicator.group();
            for (int rank = 0; rank < 2; rank++) {
                BufferView ocp = platform.device(rank).allocate(256).vector(4, ElementType.FP8_E4M3);
                BufferView fnuz = platform.device(rank).allocate(256).vector(4, ElementType.FP8_E5M2_FNUZ);
                sum.allReduce(rank, ocp, ocp, ReduceOp.SUM, streams.get(rank));
                move.broadcast(rank, ocp, ocp, 0, streams.get(rank));
                good.allReduce(rank, fnuz, fnuz, ReduceOp.SUM, streams.get(rank));
            }
            refused(RcclResult.INVALID_ARGUMENT, ErrorCode.UNSUPPORTED, sum::close, "on this chip it is fnuz");
            move.close();
            good.close();
            platform.synchronize();
        }
    }

    @Test
    void aCommunicatorOverBothEncodingsRefusesEightBitFloatsAndNothingElse() {
        try (Platform mixed = Nodes.mixed("mi300x-8", "mi355x-8")) {
            List<Stream> own =
                    List.of(mixed.device(0).createStream(), mixed.device(1).createStream());
            try (Communicator communicator =
                    Communicator.over(mixed, mixed.devices().subList(0, 2))) {
                Communicator.Group group = communicator.group();
                for (int rank = 0; rank < 2; rank++) {
                    BufferView view = mixed.device(rank).allocate(256).vector(4, ElementType.FP8_E4M3);
                    group.allReduce(rank, view, view, ReduceOp.SUM, own.get(rank));
                }
                refused(RcclResult.INVALID_ARGUMENT, ErrorCode.UNSUPPORTED, group::close, "fnuz, ocp");
                Communicator.Group good = communicator.group();
                for (int rank = 0; rank < 2; rank++) {
                    BufferView view = mixed.device(rank).allocate(256).vector(4, ElementType.BF16);
                    good.allReduce(rank, view, view, ReduceOp.SUM, own.get(rank));
                }
                good.close();
                mixed.synchronize();
            }
        }
    }
}
