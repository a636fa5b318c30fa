// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.Communicator;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.NotApplicable;
import io.weft.conformance.bench.RuleBroken;
import io.weft.conformance.reference.Codec;
import io.weft.conformance.reference.Collectives;
import io.weft.conformance.reference.Expectation;
import io.weft.conformance.reference.SlotMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Collectives: data by kind, operation, type and size; matching; mismatches and aborts, in which nobody may hang. */
final class CollectiveProofs {
    private static final ElementType TYPE = ElementType.FP32;
    private static final int COUNT = 96;
    private static final int MOST = 8;

    private static final List<ReduceOp> OPS = List.of(ReduceOp.SUM, ReduceOp.PROD, ReduceOp.MIN, ReduceOp.MAX);
    private static final List<CollectiveKind> REDUCING =
            List.of(CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.REDUCE);
    private static final List<CollectiveKind> MOVING = List.of(
            CollectiveKind.ALL_GATHER,
            CollectiveKind.BROADCAST,
            CollectiveKind.ALL_TO_ALL,
            CollectiveKind.GATHER,
            CollectiveKind.SCATTER);

    private static List<Stream> streams(Bench bench, List<Device> devices) {
        return devices.stream().map(bench::stream).toList();
    }

    /** Those of some types that the backend's collectives reduce; one that they do not must be refused with UNSUPPORTED, and fp32 must be among them. */
    private static List<ElementType> reducible(Bench bench, List<ElementType> types) {
        return reducible(bench, types, ReduceOp.SUM);
    }

    private static List<ElementType> reducible(Bench bench, List<ElementType> types, ReduceOp op) {
        Device device = bench.device();
        Communicator communicator = bench.communicator(List.of(device));
        Stream stream = bench.stream(device);
        Buffer buffer = bench.buffer(device, 16);
        List<ElementType> found = new ArrayList<>();
        for (ElementType type : types) {
            BufferView one = buffer.vector(1, type);
            bench.step("whether collectives reduce " + type);
            Runnable reduction = () -> communicator.allReduce(0, one, one, op, stream);
            if (type == TYPE) {
                reduction.run();
                found.add(type);
            } else if (bench.unlessRefused(reduction)) {
                found.add(type);
            }
        }
        stream.synchronize();
        return found;
    }

    private static List<ElementType> reducible(Bench bench) {
        return reducible(bench, List.of(ElementType.values()));
    }

    private static List<ElementType> floating(Bench bench) {
        return reducible(
                bench,
                Arrays.stream(ElementType.values())
                        .filter(ElementType::isFloating)
                        .toList());
    }

    private static BufferView random(Bench bench, Device device, int count) {
        return bench.randomBuffer(device, TYPE, count).vector(count, TYPE);
    }

    private static BufferView fresh(Bench bench, Device device, int count) {
        return bench.buffer(device, count * 4L).vector(count, TYPE);
    }

    /** One kind for a few numbers of ranks and all roots, fp32. */
    private static void kind(Bench bench, CollectiveKind kind) {
        for (int ranks : new int[] {1, 2, 3, MOST}) {
            List<Device> devices = bench.devicesUpTo(ranks);
            CollectiveBatch batch = new CollectiveBatch(bench, devices);
            int roots = kind.rooted() ? devices.size() : 1;
            for (int root = 0; root < roots; root++) {
                if (kind.reduces()) {
                    batch.add(kind, ReduceOp.SUM, TYPE, root, COUNT);
                } else {
                    batch.addMoving(kind, TYPE, root, COUNT);
                }
            }
            batch.onStreams();
        }
    }

    @Proves("COL-002")
    void allReduce(Bench bench) {
        kind(bench, CollectiveKind.ALL_REDUCE);
    }

    @Proves("COL-003")
    void allGather(Bench bench) {
        kind(bench, CollectiveKind.ALL_GATHER);
    }

    @Proves("COL-004")
    void reduceScatter(Bench bench) {
        kind(bench, CollectiveKind.REDUCE_SCATTER);
    }

    @Proves("COL-005")
    void broadcast(Bench bench) {
        kind(bench, CollectiveKind.BROADCAST);
    }

    @Proves("COL-006")
    void reduce(Bench bench) {
        kind(bench, CollectiveKind.REDUCE);
    }

    @Proves("COL-007")
    void allToAll(Bench bench) {
        kind(bench, CollectiveKind.ALL_TO_ALL);
    }

    @Proves("COL-008")
    void allToAllWithCounts(Bench bench) {
        List<Device> devices = bench.devicesUpTo(5);
        int ranks = devices.size();
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        long[][] counts = new long[ranks][ranks];
        for (int from = 0; from < ranks; from++) {
            for (int to = 0; to < ranks; to++) {
                counts[from][to] =
                        (from * 7L + to * 3L) % 5 == 2 ? 0 : 1 + bench.random().nextInt(40);
            }
        }
        List<int[]> sent = new ArrayList<>();
        List<BufferView> received = new ArrayList<>();
        bench.step("ALL_TO_ALL_V over " + ranks + " ranks with counts " + Arrays.deepToString(counts));
        try (Communicator.Group group = communicator.group()) {
            for (int rank = 0; rank < ranks; rank++) {
                int own = rank;
                List<Long> sendCounts = Arrays.stream(counts[rank]).boxed().toList();
                List<Long> receiveCounts =
                        Arrays.stream(counts).map(row -> row[own]).toList();
                int total = sendCounts.stream().mapToInt(Long::intValue).sum();
                int[] data = Elements.random(bench, TYPE, total);
                sent.add(data);
                int incoming = receiveCounts.stream().mapToInt(Long::intValue).sum();
                received.add(fresh(bench, devices.get(rank), incoming));
                group.allToAllV(
                        rank,
                        bench.upload(devices.get(rank), Elements.bytes(TYPE, data))
                                .vector(total, TYPE),
                        sendCounts,
                        received.get(rank),
                        receiveCounts,
                        streams.get(rank));
            }
        }
        streams.forEach(Stream::synchronize);
        for (int rank = 0; rank < ranks; rank++) {
            int[] expected = new int[(int) received.get(rank).elements()];
            int at = 0;
            for (int from = 0; from < ranks; from++) {
                int start = 0;
                for (int to = 0; to < rank; to++) {
                    start += (int) counts[from][to];
                }
                System.arraycopy(sent.get(from), start, expected, at, (int) counts[from][rank]);
                at += (int) counts[from][rank];
            }
            Elements.expectBits(bench, "what rank " + rank + " got", expected, received.get(rank));
        }
    }

    @Proves("COL-009")
    void gather(Bench bench) {
        kind(bench, CollectiveKind.GATHER);
    }

    @Proves("COL-010")
    void scatter(Bench bench) {
        kind(bench, CollectiveKind.SCATTER);
    }

    @Proves("COL-011")
    void sendAndReceiveBetweenAnyTwo(Bench bench) {
        bench.devices(2);
        List<Device> devices = bench.devicesUpTo(MOST);
        int ranks = devices.size();
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        for (int distance = 1; distance < ranks; distance++) {
            List<BufferView> sent = new ArrayList<>();
            List<BufferView> received = new ArrayList<>();
            bench.step("every rank sends to the rank " + distance + " further");
            try (Communicator.Group group = communicator.group()) {
                for (int rank = 0; rank < ranks; rank++) {
                    sent.add(random(bench, devices.get(rank), COUNT));
                    received.add(fresh(bench, devices.get(rank), COUNT));
                    group.send(rank, sent.get(rank), (rank + distance) % ranks, streams.get(rank));
                    group.receive(rank, received.get(rank), (rank - distance + ranks) % ranks, streams.get(rank));
                }
            }
            streams.forEach(Stream::synchronize);
            for (int rank = 0; rank < ranks; rank++) {
                Elements.expectBits(
                        bench,
                        "what rank " + (rank + distance) % ranks + " got from rank " + rank,
                        Elements.of(bench, sent.get(rank)),
                        received.get((rank + distance) % ranks));
            }
        }
    }

