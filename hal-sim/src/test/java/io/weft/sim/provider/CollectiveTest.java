// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.numeric.RandomData;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CollectiveTest {
    private Platform platform;
    private final List<Stream> streams = new ArrayList<>();

    @BeforeEach
    void open() {
        // Nothing here hangs on a slow thread, so what can never happen need not be waited for.
        platform = Sim.open("sim:mesh-8?stall-timeout-ms=20");
        platform.devices().forEach(device -> streams.add(device.createStream()));
    }

    @AfterEach
    void close() {
        streams.clear();
        platform.close();
    }

    private Communicator over(int ranks) {
        return Communicator.over(platform, platform.devices().subList(0, ranks));
    }

    private Buffer buffer(int rank, int bytes) {
        return platform.device(rank).allocate(Math.max(1, bytes));
    }

    /** A buffer of random elements, stream number = rank. */
    private Buffer random(int rank, ElementType type, int count) {
        Buffer buffer = buffer(rank, count * type.bytes());
        if (count > 0) {
            Sim.write(buffer, Sim.random(type, count, rank));
        }
        return buffer;
    }

    /** What the ranks' elements reduce to, by the words of ReduceOp and nothing else. */
    private static byte[] reduced(ElementType type, ReduceOp op, int ranks, int count, int from, float[] scales) {
        byte[] result = new byte[count * type.bytes()];
        for (int i = 0; i < count; i++) {
            int bits = type.isFloating()
                    ? floating(type, op, ranks, from + i, scales)
                    : whole(type, op, ranks, from + i, scales);
            for (int b = 0; b < type.bytes(); b++) {
                result[i * type.bytes() + b] = (byte) (bits >>> (8 * b));
            }
        }
        return result;
    }

    private static int bits(ElementType type, int rank, int index) {
        return RandomData.bits(type, Sim.SEED, rank, index);
    }

    private static int floating(ElementType type, ReduceOp op, int ranks, int index, float[] scales) {
        float sum = 0;
        for (int rank = 0; rank < ranks; rank++) {
            float x = type.decode(bits(type, rank, index));
            x *= switch (op.kind()) {
                case AVG -> type.decode(type.encode(1f / ranks));
                case SCALED_SUM -> type.decode(type.encode(scales[rank]));
                default -> 1f;
            };
            sum = rank == 0
                    ? x
                    : switch (op.kind()) {
                        case PROD -> sum * x;
                        case MIN -> Math.min(sum, x);
                        case MAX -> Math.max(sum, x);
                        default -> sum + x;
                    };
        }
        return type.encode(sum);
    }

    private static byte wrapped(int value) {
        return (byte) value;
    }

    private static int whole(ElementType type, ReduceOp op, int ranks, int index, float[] scales) {
        int sum = 0;
        for (int rank = 0; rank < ranks; rank++) {
            int x = type == ElementType.INT8 ? (byte) bits(type, rank, index) : bits(type, rank, index);
            if (op.kind() == ReduceOp.Kind.SCALED_SUM) {
                x *= (int) scales[rank];
            }
            sum = rank == 0
                    ? x
                    : switch (op.kind()) {
                        case PROD -> sum * x;
                        case MIN -> Math.min(sum, x);
                        case MAX -> Math.max(sum, x);
                        default -> sum + x;
                    };
        }
        if (type == ElementType.INT8) {
            sum = wrapped(sum);
        }
        return op.kind() == ReduceOp.Kind.AVG ? sum / ranks : sum;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 8})
    void allReduceFollowsTheRankOrderForEveryTypeAndOperation(int ranks) {
        int count = 37;
        float[] scales = {1, 2, 3, -1, 2, 1, -3, 2};
        try (Communicator communicator = over(ranks)) {
            for (ElementType type : ElementType.values()) {
                for (ReduceOp.Kind kind : ReduceOp.Kind.values()) {
                    List<Buffer> results = new ArrayList<>();
                    try (Communicator.Group group = communicator.group()) {
                        for (int rank = 0; rank < ranks; rank++) {
                            Buffer send = random(rank, type, count);
                            // Odd ranks work in place.
                            Buffer receive = rank % 2 == 1 ? send : buffer(rank, count * type.bytes());
                            results.add(receive);
                            group.allReduce(
                                    rank,
                                    send.vector(count, type),
                                    receive.vector(count, type),
                                    new ReduceOp(kind, kind == ReduceOp.Kind.SCALED_SUM ? scales[rank] : 1),
                                    streams.get(rank));
                        }
                    }
                    platform.synchronize();
                    byte[] expected = reduced(type, new ReduceOp(kind, 1), ranks, count, 0, scales);
                    for (int rank = 0; rank < ranks; rank++) {
                        assertArrayEquals(
                                expected,
                                Sim.read(results.get(rank), expected.length),
                                type + " " + kind + ", rank " + rank + " of " + ranks + ", seed " + Sim.SEED);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8})
    void theOtherReductionsGiveWhatTheyPromiseInPlaceAndNot(int ranks) {
        int count = 11;
        ElementType type = ElementType.BF16;
        try (Communicator communicator = over(ranks)) {
            for (boolean inPlace : new boolean[] {false, true}) {
                int root = ranks - 1;
                List<Buffer> scattered = new ArrayList<>();
                try (Communicator.Group group = communicator.group()) {
                    for (int rank = 0; rank < ranks; rank++) {
                        Buffer send = random(rank, type, ranks * count);
                        Buffer receive = inPlace ? send : buffer(rank, 2 * count);
                        scattered.add(receive);
                        group.reduceScatter(
                                rank,
                                send.vector((long) ranks * count, type),
                                BufferView.vector(receive, inPlace ? 2L * rank * count : 0, count, type),
                                ReduceOp.SUM,
                                streams.get(rank));
                    }
                }
                platform.synchronize();
                for (int rank = 0; rank < ranks; rank++) {
                    byte[] seen = Sim.read(
                            scattered.get(rank), (int) scattered.get(rank).bytes());
                    int at = inPlace ? 2 * rank * count : 0;
                    assertArrayEquals(
                            reduced(type, ReduceOp.SUM, ranks, count, rank * count, null),
                            Arrays.copyOfRange(seen, at, at + 2 * count));
                }

                Buffer result = null;
                try (Communicator.Group group = communicator.group()) {
                    for (int rank = 0; rank < ranks; rank++) {
                        Buffer send = random(rank, type, count);
                        Buffer receive = rank != root ? null : inPlace ? send : buffer(rank, 2 * count);
                        result = receive;
                        group.reduce(
                                rank,
                                send.vector(count, type),
                                receive == null ? null : receive.vector(count, type),
                                ReduceOp.MAX,
                                root,
                                streams.get(rank));
                    }
                }
                platform.synchronize();
                assertArrayEquals(reduced(type, ReduceOp.MAX, ranks, count, 0, null), Sim.read(result, 2 * count));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8})
    void dataMovesToWhereItBelongsInPlaceAndNot(int ranks) {
        int count = 13;
        ElementType type = ElementType.INT8;
        try (Communicator communicator = over(ranks)) {
            for (boolean inPlace : new boolean[] {false, true}) {
                int root = ranks / 2;
                List<Buffer> gathered = new ArrayList<>();
                List<Buffer> scattered = new ArrayList<>();
                List<Buffer> told = new ArrayList<>();
                List<Buffer> exchanged = new ArrayList<>();
                Buffer atRoot = buffer(root, ranks * count);
                try (Communicator.Group group = communicator.group()) {
                    for (int rank = 0; rank < ranks; rank++) {
                        byte[] mine = Sim.random(type, count, rank);
                        Buffer all = buffer(rank, ranks * count);
                        Buffer send = inPlace ? all : random(rank, type, count);
                        long at = inPlace ? (long) rank * count : 0;
                        send.write(at, MemorySegment.ofArray(mine));
                        gathered.add(all);
                        group.allGather(
                                rank,
                                BufferView.vector(send, at, count, type),
                                all.vector((long) ranks * count, type),
                                streams.get(rank));

                        boolean rootInPlace = inPlace && rank == root;
                        Buffer give = rootInPlace ? atRoot : random(rank, type, count);
                        long giveAt = rootInPlace ? (long) root * count : 0;
                        give.write(giveAt, MemorySegment.ofArray(mine));
                        group.gather(
                                rank,
                                BufferView.vector(give, giveAt, count, type),
                                rank == root ? atRoot.vector((long) ranks * count, type) : null,
                                root,
                                streams.get(rank));

                        Buffer source = rank == root ? random(100, rank, type, ranks * count) : null;
                        Buffer part = rootInPlace ? source : buffer(rank, count);
                        scattered.add(part);
                        group.scatter(
                                rank,
                                source == null ? null : source.vector((long) ranks * count, type),
                                BufferView.vector(part, rootInPlace ? (long) root * count : 0, count, type),
                                root,
                                streams.get(rank));

                        Buffer news = rank == root ? random(200, rank, type, count) : null;
                        Buffer heard = rootInPlace ? news : buffer(rank, count);
                        told.add(heard);
                        group.broadcast(
                                rank,
                                news == null ? null : news.vector(count, type),
                                heard.vector(count, type),
                                root,
                                streams.get(rank));

                        Buffer toAll = random(300 + rank, rank, type, ranks * count);
                        Buffer fromAll = buffer(rank, ranks * count);
                        exchanged.add(fromAll);
                        group.allToAll(
                                rank,
                                toAll.vector((long) ranks * count, type),
                                fromAll.vector((long) ranks * count, type),
                                streams.get(rank));
                        group.barrier(rank, streams.get(rank));
                    }
                }
                platform.synchronize();
                byte[] everything = new byte[ranks * count];
                for (int rank = 0; rank < ranks; rank++) {
                    System.arraycopy(Sim.random(type, count, rank), 0, everything, rank * count, count);
                }
                byte[] fromRoot = Sim.random(type, ranks * count, 100);
                assertArrayEquals(everything, Sim.read(atRoot, ranks * count));
                for (int rank = 0; rank < ranks; rank++) {
                    assertArrayEquals(everything, Sim.read(gathered.get(rank), ranks * count));
                    assertArrayEquals(Sim.random(type, count, 200), Sim.read(told.get(rank), count));
                    byte[] part = Sim.read(
                            scattered.get(rank), (int) scattered.get(rank).bytes());
                    int at = part.length > count ? root * count : 0;
                    assertArrayEquals(
                            Arrays.copyOfRange(fromRoot, rank * count, (rank + 1) * count),
                            Arrays.copyOfRange(part, at, at + count));
                    byte[] got = Sim.read(exchanged.get(rank), ranks * count);
                    for (int from = 0; from < ranks; from++) {
                        byte[] sent = Sim.random(type, ranks * count, 300 + from);
                        assertArrayEquals(
                                Arrays.copyOfRange(sent, rank * count, (rank + 1) * count),
                                Arrays.copyOfRange(got, from * count, (from + 1) * count));
                    }
                }
            }
        }
    }

    private Buffer random(int stream, int rank, ElementType type, int count) {
        Buffer buffer = buffer(rank, count * type.bytes());
        Sim.write(buffer, Sim.random(type, count, stream));
        return buffer;
    }

    @Test
    void allToAllWithCountsMovesUnevenBlocks() {
        int ranks = 3;
        ElementType type = ElementType.INT32;
        long[][] counts = {{1, 0, 4}, {2, 3, 0}, {5, 1, 2}};
        try (Communicator communicator = over(ranks)) {
            List<Buffer> results = new ArrayList<>();
            try (Communicator.Group group = communicator.group()) {
                for (int rank = 0; rank < ranks; rank++) {
                    int sends = 0;
                    int takes = 0;
                    List<Long> sendCounts = new ArrayList<>();
                    List<Long> receiveCounts = new ArrayList<>();
                    for (int peer = 0; peer < ranks; peer++) {
                        sendCounts.add(counts[rank][peer]);
                        receiveCounts.add(counts[peer][rank]);
                        sends += (int) counts[rank][peer];
                        takes += (int) counts[peer][rank];
                    }
                    Buffer send = random(rank, type, sends);
                    Buffer receive = buffer(rank, takes * 4);
                    results.add(receive);
                    group.allToAllV(
                            rank,
                            send.vector(sends, type),
                            sendCounts,
                            receive.vector(takes, type),
                            receiveCounts,
                            streams.get(rank));
                }
            }
            platform.synchronize();
            for (int rank = 0; rank < ranks; rank++) {
                int at = 0;
                byte[] got = Sim.read(results.get(rank), (int) results.get(rank).bytes());
                for (int from = 0; from < ranks; from++) {
                    int skip = 0;
                    for (int peer = 0; peer < rank; peer++) {
                        skip += (int) counts[from][peer];
                    }
                    byte[] sent = Sim.random(type, 20, from);
                    int length = (int) counts[from][rank] * 4;
                    assertArrayEquals(
                            Arrays.copyOfRange(sent, skip * 4, skip * 4 + length),
                            Arrays.copyOfRange(got, at, at + length));
                    at += length;
                }
            }
        }
    }

    @Test
    void sendsAndReceivesPairByTheirOrderAndOnesOfNothingPairToo() {
        try (Communicator communicator = over(2)) {
            Buffer first = random(11, 0, ElementType.INT8, 8);
            Buffer second = random(12, 0, ElementType.INT8, 8);
            Buffer gotFirst = buffer(1, 8);
            Buffer gotSecond = buffer(1, 8);
            try (Communicator.Group group = communicator.group()) {
                group.send(0, first.vector(8, ElementType.INT8), 1, streams.get(0));
                group.send(0, first.vector(0, ElementType.INT8), 1, streams.get(0));
                group.send(0, second.vector(8, ElementType.INT8), 1, streams.get(0));
                group.receive(1, gotFirst.vector(8, ElementType.INT8), 0, streams.get(1));
                group.receive(1, gotFirst.vector(0, ElementType.INT8), 0, streams.get(1));
                group.receive(1, gotSecond.vector(8, ElementType.INT8), 0, streams.get(1));
            }
            platform.synchronize();
            assertArrayEquals(Sim.random(ElementType.INT8, 8, 11), Sim.read(gotFirst, 8));
            assertArrayEquals(Sim.random(ElementType.INT8, 8, 12), Sim.read(gotSecond, 8));

            communicator
                    .group()
                    .send(0, first.vector(0, ElementType.INT8), 1, streams.get(0))
                    .close();
            communicator.group().receive(1, gotFirst.vector(8, ElementType.INT8), 0, streams.get(1));
            Sim.refused(
                    ErrorCode.COLLECTIVE_MISMATCH,
                    () -> communicator
                            .group()
                            .receive(1, gotFirst.vector(8, ElementType.INT8), 0, streams.get(1))
                            .close(),
                    "of 0 int8",
                    "of 8 int8");
        }
    }

    @Test
    void exchangesInOneGroupDoNotBlockOneAnother() {
        int ranks = 4;
        try (Communicator communicator = over(ranks)) {
            List<Buffer> got = new ArrayList<>();
            try (Communicator.Group group = communicator.group()) {
                for (int rank = 0; rank < ranks; rank++) {
                    Buffer mine = random(rank, ElementType.INT8, 32);
                    Buffer from = buffer(rank, 32);
                    got.add(from);
                    group.send(rank, mine.vector(32, ElementType.INT8), (rank + 1) % ranks, streams.get(rank));
                    group.receive(
                            rank, from.vector(32, ElementType.INT8), (rank + ranks - 1) % ranks, streams.get(rank));
                }
            }
            platform.synchronize();
            for (int rank = 0; rank < ranks; rank++) {
                assertArrayEquals(
                        Sim.random(ElementType.INT8, 32, (rank + ranks - 1) % ranks), Sim.read(got.get(rank), 32));
            }
        }
    }

    @Test
    void aSendToItselfNeedsItsReceiveInTheSameGroup() {
        try (Communicator communicator = over(2)) {
            Buffer from = random(0, ElementType.INT8, 16);
            Buffer to = buffer(0, 16);
            Communicator.Group alone =
                    communicator.group().send(0, from.vector(16, ElementType.INT8), 0, streams.get(0));
            Sim.refused(ErrorCode.INVALID_ARGUMENT, alone::close, "rank 0", "one group");
            communicator
                    .group()
                    .send(0, from.vector(16, ElementType.INT8), 0, streams.get(0))
                    .receive(0, to.vector(16, ElementType.INT8), 0, streams.get(0))
                    .close();
            platform.synchronize();
            assertArrayEquals(Sim.random(ElementType.INT8, 16, 0), Sim.read(to, 16));
        }
    }

    @Test
    void aCountOfZeroLaunchesNothingAndIsStillCompared() {
        try (Communicator communicator = over(2)) {
            Buffer a = buffer(0, 64);
            Buffer b = buffer(1, 64);
            communicator.allReduce(
                    0, a.vector(0, ElementType.FP32), a.vector(0, ElementType.FP32), ReduceOp.SUM, streams.get(0));
            streams.get(0).synchronize();
            communicator.allReduce(
                    1, b.vector(0, ElementType.FP32), b.vector(0, ElementType.FP32), ReduceOp.SUM, streams.get(1));
            platform.synchronize();
            communicator.allReduce(
                    0, a.vector(0, ElementType.FP32), a.vector(0, ElementType.FP32), ReduceOp.SUM, streams.get(0));
            Sim.refused(
                    ErrorCode.COLLECTIVE_MISMATCH,
                    () -> communicator.allReduce(
                            1,
                            b.vector(4, ElementType.FP32),
                            b.vector(4, ElementType.FP32),
                            ReduceOp.SUM,
                            streams.get(1)),
                    "rank 0",
                    "rank 1",
                    "of 0",
                    "of 4");
        }
    }

    @Test
    void aMismatchNamesRanksAndDifferenceToEverybody() {
        try (Communicator communicator = over(3)) {
            List<Buffer> buffers = new ArrayList<>();
            for (int rank = 0; rank < 3; rank++) {
                buffers.add(random(rank, ElementType.FP32, 64));
            }
            Communicator.Group group = communicator.group();
            for (int rank = 0; rank < 3; rank++) {
                BufferView view = buffers.get(rank).vector(rank == 1 ? 8 : 16, ElementType.FP32);
                group.allReduce(rank, view, view, ReduceOp.SUM, streams.get(rank));
            }
            Sim.refused(
                    ErrorCode.COLLECTIVE_MISMATCH, group::close, "ranks 0 and 2", "of 16 fp32", "rank 1", "of 8 fp32");
            assertEquals(
                    ErrorCode.COLLECTIVE_MISMATCH,
                    communicator.asyncError().orElseThrow().code());
            for (int rank = 0; rank < 3; rank++) {
                AcceleratorException failure = Sim.refused(ErrorCode.STREAM_FAILED, streams.get(rank)::synchronize);
                assertEquals(ErrorCode.COLLECTIVE_MISMATCH, Sim.root(failure).code());
            }
        }
    }

    @Test
    void mismatchesInKindTypeRootAndOperationAreFound() {
        Buffer a = random(0, ElementType.FP32, 64);
        Buffer b = random(1, ElementType.FP32, 64);
        BufferView va = a.vector(16, ElementType.FP32);
        BufferView vb = b.vector(16, ElementType.FP32);
        mismatch(
                (group, on) -> group.allReduce(0, va, va, ReduceOp.SUM, on),
                (group, on) -> group.allReduce(1, vb, vb, ReduceOp.MAX, on),
                "SUM",
                "MAX");
        mismatch(
                (group, on) -> group.allReduce(0, va, va, ReduceOp.SUM, on),
                (group, on) -> group.allGather(1, vb, BufferView.vector(b, 64, 32, ElementType.FP32), on),
                "ALL_REDUCE",
                "ALL_GATHER");
        mismatch(
                (group, on) -> group.broadcast(0, va, va, 0, on),
                (group, on) -> group.broadcast(1, vb, vb, 1, on),
                "root 0",
                "root 1");
        mismatch(
                (group, on) -> group.allReduce(0, va, va, ReduceOp.SUM, on),
                (group, on) -> group.allReduce(
                        1, b.vector(16, ElementType.BF16), b.vector(16, ElementType.BF16), ReduceOp.SUM, on),
                "fp32",
                "bf16");
        mismatch(
                (group, on) -> group.allToAllV(
                        0,
                        a.vector(3, ElementType.FP32),
                        List.of(1L, 2L),
                        BufferView.vector(a, 64, 3, ElementType.FP32),
                        List.of(1L, 2L),
                        on),
                (group, on) -> group.allToAllV(
                        1,
                        b.vector(4, ElementType.FP32),
                        List.of(2L, 2L),
                        BufferView.vector(b, 64, 3, ElementType.FP32),
                        List.of(1L, 2L),
                        on),
                "rank 0 sends 2 elements to rank 1, which expects 1");
    }

    private interface Issue {
        void issue(Communicator.Group group, Stream on);
    }

    private void mismatch(Issue first, Issue second, String... words) {
        try (Communicator communicator = over(2);
                Stream s0 = platform.device(0).createStream();
                Stream s1 = platform.device(1).createStream()) {
            Communicator.Group group = communicator.group();
            first.issue(group, s0);
            second.issue(group, s1);
            Sim.refused(ErrorCode.COLLECTIVE_MISMATCH, group::close, words);
        }
    }

    @Test
    void aRankThatNeverComesIsNamedAndNobodyHangs() {
        try (Communicator communicator = over(4)) {
            for (int rank : new int[] {0, 1, 3}) {
                Buffer buffer = random(rank, ElementType.FP32, 16);
                communicator.allReduce(
                        rank,
                        buffer.vector(16, ElementType.FP32),
                        buffer.vector(16, ElementType.FP32),
                        ReduceOp.SUM,
                        streams.get(rank));
            }
            Sim.refused(
                    ErrorCode.TIMEOUT,
                    streams.get(0)::synchronize,
                    "ALL_REDUCE",
                    "lacks rank 2",
                    "ranks 0, 1 and 3 wait");
            // It may still come.
            Buffer late = random(2, ElementType.FP32, 16);
            communicator.allReduce(
                    2,
                    late.vector(16, ElementType.FP32),
                    late.vector(16, ElementType.FP32),
                    ReduceOp.SUM,
                    streams.get(2));
            platform.synchronize();
            assertArrayEquals(reduced(ElementType.FP32, ReduceOp.SUM, 4, 16, 0, null), Sim.read(late, 64));
        }
    }

    @Test
    void aRankThatNeverJoinedIsNamedAsSuch() {
        byte[] id = Communicator.newUniqueId(platform);
        try (Communicator communicator = Communicator.join(platform, id, 2, Map.of(0, platform.device(0)))) {
            communicator.group().barrier(0, streams.get(0)).close();
            Sim.refused(ErrorCode.TIMEOUT, streams.get(0)::synchronize, "rank 1", "never joined");
            Sim.refused(
                    ErrorCode.INVALID_ARGUMENT,
                    () -> Communicator.join(platform, id, 2, Map.of(1, platform.device(0))),
                    "device 0 is rank 0");
            Sim.refused(
                    ErrorCode.INVALID_ARGUMENT,
                    () -> Communicator.join(platform, id, 2, Map.of(0, platform.device(1))),
                    "joined already");
            Sim.refused(
                    ErrorCode.INVALID_ARGUMENT,
                    () -> Communicator.join(platform, id, 3, Map.of(1, platform.device(1))),
                    "size");
        }
        Sim.refused(
                ErrorCode.INVALID_ARGUMENT,
                () -> Communicator.join(platform, new byte[128], 1, Map.of(0, platform.device(0))),
                "unique id");
    }

    @Test
    void pollingForWhatCanNeverHappenEnds() {
        try (Communicator communicator = over(2)) {
            communicator.group().barrier(0, streams.get(0)).close();
            AcceleratorException failure = Sim.refused(ErrorCode.TIMEOUT, () -> {
                while (!streams.get(0).query()) {
                    Thread.onSpinWait();
                }
            });
            assertTrue(failure.getMessage().contains("rank 1"));
        }
    }

    @Test
    void twoCommunicatorsInDifferentOrdersOnDifferentRanksAreFoundAndNamed() {
        try (Communicator a = over(2);
                Communicator b = over(2)) {
            a.group().barrier(0, streams.get(0)).close();
            b.group().barrier(0, streams.get(0)).close();
            b.group().barrier(1, streams.get(1)).close();
            a.group().barrier(1, streams.get(1)).close();
            Sim.refused(
                    ErrorCode.COLLECTIVE_MISMATCH,
                    streams.get(0)::synchronize,
                    "circle",
                    "communicator 1",
                    "communicator 2",
                    "rank 0",
                    "rank 1",
                    "held up");
        }
    }

    @Test
    void sendThenReceiveOnBothSidesIsACircle() {
        try (Communicator communicator = over(2)) {
            for (int rank = 0; rank < 2; rank++) {
                Buffer buffer = random(rank, ElementType.INT8, 64);
                communicator
                        .group()
                        .send(rank, BufferView.vector(buffer, 0, 32, ElementType.INT8), 1 - rank, streams.get(rank))
                        .close();
                communicator
                        .group()
                        .receive(rank, BufferView.vector(buffer, 32, 32, ElementType.INT8), 1 - rank, streams.get(rank))
                        .close();
            }
            Sim.refused(
                    ErrorCode.COLLECTIVE_MISMATCH,
                    streams.get(1)::synchronize,
                    "circle",
                    "from rank 0 to rank 1",
                    "from rank 1 to rank 0");
        }
    }

    @Test
    void abortFreesEverybodyEvenWithADeadRank() {
        Communicator communicator = over(3);
        for (int rank = 0; rank < 2; rank++) {
            communicator.group().barrier(rank, streams.get(rank)).close();
        }
        communicator.abort();
        communicator.abort();
        for (int rank = 0; rank < 2; rank++) {
            Sim.refused(ErrorCode.ABORTED, streams.get(rank)::synchronize, "aborted");
            Sim.refused(
                    ErrorCode.STREAM_FAILED,
                    () -> streams.get(0).fill(buffer(0, 4).vector(1, ElementType.FP32), 0));
        }
        streams.get(2).synchronize();
        Sim.refused(
                ErrorCode.ABORTED,
                () -> communicator.group().barrier(2, streams.get(2)).close());
        communicator.close();
        // The devices are free again.
        try (Communicator fresh = over(3);
                Communicator.Group group = fresh.group()) {
            for (int rank = 0; rank < 3; rank++) {
                group.barrier(rank, platform.device(rank).createStream());
            }
        }
    }

    @Test
    void abortEndsWhatIsUnderWay() {
        int count = 1 << 18;
        try (Communicator communicator = over(2)) {
            try (Communicator.Group group = communicator.group()) {
                for (int rank = 0; rank < 2; rank++) {
                    Buffer buffer = buffer(rank, count * 4);
                    BufferView view = buffer.vector(count, ElementType.FP32);
                    group.allReduce(rank, view, view, ReduceOp.SUM, streams.get(rank));
                }
            }
            Buffer other = buffer(0, 4096);
            Sim.write(other, Sim.filled(4096, 1)); // moves time on, so that it has begun
            communicator.abort();
            for (int rank = 0; rank < 2; rank++) {
                Sim.refused(ErrorCode.ABORTED, streams.get(rank)::synchronize);
            }
        }
    }

    @Test
    void splitOrdersByKeyAndLeavesOutNegativeColours() {
        try (Communicator world = over(6)) {
            Map<Integer, Integer> colors = Map.of(0, 1, 1, 0, 2, 1, 3, -1, 4, 1, 5, 0);
            Map<Integer, Integer> keys = Map.of(0, 9, 2, 5, 4, 5);
            Map<Integer, Communicator> parts = world.split(colors, keys);
            assertEquals(List.of(0, 1, 2, 4, 5), List.copyOf(new TreeMap<>(parts).keySet()));
            Communicator one = parts.get(0);
            assertEquals(3, one.size());
            assertEquals(platform.device(2), one.device(0));
            assertEquals(platform.device(4), one.device(1));
            assertEquals(platform.device(0), one.device(2));
            assertEquals(2, parts.get(1).size());
            assertEquals(platform.device(1), parts.get(5).device(0));
            List<Buffer> results = new ArrayList<>();
            try (Communicator.Group group = one.group()) {
                for (int rank = 0; rank < 3; rank++) {
                    Device device = one.device(rank);
                    Buffer buffer = random(device.ordinal(), ElementType.INT32, 4);
                    Sim.write(buffer, Sim.random(ElementType.INT32, 4, rank));
                    results.add(buffer);
                    BufferView view = buffer.vector(4, ElementType.INT32);
                    group.allReduce(rank, view, view, ReduceOp.SUM, streams.get(device.ordinal()));
                }
            }
            platform.synchronize();
            byte[] expected = reduced(ElementType.INT32, ReduceOp.SUM, 3, 4, 0, null);
            results.forEach(result -> assertArrayEquals(expected, Sim.read(result, 16)));
            one.close();
            parts.get(1).close();
        }
    }

    @Test
    void ranksMayRunOnThreadsOfTheirOwn() throws Exception {
        close();
        platform = Sim.open("sim:mesh-8");
        platform.devices().forEach(device -> streams.add(device.createStream()));
        int ranks = 8;
        byte[] id = Communicator.newUniqueId(platform);
        ExecutorService threads = Executors.newFixedThreadPool(ranks);
        try {
            List<Future<byte[]>> results = new ArrayList<>();
            for (int r = 0; r < ranks; r++) {
                int rank = r;
                results.add(threads.submit(() -> onItsOwn(id, rank, ranks)));
            }
            byte[] expected = reduced(ElementType.INT32, ReduceOp.SUM, ranks, 16, 0, null);
            for (Future<byte[]> result : results) {
                assertArrayEquals(expected, result.get());
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private byte[] onItsOwn(byte[] id, int rank, int ranks) {
        try (Communicator world = Communicator.join(platform, id, ranks, Map.of(rank, platform.device(rank)))) {
            Stream stream = streams.get(rank);
            Buffer buffer = random(rank, ElementType.INT32, 16);
            BufferView view = buffer.vector(16, ElementType.INT32);
            world.allReduce(rank, view, view, ReduceOp.SUM, stream);
            stream.synchronize();
            byte[] result = Sim.read(buffer, 64);
            try (Communicator half =
                    world.split(Map.of(rank, rank % 2), Map.of(rank, -rank)).get(rank)) {
                assertEquals(ranks / 2, half.size());
                int mine = (ranks - 1 - rank) / 2;
                half.group().barrier(mine, stream).close();
                stream.synchronize();
            }
            return result;
        }
    }
}