    @Proves("COL-012")
    void nobodyPassesABarrierAlone(Bench bench) {
        List<Device> pair = bench.copyablePair();
        Communicator communicator = bench.communicator(pair);
        List<Stream> streams = streams(bench, pair);
        for (int slow = 0; slow < 2; slow++) {
            Device late = pair.get(slow);
            int bytes = 1 << 20;
            Buffer origin = bench.upload(late, bench.randomBytes(bytes));
            Buffer there = bench.buffer(late, bytes);
            Buffer here = bench.buffer(pair.get(1 - slow), 256);
            bench.step("rank " + slow + " comes late to a barrier behind which the other reads its data");
            streams.get(slow).copy(Bench.bytes(there), Bench.bytes(origin));
            try (Communicator.Group group = communicator.group()) {
                group.barrier(0, streams.get(0)).barrier(1, streams.get(1));
            }
            streams.get(1 - slow).copy(Bench.bytes(here), there.vector(256, ElementType.INT8), CopyMethod.KERNEL);
            streams.forEach(Stream::synchronize);
            bench.holds("what was read behind the barrier", Arrays.copyOf(bench.download(origin), 256), here);
        }
    }

    @Proves("COL-013")
    void everyOperationOnEveryType(Bench bench) {
        List<ElementType> types = reducible(bench);
        for (int ranks = 1; ranks <= Math.min(MOST, bench.platform().devices().size()); ranks++) {
            List<Device> devices = bench.devices(ranks);
            CollectiveBatch batch = new CollectiveBatch(bench, devices);
            for (ElementType type : types) {
                for (CollectiveKind kind : REDUCING) {
                    for (ReduceOp op : OPS) {
                        batch.add(kind, op, type, ranks - 1, 40);
                    }
                }
            }
            batch.onStreams();
        }
    }

    @Proves("COL-014")
    void everyTypeIsMoved(Bench bench) {
        for (int ranks = 1; ranks <= Math.min(MOST, bench.platform().devices().size()); ranks++) {
            List<Device> devices = bench.devices(ranks);
            CollectiveBatch batch = new CollectiveBatch(bench, devices);
            for (ElementType type : ElementType.values()) {
                for (CollectiveKind kind : MOVING) {
                    batch.addMoving(kind, type, ranks - 1, 40);
                }
            }
            batch.onStreams();
        }
    }

    @Proves("COL-015")
    void oddCountsAreRight(Bench bench) {
        List<Device> devices = bench.devicesUpTo(3);
        CollectiveBatch batch = new CollectiveBatch(bench, devices);
        List<ElementType> types = List.of(ElementType.FP32, ElementType.BF16, ElementType.FP8_E4M3, ElementType.INT8);
        List<ElementType> reducible = reducible(bench, types);
        for (ElementType type : types) {
            for (int count : new int[] {1, 2, 3, 5, 7, 17, 31, 63, 127, 1021}) {
                if (reducible.contains(type)) {
                    batch.add(CollectiveKind.ALL_REDUCE, ReduceOp.SUM, type, 0, count);
                    batch.add(CollectiveKind.REDUCE_SCATTER, ReduceOp.MAX, type, 0, count);
                }
                batch.addMoving(CollectiveKind.ALL_GATHER, type, 0, count);
                batch.addMoving(CollectiveKind.BROADCAST, type, 0, count);
                batch.addMoving(CollectiveKind.ALL_TO_ALL, type, 0, count);
            }
        }
        batch.onStreams();
    }

    @Proves("COL-016")
    void sizesAroundSwitchesAreRight(Bench bench) {
        List<Device> devices = bench.devicesUpTo(4);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        for (int words : new int[] {8191, 8193, 16_383, 16_385, 65_537, 262_143}) {
            CollectiveBatch batch = new CollectiveBatch(bench, devices);
            batch.add(CollectiveKind.ALL_REDUCE, ReduceOp.SUM, TYPE, 0, words);
            if (words < 65_536) {
                batch.addMoving(CollectiveKind.ALL_GATHER, TYPE, 0, words);
                batch.add(CollectiveKind.REDUCE_SCATTER, ReduceOp.SUM, TYPE, 0, words);
            }
            batch.onStreams(communicator, streams);
        }
    }

    @Proves("COL-017")
    void graphsGiveTheSame(Bench bench) {
        List<ElementType> types = reducible(bench);
        for (int ranks : new int[] {1, 3, MOST}) {
            CollectiveBatch batch = new CollectiveBatch(bench, bench.devicesUpTo(ranks));
            for (ElementType type : ElementType.values()) {
                for (int i = 0; i < OPS.size() && types.contains(type); i++) {
                    batch.add(REDUCING.get(i % REDUCING.size()), OPS.get(i), type, 0, 33);
                }
                for (CollectiveKind kind : MOVING) {
                    batch.addMoving(kind, type, 0, 17);
                }
            }
            batch.asGraph();
        }
    }

    @Proves("COL-018")
    void floatingAveragesArePreMultiplied(Bench bench) {
        List<ElementType> types = floating(bench);
        for (int ranks : new int[] {2, 3, 6, 7}) {
            CollectiveBatch batch = new CollectiveBatch(bench, bench.devicesUpTo(ranks));
            for (ElementType type : types) {
                for (CollectiveKind kind : REDUCING) {
                    batch.add(kind, ReduceOp.AVG, type, 0, 64);
                }
            }
            batch.onStreams();
        }
        for (int ranks : new int[] {3, 5, 6, 7}) {
            if (ranks <= bench.platform().devices().size()) {
                for (ElementType type : types) {
                    theRoundedShareShows(bench, bench.devices(ranks), type);
                }
            }
        }
    }

    /**
     * All ranks give the same values, for which the average by the rounded share is another value of the type than the value itself. The tolerance of sums hides that, but
     * a backend which divides the sum gives the value itself every time.
     */
    private static void theRoundedShareShows(Bench bench, List<Device> devices, ElementType type) {
        int ranks = devices.size();
        Codec codec = Codec.of(type);
        float share = (float) codec.decode(codec.encode(1.0 / ranks));
        int first = codec.encode(1);
        int last = Math.min(codec.encode(2), first + 2000);
        int[] telling = IntStream.range(first, last)
                .filter(bits -> {
                    float sum = 0;
                    for (int rank = 0; rank < ranks; rank++) {
                        sum += (float) codec.decode(bits) * share;
                    }
                    return codec.encode(sum) != bits;
                })
                .limit(200)
                .toArray();
        if (telling.length == 0) {
            return;
        }
        int[][] send = new int[ranks][];
        Arrays.fill(send, telling);
        CollectiveBatch batch = new CollectiveBatch(bench, devices);
        batch.add(CollectiveKind.ALL_REDUCE, ReduceOp.AVG, type, 0, telling.length, send);
        batch.onStreams();
        byte[] found = batch.result(0);
        int divided = 0;
        for (int i = 0; i < telling.length; i++) {
            divided += SlotMemory.get(found, i * type.bytes(), type) == telling[i] ? 1 : 0;
        }
        bench.that(
                2 * divided < telling.length || divided == 0,
                "averages of " + type + " over " + ranks + " ranks by the share " + share,
                divided + " of " + telling.length + " are those of a sum that was divided");
    }

    @Proves("COL-019")
    void wholeAveragesAreDivided(Bench bench) {
        List<ElementType> types = reducible(bench, List.of(ElementType.INT8, ElementType.INT32), ReduceOp.AVG);
        if (types.isEmpty()) {
            throw new NotApplicable("collectives have no mean of whole numbers here");
        }
        for (int ranks : new int[] {2, 3, 7}) {
            List<Device> devices = bench.devicesUpTo(ranks);
            CollectiveBatch batch = new CollectiveBatch(bench, devices);
            for (ElementType type : types) {
                for (CollectiveKind kind : REDUCING) {
                    int elements = 64 * Collectives.sendFactor(kind, devices.size());
                    int[][] send = new int[devices.size()][];
                    for (int rank = 0; rank < send.length; rank++) {
                        send[rank] = Elements.random(bench, type, elements);
                    }
                    batch.add(kind, ReduceOp.AVG, type, 0, 64, send);
                }
            }
            batch.onStreams();
        }
    }

    @Proves("COL-020")
    void everyRankHasItsOwnFactor(Bench bench) {
        List<ElementType> types = reducible(bench);
        for (int ranks : new int[] {2, 5}) {
            List<Device> devices = bench.devicesUpTo(ranks);
            CollectiveBatch batch = new CollectiveBatch(bench, devices);
            for (ElementType type : types) {
                ReduceOp[] ops = new ReduceOp[devices.size()];
                for (int rank = 0; rank < ops.length; rank++) {
                    ops[rank] = ReduceOp.scaledSum(type.isFloating() ? 0.3f + 0.45f * rank : 1 + rank);
                }
                for (CollectiveKind kind : REDUCING) {
                    int elements = 48 * Collectives.sendFactor(kind, devices.size());
                    int[][] send = new int[devices.size()][];
                    for (int rank = 0; rank < send.length; rank++) {
                        send[rank] = Elements.positive(bench, type, elements);
                    }
                    batch.add(kind, ops, type, 0, 48, send);
                }
            }
            batch.onStreams();
        }
    }

    @Proves("COL-021")
    void extremesAreExact(Bench bench) {
        List<Device> devices = bench.devicesUpTo(4);
        CollectiveBatch batch = new CollectiveBatch(bench, devices);
        for (ElementType type : reducible(bench)) {
            int[][] send = new int[devices.size()][];
            for (int rank = 0; rank < send.length; rank++) {
                send[rank] = Elements.random(bench, type, 32);
                int at = rank * 2;
                if (type.isFloating()) {
                    send[rank][at] = Codec.of(type).encode(type.maxFinite());
                    send[rank][at + 1] = Codec.of(type).encode(-type.maxFinite());
                } else {
                    send[rank][at] = type == ElementType.INT8 ? 0x7F : Integer.MAX_VALUE;
                    send[rank][at + 1] = type == ElementType.INT8 ? 0x80 : Integer.MIN_VALUE;
                }
            }
            batch.add(CollectiveKind.ALL_REDUCE, ReduceOp.MIN, type, 0, 32, send);
            batch.add(CollectiveKind.ALL_REDUCE, ReduceOp.MAX, type, 0, 32, send);
        }
        batch.onStreams();
    }

    private static int[][] random(Bench bench, int ranks, int count) {
        int[][] send = new int[ranks][];
        for (int rank = 0; rank < ranks; rank++) {
            send[rank] = Elements.random(bench, TYPE, count);
        }
        return send;
    }

    @Proves("COL-022")
    void allRanksGetTheSameBits(Bench bench) {
        List<Device> devices = bench.devicesUpTo(MOST);
        for (int count : new int[] {33, 5000}) {
            CollectiveBatch batch = new CollectiveBatch(bench, devices);
            batch.add(CollectiveKind.ALL_REDUCE, ReduceOp.SUM, TYPE, 0, count, random(bench, devices.size(), count));
            batch.onStreams();
            for (int rank = 1; rank < devices.size(); rank++) {
                bench.sameBytes("rank " + rank + "'s result against rank 0's", batch.result(0), batch.result(rank));
            }
        }
    }

    @Proves("COL-023")
    void theSameReductionGivesTheSameBits(Bench bench) {
        List<Device> devices = bench.devicesUpTo(MOST);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        CollectiveBatch batch = new CollectiveBatch(bench, devices);
        batch.add(CollectiveKind.ALL_REDUCE, ReduceOp.SUM, TYPE, 0, 1000, random(bench, devices.size(), 1000));
        batch.onStreams(communicator, streams);
        byte[] first = batch.result(0);
        for (int again = 0; again < 3; again++) {
            batch.onStreams(communicator, streams);
            bench.sameBytes("the result of the same reduction", first, batch.result(0));
        }
    }

    @Proves("COL-024")
    void countsOfZeroSucceed(Bench bench) {
        List<Device> devices = bench.devicesUpTo(3);
        CollectiveBatch batch = new CollectiveBatch(bench, devices);
        for (CollectiveKind kind : REDUCING) {
            batch.add(kind, ReduceOp.SUM, TYPE, 0, 0);
        }
        for (CollectiveKind kind : MOVING) {
            batch.addMoving(kind, TYPE, 0, 0);
        }
        // One with data among them, in the same group.
        batch.add(CollectiveKind.ALL_REDUCE, ReduceOp.SUM, TYPE, 0, COUNT);
        batch.onStreams();
    }

    @Proves("COL-025")
    void transfersOfNothingPair(Bench bench) {
        List<Device> devices = bench.devices(2);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        BufferView data = random(bench, devices.get(0), COUNT);
        BufferView result = fresh(bench, devices.get(1), COUNT);
        bench.step("a transfer of 0 elements and one of " + COUNT);
        try (Communicator.Group group = communicator.group()) {
            group.send(0, data.columnRange(0, 0), 1, streams.get(0))
                    .send(0, data, 1, streams.get(0))
                    .receive(1, result.columnRange(0, 0), 0, streams.get(1))
                    .receive(1, result, 0, streams.get(1));
        }
        streams.forEach(Stream::synchronize);
        Elements.expectBits(bench, "the second transfer", Elements.of(bench, data), result);
        mismatch(
                bench,
                "a send of 0 elements against a receive of " + COUNT,
                communicator,
                streams,
                group ->
                        group.send(0, data.columnRange(0, 0), 1, streams.get(0)).receive(1, result, 0, streams.get(1)));
    }

    @Proves("COL-026")
    void transfersPairInTheirOrder(Bench bench) {
        List<Device> devices = bench.devices(2);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        List<BufferView> sent = new ArrayList<>();
        List<BufferView> received = new ArrayList<>();
        bench.step("four sends to one peer");
        try (Communicator.Group group = communicator.group()) {
            for (int i = 0; i < 4; i++) {
                sent.add(random(bench, devices.get(0), COUNT));
                received.add(fresh(bench, devices.get(1), COUNT));
                group.send(0, sent.get(i), 1, streams.get(0));
            }
            for (int i = 0; i < 4; i++) {
                group.receive(1, received.get(i), 0, streams.get(1));
            }
        }
        streams.forEach(Stream::synchronize);
        for (int i = 0; i < 4; i++) {
            Elements.expectBits(bench, "receive " + i, Elements.of(bench, sent.get(i)), received.get(i));
        }
    }

    @Proves("COL-027")
    void ranksExchangeInOneGroup(Bench bench) {
        List<Device> devices = bench.devices(2);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        List<BufferView> sent = List.of(random(bench, devices.get(0), COUNT), random(bench, devices.get(1), COUNT));
        List<BufferView> received = List.of(fresh(bench, devices.get(0), COUNT), fresh(bench, devices.get(1), COUNT));
        bench.step("an exchange: both ranks send before they receive");
        try (Communicator.Group group = communicator.group()) {
            for (int rank = 0; rank < 2; rank++) {
                group.send(rank, sent.get(rank), 1 - rank, streams.get(rank));
                group.receive(rank, received.get(rank), 1 - rank, streams.get(rank));
            }
        }
        streams.forEach(Stream::synchronize);
        for (int rank = 0; rank < 2; rank++) {
            Elements.expectBits(
                    bench, "what rank " + rank + " got", Elements.of(bench, sent.get(1 - rank)), received.get(rank));
        }
    }

    @Proves("COL-028")
    void aRankSendsToItself(Bench bench) {
        List<Device> devices = bench.devicesUpTo(2);
        Communicator communicator = bench.communicator(devices);
        Stream stream = bench.stream(devices.get(0));
        BufferView data = random(bench, devices.get(0), COUNT);
        BufferView result = fresh(bench, devices.get(0), COUNT);
        bench.step("rank 0 sends to itself");
        try (Communicator.Group group = communicator.group()) {
            group.send(0, data, 0, stream).receive(0, result, 0, stream);
        }
        stream.synchronize();
        Elements.expectBits(bench, "what rank 0 sent itself", Elements.of(bench, data), result);
    }

    @Proves("COL-029")
    void aLonelySendToItselfIsRefused(Bench bench) {
        List<Device> devices = bench.devicesUpTo(2);
        Communicator communicator = bench.communicator(devices);
        Stream stream = bench.stream(devices.get(0));
        BufferView data = bench.buffer(devices.get(0), COUNT * 4L).vector(COUNT, TYPE);
        bench.refuses(
                "a send to the rank itself without its receive",
                () -> communicator.group().send(0, data, 0, stream).close(),
                ErrorCode.INVALID_ARGUMENT);
        stream.synchronize();
    }

    private static void inPlace(Bench bench, CollectiveKind... kinds) {
        for (int ranks : new int[] {1, 2, 5}) {
            List<Device> devices = bench.devicesUpTo(ranks);
            CollectiveBatch batch = new CollectiveBatch(bench, devices);
            for (CollectiveKind kind : kinds) {
                for (int root = 0; root < (kind.rooted() ? devices.size() : 1); root++) {
                    batch.addInPlace(kind, ReduceOp.SUM, TYPE, root, COUNT);
                    batch.addInPlace(kind, ReduceOp.SUM, ElementType.BF16, root, 33);
                }
            }
            batch.onStreams();
        }
    }

    @Proves("COL-030")
    void allReduceInPlace(Bench bench) {
        inPlace(bench, CollectiveKind.ALL_REDUCE);
    }

    @Proves("COL-031")
    void allGatherInPlace(Bench bench) {
        inPlace(bench, CollectiveKind.ALL_GATHER);
    }

    @Proves("COL-032")
    void reduceScatterInPlace(Bench bench) {
        inPlace(bench, CollectiveKind.REDUCE_SCATTER);
    }

    @Proves("COL-033")
    void broadcastAndReduceInPlace(Bench bench) {
        inPlace(bench, CollectiveKind.BROADCAST, CollectiveKind.REDUCE);
    }

    @Proves("COL-034")
    void gatherAndScatterInPlace(Bench bench) {
        inPlace(bench, CollectiveKind.GATHER, CollectiveKind.SCATTER);
    }

    @Proves("COL-035")
    void sendViewsStay(Bench bench) {
        List<Device> devices = bench.devicesUpTo(4);
        int ranks = devices.size();
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        for (CollectiveKind kind :
                List.of(CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER)) {
            List<BufferView> sent = new ArrayList<>();
            List<int[]> before = new ArrayList<>();
            bench.step(kind + " out of place");
            try (Communicator.Group group = communicator.group()) {
                for (int rank = 0; rank < ranks; rank++) {
                    BufferView send = random(bench, devices.get(rank), COUNT * Collectives.sendFactor(kind, ranks));
                    BufferView receive =
                            fresh(bench, devices.get(rank), COUNT * Collectives.receiveFactor(kind, ranks));
                    sent.add(send);
                    before.add(Elements.of(bench, send));
                    switch (kind) {
                        case ALL_REDUCE -> group.allReduce(rank, send, receive, ReduceOp.SUM, streams.get(rank));
                        case ALL_GATHER -> group.allGather(rank, send, receive, streams.get(rank));
                        default -> group.reduceScatter(rank, send, receive, ReduceOp.SUM, streams.get(rank));
                    }
                }
            }
            streams.forEach(Stream::synchronize);
            for (int rank = 0; rank < ranks; rank++) {
                Elements.expectBits(
                        bench, "the send view of rank " + rank + " after " + kind, before.get(rank), sent.get(rank));
            }
        }
    }

    @Proves("COL-036")
    void otherRanksReceiveViewsStay(Bench bench) {
        List<Device> devices = bench.devices(3);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        for (boolean reduce : new boolean[] {true, false}) {
            List<BufferView> receives = new ArrayList<>();
            List<int[]> before = new ArrayList<>();
            bench.step((reduce ? "REDUCE" : "GATHER") + " with root 1 and a receive view on every rank");
            try (Communicator.Group group = communicator.group()) {
                for (int rank = 0; rank < 3; rank++) {
                    BufferView send = random(bench, devices.get(rank), COUNT);
                    BufferView receive = random(bench, devices.get(rank), reduce ? COUNT : 3 * COUNT);
                    receives.add(receive);
                    before.add(Elements.of(bench, receive));
                    if (reduce) {
                        group.reduce(rank, send, receive, ReduceOp.SUM, 1, streams.get(rank));
                    } else {
                        group.gather(rank, send, receive, 1, streams.get(rank));
                    }
                }
            }
            streams.forEach(Stream::synchronize);
            for (int rank : new int[] {0, 2}) {
                Elements.expectBits(bench, "the receive view of rank " + rank, before.get(rank), receives.get(rank));
            }
        }
    }

    // Mismatches.

    /** The failure of a kind in a chain of causes, or null. */
    private static AcceleratorException inChain(Throwable failure, ErrorCode code) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof AcceleratorException one && one.code() == code) {
                return one;
            }
        }
        return null;
    }

    /** Issues parts that do not fit together. The backend may say so when they are issued, to those who wait, or as the communicator's asynchronous error. */
    private static AcceleratorException mismatch(
            Bench bench,
            String what,
            Communicator communicator,
            List<Stream> streams,
            Consumer<Communicator.Group> issue) {
        bench.step(what);
        List<Throwable> told = new ArrayList<>();
        Communicator.Group group = communicator.group();
        try {
            issue.accept(group);
            group.close();
        } catch (AcceleratorException failure) {
            told.add(failure);
        }
        for (Stream stream : streams) {
            try {
                stream.synchronize();
            } catch (AcceleratorException failure) {
                told.add(failure);
            }
        }
        communicator.asyncError().ifPresent(told::add);
        for (Throwable one : told) {
            AcceleratorException mismatch = inChain(one, ErrorCode.COLLECTIVE_MISMATCH);
            if (mismatch != null) {
                return mismatch;
            }
        }
        throw new RuleBroken(
                what + " to be told with COLLECTIVE_MISMATCH",
                told.isEmpty() ? "nobody was told anything" : "it was told as: " + told.getFirst());
    }

    private static void names(Bench bench, AcceleratorException mismatch, String... words) {
        for (String word : words) {
            bench.that(
                    mismatch.getMessage().contains(word),
                    "a message that says '" + word + "'",
                    "it says: " + mismatch.getMessage());
        }
    }

    /** A communicator of three ranks on which rank 2 does something else. */
    private static void disagree(Bench bench, String what, String ofTwo, RankPart usual, RankPart other) {
        List<Device> devices = bench.devices(3);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        List<Buffer> buffers =
                devices.stream().map(device -> bench.buffer(device, 4096)).toList();
        List<Buffer> results =
                devices.stream().map(device -> bench.buffer(device, 4096)).toList();
        AcceleratorException mismatch = mismatch(bench, what, communicator, streams, group -> {
            for (int rank = 0; rank < 3; rank++) {
                (rank == 2 ? other : usual).add(group, rank, buffers.get(rank), results.get(rank), streams.get(rank));
            }
        });
        names(bench, mismatch, "rank", "2", ofTwo);
    }

    /** Adds one rank's part to a group. */
    @FunctionalInterface
    private interface RankPart {
        void add(Communicator.Group group, int rank, Buffer send, Buffer receive, Stream stream);
    }

    private static RankPart reduction(ElementType type, int count, ReduceOp op) {
        return (group, rank, send, receive, stream) ->
                group.allReduce(rank, send.vector(count, type), receive.vector(count, type), op, stream);
    }

    @Proves("COL-037")
    void anotherKindIsTold(Bench bench) {
        disagree(
                bench,
                "rank 2 broadcasts while the others reduce",
                "BROADCAST",
                reduction(TYPE, COUNT, ReduceOp.SUM),
                (group, rank, send, receive, stream) ->
                        group.broadcast(rank, send.vector(COUNT, TYPE), receive.vector(COUNT, TYPE), 0, stream));
    }

    @Proves("COL-038")
    void anotherCountIsTold(Bench bench) {
        disagree(
                bench,
                "rank 2 reduces 95 elements and the others 96",
                "95",
                reduction(TYPE, 96, ReduceOp.SUM),
                reduction(TYPE, 95, ReduceOp.SUM));
    }

    @Proves("COL-039")
    void anotherTypeIsTold(Bench bench) {
        disagree(
                bench,
                "rank 2 reduces int32 and the others fp32",
                "int32",
                reduction(TYPE, COUNT, ReduceOp.SUM),
                reduction(ElementType.INT32, COUNT, ReduceOp.SUM));
    }

    @Proves("COL-040")
    void anotherReductionIsTold(Bench bench) {
        disagree(
                bench,
                "rank 2 takes the maximum and the others the sum",
                "MAX",
                reduction(TYPE, COUNT, ReduceOp.SUM),
                reduction(TYPE, COUNT, ReduceOp.MAX));
    }

    @Proves("COL-041")
    void anotherRootIsTold(Bench bench) {
        disagree(bench, "rank 2 takes rank 1 for the root and the others rank 0", "root 1", rooted(0), rooted(1));
    }

    private static RankPart rooted(int root) {
        return (group, rank, send, receive, stream) ->
                group.broadcast(rank, send.vector(COUNT, TYPE), receive.vector(COUNT, TYPE), root, stream);
    }

    @Proves("COL-042")
    void mixedEncodingsAreTold(Bench bench) {
        for (boolean reduce : new boolean[] {true, false}) {
            disagree(
                    bench,
                    "rank 2 speaks fp8-fnuz and the others fp8",
                    "fp8-fnuz",
                    encoded(reduce, ElementType.FP8_E4M3),
                    encoded(reduce, ElementType.FP8_E4M3_FNUZ));
        }
    }

    private static RankPart encoded(boolean reduce, ElementType type) {
        return (group, rank, send, receive, stream) -> {
            if (reduce) {
                group.allReduce(rank, send.vector(COUNT, type), receive.vector(COUNT, type), ReduceOp.SUM, stream);
            } else {
                group.broadcast(rank, send.vector(COUNT, type), receive.vector(COUNT, type), 0, stream);
            }
        };
    }

    @Proves("COL-043")
    void unequalTransfersAreTold(Bench bench) {
        List<Device> devices = bench.devices(2);
        for (boolean byType : new boolean[] {false, true}) {
            Communicator communicator = bench.communicator(devices);
            List<Stream> streams = streams(bench, devices);
            BufferView send = bench.buffer(devices.get(0), COUNT * 4L).vector(COUNT, TYPE);
            Buffer receive = bench.buffer(devices.get(1), COUNT * 4L);
            mismatch(
                    bench,
                    "a send and a receive that disagree in " + (byType ? "type" : "count"),
                    communicator,
                    streams,
                    group -> group.send(0, send, 1, streams.get(0))
                            .receive(
                                    1,
                                    byType ? receive.vector(COUNT, ElementType.INT32) : receive.vector(COUNT - 1, TYPE),
                                    0,
                                    streams.get(1)));
        }
    }

    @Proves("COL-044")
    void unequalPairCountsAreTold(Bench bench) {
        List<Device> devices = bench.devices(2);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        List<BufferView> views = new ArrayList<>();
        for (Device device : devices) {
            views.add(bench.buffer(device, 64).vector(16, TYPE));
            views.add(bench.buffer(device, 64).vector(16, TYPE));
        }
        AcceleratorException mismatch = mismatch(
                bench,
                "rank 0 sends 10 elements to rank 1, which expects 9",
                communicator,
                streams,
                group -> group.allToAllV(
                                0, views.get(0), List.of(6L, 10L), views.get(1), List.of(6L, 10L), streams.get(0))
                        .allToAllV(1, views.get(2), List.of(10L, 6L), views.get(3), List.of(9L, 7L), streams.get(1)));
        names(bench, mismatch, "rank 0", "rank 1");
    }

    @Proves("COL-045")
    void aMismatchStaysKnown(Bench bench) {
        List<Device> devices = bench.devices(2);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        List<Buffer> buffers =
                devices.stream().map(device -> bench.buffer(device, 4096)).toList();
        mismatch(bench, "two ranks that disagree in count", communicator, streams, group -> {
            for (int rank = 0; rank < 2; rank++) {
                BufferView view = buffers.get(rank).vector(COUNT + rank, TYPE);
                group.allReduce(rank, view, view, ReduceOp.SUM, streams.get(rank));
            }
        });
        bench.that(
                communicator
                        .asyncError()
                        .map(error -> inChain(error, ErrorCode.COLLECTIVE_MISMATCH) != null)
                        .orElse(false),
                "asyncError to hold the COLLECTIVE_MISMATCH",
                "it holds " + communicator.asyncError().map(Throwable::toString).orElse("nothing"));
    }

    @Proves("COL-046")
    void successLeavesNoError(Bench bench) {
        List<Device> devices = bench.devicesUpTo(3);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        noError(bench, communicator, "before anything was issued");
        CollectiveBatch batch = new CollectiveBatch(bench, devices);
        batch.add(CollectiveKind.ALL_REDUCE, ReduceOp.SUM, TYPE, 0, COUNT);
        batch.onStreams(communicator, streams);
        noError(bench, communicator, "after a collective");
    }

    private static void noError(Bench bench, Communicator communicator, String when) {
        bench.that(
                communicator.asyncError().isEmpty(),
                "no asyncError " + when,
                "it is " + communicator.asyncError().map(Throwable::toString).orElse(""));
    }

    @Proves("COL-047")
    void crossedCommunicatorsAreTold(Bench bench) {
        List<Device> devices = bench.devices(2);
        Communicator first = bench.communicator(devices);
        Communicator second = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        List<BufferView> views = devices.stream()
                .map(device -> bench.buffer(device, 256).vector(64, TYPE))
                .toList();
        bench.step("rank 0 uses communicator A before B, rank 1 uses B before A");
        first.group()
                .allReduce(0, views.get(0), views.get(0), ReduceOp.SUM, streams.get(0))
                .close();
        second.group().barrier(1, streams.get(1)).close();
        second.group().barrier(0, streams.get(0)).close();
        first.group()
                .allReduce(1, views.get(1), views.get(1), ReduceOp.SUM, streams.get(1))
                .close();
        AcceleratorException told = bench.refuses(
                "waiting for collectives that hold each other up",
                streams.get(0)::synchronize,
                ErrorCode.COLLECTIVE_MISMATCH,
                ErrorCode.TIMEOUT);
        names(bench, told, "ALL_REDUCE", "BARRIER");
        first.abort();
        second.abort();
        freed(streams);
    }

    /** Lets streams come to their end after an abort. */
    private static void freed(List<Stream> streams) {
        for (Stream stream : streams) {
            try {
                stream.synchronize();
            } catch (AcceleratorException aborted) {
                // Whether and how it is told is another rule's business.
            }
        }
    }

    @Proves("COL-048")
    void twoCommunicatorsInOneOrder(Bench bench) {
        List<Device> devices = bench.devicesUpTo(4);
        int ranks = devices.size();
        List<Communicator> communicators = List.of(bench.communicator(devices), bench.communicator(devices));
        List<List<Stream>> streams = List.of(streams(bench, devices), streams(bench, devices));
        int[][][] sent = new int[6][][];
        List<List<BufferView>> received = new ArrayList<>();
        bench.step("two communicators used in turn");
        for (int i = 0; i < 6; i++) {
            sent[i] = random(bench, ranks, COUNT);
            List<BufferView> results = new ArrayList<>();
            try (Communicator.Group group = communicators.get(i % 2).group()) {
                for (int rank = 0; rank < ranks; rank++) {
                    BufferView send = bench.upload(devices.get(rank), Elements.bytes(TYPE, sent[i][rank]))
                            .vector(COUNT, TYPE);
                    results.add(fresh(bench, devices.get(rank), COUNT));
                    group.allReduce(
                            rank,
                            send,
                            results.get(rank),
                            ReduceOp.SUM,
                            streams.get(i % 2).get(rank));
                }
            }
            received.add(results);
        }
        streams.forEach(some -> some.forEach(Stream::synchronize));
        for (int i = 0; i < 6; i++) {
            Expectation[] expected = Collectives.results(
                    CollectiveKind.ALL_REDUCE, ReduceOp.Kind.SUM, new float[ranks], TYPE, 0, sent[i]);
            for (int rank = 0; rank < ranks; rank++) {
                Elements.expect(
                        bench,
                        "reduction " + i + " on rank " + rank,
                        expected[rank],
                        received.get(i).get(rank));
            }
        }
    }

    @Proves("COL-049")
    void aMissingRankIsNamed(Bench bench) {
        List<Device> devices = bench.devices(3);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        bench.step("ranks 0 and 2 come to a barrier, rank 1 never does");
        try (Communicator.Group group = communicator.group()) {
            group.barrier(0, streams.get(0)).barrier(2, streams.get(2));
        }
        AcceleratorException told =
                bench.refuses("waiting for a rank that never comes", streams.get(0)::synchronize, ErrorCode.TIMEOUT);
        names(bench, told, "rank 1");
        communicator.abort();
        freed(streams);
    }

    @Proves("COL-050")
    void anAbortFreesWhoeverWaits(Bench bench) {
        List<Device> devices = bench.devices(3);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        BufferView first = bench.buffer(devices.get(0), 256).vector(64, TYPE);
        BufferView second = bench.buffer(devices.get(2), 256).vector(64, TYPE);
        try (Communicator.Group group = communicator.group()) {
            group.allReduce(0, first, first, ReduceOp.SUM, streams.get(0))
                    .allReduce(2, second, second, ReduceOp.SUM, streams.get(2));
        }
        CountDownLatch waiting = new CountDownLatch(2);
        AtomicBoolean aborted = new AtomicBoolean();
        bench.step("ranks 0 and 2 wait, rank 1 is dead, the communicator is aborted");
        bench.together(3, rank -> {
            if (rank == 1) {
                await(waiting);
                communicator.abort();
                aborted.set(true);
                return;
            }
            waiting.countDown();
            // A backend may lose patience before the abort comes; who waits again must be told of it.
            boolean over;
            ErrorCode told;
            do {
                over = aborted.get();
                told = bench.refuses(
                                "rank " + rank + " to be freed",
                                streams.get(rank)::synchronize,
                                ErrorCode.ABORTED,
                                ErrorCode.TIMEOUT)
                        .code();
            } while (!over && told == ErrorCode.TIMEOUT);
            bench.equal("what rank " + rank + " is told after the abort", ErrorCode.ABORTED, told);
        });
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new RuleBroken("all ranks to come to an end", "the watchdog stopped them");
        }
    }

    @Proves("COL-051")
    void anAbortedCommunicatorRefuses(Bench bench) {
        List<Device> devices = bench.devicesUpTo(2);
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        communicator.abort();
        communicator.abort();
        bench.refuses(
                "a collective after an abort",
                () -> {
                    try (Communicator.Group group = communicator.group()) {
                        for (int rank = 0; rank < devices.size(); rank++) {
                            group.barrier(rank, streams.get(rank));
                        }
                    }
                },
                ErrorCode.ABORTED);
        communicator.close();
        streams.forEach(Stream::synchronize);
    }

    @Proves("COL-052")
    void othersGoOnAfterAnAbort(Bench bench) {
        List<Device> devices = bench.devices(2);
        Communicator dying = bench.communicator(devices);
        Communicator living = bench.communicator(devices);
        List<Stream> waiting = streams(bench, devices);
        dying.group().barrier(0, waiting.get(0)).close();
        dying.abort();
        freed(waiting);
        CollectiveBatch batch = new CollectiveBatch(bench, devices);
        batch.add(CollectiveKind.ALL_REDUCE, ReduceOp.SUM, TYPE, 0, COUNT);
        batch.onStreams(living, streams(bench, devices));
    }

    // Joining and splitting.

    /** Lets two ranks join by one id, each on its thread, and gives how each fared: null, or how it was refused. */
    private static AcceleratorException[] joinApart(
            Bench bench, byte[] id, int[] sizes, List<Map<Integer, Device>> members) {
        AcceleratorException[] refusals = new AcceleratorException[members.size()];
        bench.together(members.size(), member -> {
            try {
                bench.closing(
                        "a communicator", Communicator.join(bench.platform(), id, sizes[member], members.get(member)));
            } catch (AcceleratorException refusal) {
                refusals[member] = refusal;
            }
        });
        return refusals;
    }

    private static void someoneIsRefused(Bench bench, String what, AcceleratorException... refusals) {
        boolean any = Arrays.stream(refusals)
                .anyMatch(refusal -> refusal != null && refusal.code() == ErrorCode.INVALID_ARGUMENT);
        bench.that(
                any,
                what + " to be refused with INVALID_ARGUMENT",
                "the ranks were answered: " + Arrays.toString(refusals));
    }

    @Proves("COL-053")
    void aDeviceIsOneRankOnly(Bench bench) {
        Device device = bench.device();
        bench.refuses(
                "one device as two ranks of one member",
                () -> bench.communicator(List.of(device, device)),
                ErrorCode.INVALID_ARGUMENT);
        byte[] id = Communicator.newUniqueId(bench.platform());
        someoneIsRefused(
                bench,
                "one device as two ranks that join apart",
                joinApart(bench, id, new int[] {2, 2}, List.of(Map.of(0, device), Map.of(1, device))));
    }

    @Proves("COL-054")
    void aRankJoinsOnce(Bench bench) {
        List<Device> devices = bench.devices(2);
        byte[] id = Communicator.newUniqueId(bench.platform());
        someoneIsRefused(
                bench,
                "rank 0 joining twice",
                joinApart(bench, id, new int[] {2, 2}, List.of(Map.of(0, devices.get(0)), Map.of(0, devices.get(1)))));
    }

    @Proves("COL-055")
    void sizesMustAgree(Bench bench) {
        List<Device> devices = bench.devices(2);
        byte[] id = Communicator.newUniqueId(bench.platform());
        someoneIsRefused(
                bench,
                "ranks that join with sizes 2 and 3",
                joinApart(bench, id, new int[] {2, 3}, List.of(Map.of(0, devices.get(0)), Map.of(1, devices.get(1)))));
    }

    @Proves("COL-056")
    void foreignIdsAreRefused(Bench bench) {
        byte[] good = Communicator.newUniqueId(bench.platform());
        byte[] changed = good.clone();
        changed[0] ^= 0x55;
        for (byte[] bad : List.of(new byte[0], new byte[] {1, 2, 3}, changed)) {
            bench.refuses(
                    "a unique id of " + bad.length + " bytes that nobody made",
                    () -> bench.closing(
                            "a communicator", Communicator.join(bench.platform(), bad, 1, Map.of(0, bench.device()))),
                    ErrorCode.INVALID_ARGUMENT);
        }
    }

    @Proves("COL-057")
    void idsDiffer(Bench bench) {
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < 16; i++) {
            bench.that(
                    seen.add(Arrays.toString(Communicator.newUniqueId(bench.platform()))),
                    "16 different unique ids",
                    "number " + i + " was met before");
        }
    }

    private static Map<Integer, Communicator> split(
            Bench bench, Communicator whole, Map<Integer, Integer> colors, Map<Integer, Integer> keys) {
        Map<Integer, Communicator> parts = whole.split(colors, keys);
        new HashSet<>(parts.values()).forEach(part -> bench.closing("a part of a communicator", part));
        return parts;
    }

    @Proves("COL-058")
    void coloursMakeCommunicators(Bench bench) {
        bench.devices(4);
        List<Device> devices = bench.devicesUpTo(6);
        Communicator whole = bench.communicator(devices);
        Map<Integer, Integer> colors = new HashMap<>();
        for (int rank = 0; rank < devices.size(); rank++) {
            colors.put(rank, rank % 2);
        }
        Map<Integer, Communicator> parts = split(bench, whole, colors, Map.of());
        bench.equal("the ranks that take part in the split", colors.keySet(), parts.keySet());
        for (int color = 0; color < 2; color++) {
            Communicator part = parts.get(color);
            List<Device> members = new ArrayList<>();
            for (int rank = color; rank < devices.size(); rank += 2) {
                bench.that(parts.get(rank) == part, "one communicator for colour " + color, "there are several");
                members.add(devices.get(rank));
            }
            bench.equal("the size of colour " + color, members.size(), part.size());
            List<Stream> streams = streams(bench, members);
            CollectiveBatch batch = new CollectiveBatch(bench, members);
            batch.add(CollectiveKind.ALL_REDUCE, ReduceOp.SUM, TYPE, 0, COUNT);
            batch.onStreams(part, streams);
        }
    }

    @Proves("COL-059")
    void keysOrderTheRanks(Bench bench) {
        List<Device> devices = bench.devices(4);
        Communicator whole = bench.communicator(devices);
        Map<Integer, Communicator> parts =
                split(bench, whole, Map.of(0, 0, 1, 0, 2, 0, 3, 0), Map.of(0, 5, 1, 3, 2, 5, 3, 1));
        Communicator part = parts.get(0);
        // By key 1, 3, 5, 5: old ranks 3, 1, 0, 2.
        int[] order = {3, 1, 0, 2};
        for (int rank = 0; rank < 4; rank++) {
            bench.equal(
                    "the device of new rank " + rank,
                    devices.get(order[rank]).ordinal(),
                    part.device(rank).ordinal());
        }
    }

    @Proves("COL-060")
    void negativeColoursTakeNoPart(Bench bench) {
        List<Device> devices = bench.devices(3);
        Communicator whole = bench.communicator(devices);
        Map<Integer, Communicator> parts = split(bench, whole, Map.of(0, 0, 1, -1, 2, 0), Map.of());
        bench.equal("the ranks that take part", Set.of(0, 2), parts.keySet());
        bench.equal("the size of the part", 2, parts.get(0).size());
    }

    @Proves("COL-061")
    void ranksAreThoseOfTheJoin(Bench bench) {
        List<Device> devices = bench.devices(3);
        List<Device> turned = List.of(devices.get(2), devices.get(0), devices.get(1));
        CollectiveBatch batch = new CollectiveBatch(bench, turned);
        batch.addMoving(CollectiveKind.ALL_GATHER, TYPE, 0, COUNT);
        batch.addMoving(CollectiveKind.BROADCAST, TYPE, 2, COUNT);
        batch.onStreams();
    }

    @Proves("COL-062")
    void everyRankOnItsThread(Bench bench) {
        List<Device> devices = bench.devicesUpTo(4);
        int ranks = devices.size();
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        int[][] sent = random(bench, ranks, COUNT);
        List<BufferView> sends = new ArrayList<>();
        List<BufferView> received = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            sends.add(bench.upload(devices.get(rank), Elements.bytes(TYPE, sent[rank]))
                    .vector(COUNT, TYPE));
            received.add(fresh(bench, devices.get(rank), COUNT));
        }
        CountDownLatch issued = new CountDownLatch(ranks);
        bench.step("every rank issues from a thread of its own");
        bench.together(ranks, rank -> {
            for (int round = 0; round < 3; round++) {
                communicator.allReduce(rank, sends.get(rank), received.get(rank), ReduceOp.SUM, streams.get(rank));
            }
            issued.countDown();
            await(issued);
            streams.get(rank).synchronize();
        });
        Expectation[] expected =
                Collectives.results(CollectiveKind.ALL_REDUCE, ReduceOp.Kind.SUM, new float[ranks], TYPE, 0, sent);
        for (int rank = 0; rank < ranks; rank++) {
            Elements.expect(bench, "rank " + rank, expected[rank], received.get(rank));
        }
    }

    // Order.

    @Proves("COL-063")
    void aCollectiveComesAfterEarlierWork(Bench bench) {
        List<Device> devices = bench.devicesUpTo(3);
        int ranks = devices.size();
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        int count = 1 << 17;
        List<Buffer> origins = new ArrayList<>();
        List<BufferView> received = new ArrayList<>();
        bench.step("slow copies, and a gather of what they write");
        List<Buffer> sends = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            origins.add(bench.randomBuffer(devices.get(rank), TYPE, count));
            sends.add(bench.buffer(devices.get(rank), count * 4L));
            received.add(fresh(bench, devices.get(rank), 16 * ranks));
            streams.get(rank)
                    .copy(sends.get(rank).vector(count, TYPE), origins.get(rank).vector(count, TYPE));
        }
        try (Communicator.Group group = communicator.group()) {
            for (int rank = 0; rank < ranks; rank++) {
                group.allGather(
                        rank,
                        BufferView.vector(sends.get(rank), (count - 16) * 4L, 16, TYPE),
                        received.get(rank),
                        streams.get(rank));
            }
        }
        streams.forEach(Stream::synchronize);
        for (int from = 0; from < ranks; from++) {
            int[] tail = Elements.of(bench, BufferView.vector(origins.get(from), (count - 16) * 4L, 16, TYPE));
            for (int rank = 0; rank < ranks; rank++) {
                Elements.expectBits(
                        bench,
                        "rank " + from + "'s block on rank " + rank,
                        tail,
                        received.get(rank).columnRange(16L * from, 16));
            }
        }
    }

    @Proves("COL-064")
    void laterWorkSeesTheResult(Bench bench) {
        List<Device> devices = bench.devicesUpTo(3);
        int ranks = devices.size();
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        int count = 1 << 16;
        List<Buffer> sends = new ArrayList<>();
        List<Buffer> middle = new ArrayList<>();
        List<BufferView> ends = new ArrayList<>();
        bench.step("a slow gather, and short copies of its last elements");
        try (Communicator.Group group = communicator.group()) {
            for (int rank = 0; rank < ranks; rank++) {
                sends.add(bench.randomBuffer(devices.get(rank), TYPE, count));
                middle.add(bench.buffer(devices.get(rank), (long) count * ranks * 4));
                ends.add(fresh(bench, devices.get(rank), 16));
                group.allGather(
                        rank,
                        sends.get(rank).vector(count, TYPE),
                        middle.get(rank).vector((long) count * ranks, TYPE),
                        streams.get(rank));
            }
        }
        for (int rank = 0; rank < ranks; rank++) {
            streams.get(rank)
                    .copy(
                            ends.get(rank),
                            BufferView.vector(middle.get(rank), ((long) count * ranks - 16) * 4, 16, TYPE));
        }
        streams.forEach(Stream::synchronize);
        int[] tail = Elements.of(bench, BufferView.vector(sends.getLast(), (count - 16) * 4L, 16, TYPE));
        for (int rank = 0; rank < ranks; rank++) {
            Elements.expectBits(bench, "the copy behind the gather on rank " + rank, tail, ends.get(rank));
        }
    }

    @Proves("COL-065")
    void aGroupKeepsItsOrder(Bench bench) {
        List<Device> devices = bench.devicesUpTo(3);
        int ranks = devices.size();
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        List<BufferView> data = new ArrayList<>();
        List<BufferView> sums = new ArrayList<>();
        List<BufferView> all = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            int[] ones = new int[4096];
            Arrays.fill(ones, Codec.of(TYPE).encode(1 + rank));
            data.add(bench.upload(devices.get(rank), Elements.bytes(TYPE, ones)).vector(4096, TYPE));
            sums.add(fresh(bench, devices.get(rank), 4096));
            all.add(fresh(bench, devices.get(rank), 16 * ranks));
        }
        bench.step("a reduction and a gather of its result in one group");
        try (Communicator.Group group = communicator.group()) {
            for (int rank = 0; rank < ranks; rank++) {
                group.allReduce(rank, data.get(rank), sums.get(rank), ReduceOp.SUM, streams.get(rank));
            }
            for (int rank = 0; rank < ranks; rank++) {
                group.allGather(rank, sums.get(rank).columnRange(4080, 16), all.get(rank), streams.get(rank));
            }
        }
        streams.forEach(Stream::synchronize);
        int[] expected = new int[16 * ranks];
        Arrays.fill(expected, Codec.of(TYPE).encode(ranks * (ranks + 1) / 2.0));
        for (int rank = 0; rank < ranks; rank++) {
            Elements.expectBits(bench, "the gathered sums on rank " + rank, expected, all.get(rank));
        }
    }

    @Proves("COL-066")
    void closingCompletesWhatWasIssued(Bench bench) {
        List<Device> devices = bench.devicesUpTo(3);
        int ranks = devices.size();
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = streams(bench, devices);
        int[][] sent = random(bench, ranks, 20_000);
        List<BufferView> received = new ArrayList<>();
        try (Communicator.Group group = communicator.group()) {
            for (int rank = 0; rank < ranks; rank++) {
                BufferView send = bench.upload(devices.get(rank), Elements.bytes(TYPE, sent[rank]))
                        .vector(20_000, TYPE);
                received.add(fresh(bench, devices.get(rank), 20_000));
                group.allReduce(rank, send, received.get(rank), ReduceOp.SUM, streams.get(rank));
            }
        }
        bench.step("a communicator that is closed right after a reduction was issued");
        communicator.close();
        Expectation[] expected =
                Collectives.results(CollectiveKind.ALL_REDUCE, ReduceOp.Kind.SUM, new float[ranks], TYPE, 0, sent);
        for (int rank = 0; rank < ranks; rank++) {
            streams.get(rank).synchronize();
            Elements.expect(bench, "rank " + rank, expected[rank], received.get(rank));
        }
    }

    @Proves("COL-067")
    void lateRanksOnStreamsOfAnyPriorityAreWaitedFor(Bench bench) {
        List<Device> devices = bench.devicesUpTo(3);
        int ranks = devices.size();
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = new ArrayList<>();
        int[][] sent = random(bench, ranks, COUNT);
        List<BufferView> sends = new ArrayList<>();
        List<BufferView> received = new ArrayList<>();
        List<Buffer> work = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            Priority priority = rank == 0 ? Priority.NORMAL : rank == 1 ? Priority.HIGH : Priority.LOW;
            streams.add(bench.stream(devices.get(rank), StreamOptions.defaults().withPriority(priority)));
            sends.add(bench.upload(devices.get(rank), Elements.bytes(TYPE, sent[rank]))
                    .vector(COUNT, TYPE));
            received.add(fresh(bench, devices.get(rank), COUNT));
            work.add(bench.buffer(devices.get(rank), 1 << 20));
        }
        CountDownLatch issued = new CountDownLatch(ranks);
        bench.step("ranks that come to a reduction at different times");
        bench.together(ranks, rank -> {
            for (int i = 0; i < rank * 4; i++) {
                streams.get(rank).fill(Bench.bytes(work.get(rank)), i);
            }
            communicator.allReduce(rank, sends.get(rank), received.get(rank), ReduceOp.SUM, streams.get(rank));
            issued.countDown();
            await(issued);
            streams.get(rank).synchronize();
        });
        Expectation[] expected =
                Collectives.results(CollectiveKind.ALL_REDUCE, ReduceOp.Kind.SUM, new float[ranks], TYPE, 0, sent);
        for (int rank = 0; rank < ranks; rank++) {
            Elements.expect(bench, "rank " + rank, expected[rank], received.get(rank));
        }
    }
}
