// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Memory;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.RuleBroken;
import io.weft.conformance.graph.GraphRuns;
import io.weft.conformance.reference.Collectives;
import io.weft.conformance.reference.Expectation;
import io.weft.conformance.reference.SlotMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Many collectives over the same ranks, which run together and are checked together: one buffer for each rank holds the operands of all, so that hundreds of cases cost few
 * allocations. Receive views are poisoned first.
 */
final class CollectiveBatch {
    private static final int GAP = 64;

    /** One collective: its operation for each rank, what each rank sends, and where its views start in the rank's buffer. */
    private static final class Item {
        private final CollectiveKind kind;
        private final ReduceOp[] ops;
        private final ElementType type;
        private final int root;
        private final int count;
        private final int[][] send;
        private final long[] sendAt;
        private final long[] receiveAt;

        Item(
                CollectiveKind kind,
                ReduceOp[] ops,
                ElementType type,
                int root,
                int count,
                int[][] send,
                long[] sendAt,
                long[] receiveAt) {
            this.kind = kind;
            this.ops = ops;
            this.type = type;
            this.root = root;
            this.count = count;
            this.send = send;
            this.sendAt = sendAt;
            this.receiveAt = receiveAt;
        }
    }

    private final Bench bench;
    private final List<Device> devices;
    private final int ranks;
    private final List<Item> items = new ArrayList<>();
    private long size;
    private List<Buffer> arenas;

    /** A batch over these devices, rank i on the i-th. */
    CollectiveBatch(Bench bench, List<Device> devices) {
        this.bench = bench;
        this.devices = devices;
        this.ranks = devices.size();
    }

    /** One more collective with an operation for each rank. */
    CollectiveBatch add(CollectiveKind kind, ReduceOp[] ops, ElementType type, int root, int count, int[][] send) {
        long[] sendAt = new long[ranks];
        long[] receiveAt = new long[ranks];
        Arrays.fill(sendAt, place((long) Collectives.sendFactor(kind, ranks) * count * type.bytes()));
        Arrays.fill(receiveAt, place((long) Collectives.receiveFactor(kind, ranks) * count * type.bytes()));
        items.add(new Item(kind, ops, type, root, count, send, sendAt, receiveAt));
        return this;
    }

    /** One more collective with the same operation on every rank. */
    CollectiveBatch add(CollectiveKind kind, ReduceOp op, ElementType type, int root, int count, int[][] send) {
        return add(kind, same(op), type, root, count, send);
    }

    /** One more collective of values that do not cancel. */
    CollectiveBatch add(CollectiveKind kind, ReduceOp op, ElementType type, int root, int count) {
        int[][] send = new int[ranks][];
        for (int rank = 0; rank < ranks; rank++) {
            send[rank] = Elements.positive(bench, type, count * Collectives.sendFactor(kind, ranks));
        }
        return add(kind, op, type, root, count, send);
    }

    /** One more collective of any patterns, for kinds that only move. */
    CollectiveBatch addMoving(CollectiveKind kind, ElementType type, int root, int count) {
        int[][] send = new int[ranks][];
        for (int rank = 0; rank < ranks; rank++) {
            byte[] bytes = bench.randomBytes(count * Collectives.sendFactor(kind, ranks) * type.bytes());
            send[rank] = new int[bytes.length / type.bytes()];
            for (int i = 0; i < send[rank].length; i++) {
                send[rank][i] = SlotMemory.get(bytes, i * type.bytes(), type);
            }
        }
        return add(kind, ReduceOp.SUM, type, root, count, send);
    }

    /** One more collective in place, in the form that its kind allows. */
    CollectiveBatch addInPlace(CollectiveKind kind, ReduceOp op, ElementType type, int root, int count) {
        int[][] send = new int[ranks][];
        for (int rank = 0; rank < ranks; rank++) {
            send[rank] = Elements.positive(bench, type, count * Collectives.sendFactor(kind, ranks));
        }
        int larger = Math.max(Collectives.sendFactor(kind, ranks), Collectives.receiveFactor(kind, ranks));
        long at = place((long) larger * count * type.bytes());
        long apart = place((long) larger * count * type.bytes());
        long block = (long) count * type.bytes();
        long[] sendAt = new long[ranks];
        long[] receiveAt = new long[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            sendAt[rank] = at;
            receiveAt[rank] = at;
            switch (kind) {
                case ALL_GATHER -> sendAt[rank] = at + rank * block;
                case REDUCE_SCATTER -> receiveAt[rank] = at + rank * block;
                case GATHER -> sendAt[rank] = rank == root ? at + root * block : apart;
                case SCATTER -> receiveAt[rank] = rank == root ? at + root * block : apart;
                default -> {
                    // Send equal to receive.
                }
            }
        }
        items.add(new Item(kind, same(op), type, root, count, send, sendAt, receiveAt));
        return this;
    }

    private ReduceOp[] same(ReduceOp op) {
        ReduceOp[] ops = new ReduceOp[ranks];
        Arrays.fill(ops, op);
        return ops;
    }

    private long place(long bytes) {
        long at = size;
        size = (size + bytes + GAP + 15) & ~15L;
        return at;
    }

    private Command.Collective part(Item item, int rank, Memory memory, int key) {
        boolean isRoot = rank == item.root;
        boolean sends = switch (item.kind) {
            case BROADCAST, SCATTER -> isRoot;
            default -> true;
        };
        boolean receives = switch (item.kind) {
            case REDUCE, GATHER -> isRoot;
            default -> true;
        };
        return new Command.Collective(
                item.kind,
                item.ops[rank],
                rank,
                ranks,
                item.root,
                sends ? send(item, rank, memory) : null,
                receives ? receive(item, rank, memory) : null,
                List.of(),
                List.of(),
                key);
    }

    private BufferView send(Item item, int rank, Memory memory) {
        long elements = (long) Collectives.sendFactor(item.kind, ranks) * item.count;
        return BufferView.vector(memory, item.sendAt[rank], elements, item.type);
    }

    private BufferView receive(Item item, int rank, Memory memory) {
        long elements = (long) Collectives.receiveFactor(item.kind, ranks) * item.count;
        return BufferView.vector(memory, item.receiveAt[rank], elements, item.type);
    }

    private void upload() {
        if (arenas == null) {
            arenas = devices.stream()
                    .map(device -> bench.buffer(device, Math.max(16, size)))
                    .toList();
        }
        for (int rank = 0; rank < ranks; rank++) {
            byte[] content = Bench.filled((int) Math.max(16, size), Bench.POISON);
            for (Item item : items) {
                SlotMemory.write(content, send(item, rank, arenas.get(rank)), item.send[rank]);
            }
            arenas.get(rank).write(0, MemorySegment.ofArray(content));
        }
    }

    /** Issues all as one group, waits and checks. */
    void onStreams(Communicator communicator, List<Stream> streams) {
        upload();
        bench.step(describe());
        try (Communicator.Group group = communicator.group()) {
            for (Item item : items) {
                for (int rank = 0; rank < ranks; rank++) {
                    group.add(part(item, rank, arenas.get(rank), 0), streams.get(rank));
                }
            }
        }
        streams.forEach(Stream::synchronize);
        check("on streams");
    }

    /** Makes a communicator and streams, issues all as one group, waits and checks. */
    void onStreams() {
        onStreams(
                bench.communicator(devices), devices.stream().map(bench::stream).toList());
    }

    /** Runs all as one device graph and checks; twice, since a second launch meets what the first has left. */
    void asGraph() {
        CommandGraph.Builder builder = CommandGraph.builder(ranks);
        Slot[] slots = new Slot[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            slots[rank] = builder.slot(rank, "all", Math.max(16, size), Slot.Role.OUTPUT);
        }
        for (int i = 0; i < items.size(); i++) {
            for (int rank = 0; rank < ranks; rank++) {
                builder.add(
                        rank,
                        0,
                        Priority.NORMAL,
                        part(items.get(i), rank, slots[rank], i),
                        items.get(i).kind.name());
            }
        }
        CommandGraph graph = builder.build();
        for (int launch = 0; launch < 2; launch++) {
            upload();
            GraphBindings bindings = new GraphBindings(graph);
            for (int rank = 0; rank < ranks; rank++) {
                bindings.bind(slots[rank], arenas.get(rank));
            }
            bench.step(describe() + " in a device graph, launch " + (launch + 1));
            GraphRuns.asDeviceGraph(bench.platform(), graph, devices, bindings);
            check("in a device graph");
        }
    }

    private String describe() {
        Item first = items.getFirst();
        return items.size() == 1
                ? first.kind + " of " + first.count + " " + first.type + " over " + ranks + " ranks"
                : items.size() + " collectives over " + ranks + " ranks";
    }

    private void check(String where) {
        byte[][] found = new byte[ranks][];
        for (int rank = 0; rank < ranks; rank++) {
            found[rank] = bench.download(arenas.get(rank));
        }
        for (Item item : items) {
            float[] scales = new float[ranks];
            for (int rank = 0; rank < ranks; rank++) {
                scales[rank] = item.ops[rank].scale();
            }
            Expectation[] results =
                    Collectives.results(item.kind, item.ops[0].kind(), scales, item.type, item.root, item.send);
            for (int rank = 0; rank < ranks; rank++) {
                if (results[rank] != null) {
                    check(item, rank, results[rank], found[rank], where);
                }
            }
        }
    }

    private void check(Item item, int rank, Expectation expected, byte[] found, String where) {
        BufferView view = receive(item, rank, arenas.get(rank));
        int[] bits = SlotMemory.read(found, view);
        String what = item.kind + (item.kind.reduces() ? " " + item.ops[rank].kind() : "") + " of " + item.count + " "
                + item.type + " over " + ranks + " ranks"
                + (item.kind.rooted() ? " with root " + item.root : "") + " " + where + ", rank " + rank;
        if (item.kind.reduces()) {
            Optional<Expectation.Mismatch> wrong = expected.compare(bits);
            wrong.ifPresent(mismatch -> {
                throw new RuleBroken(
                        what + ": element " + mismatch.index() + " to be " + mismatch.expected()
                                + (mismatch.allowed() == 0 ? " exactly" : " within " + mismatch.allowed()),
                        "it is " + mismatch.actual());
            });
        } else {
            // Data that are only moved keep every bit, NaNs included.
            int[] wanted = moved(item, rank);
            bench.sameBytes(what, Elements.bytes(item.type, wanted), Elements.bytes(item.type, bits));
        }
    }

    private int[] moved(Item item, int rank) {
        return switch (item.kind) {
            case BROADCAST -> item.send[item.root];
            case SCATTER -> block(item.send[item.root], item.count, rank);
            case ALL_TO_ALL -> {
                int[] all = new int[ranks * item.count];
                for (int from = 0; from < ranks; from++) {
                    System.arraycopy(item.send[from], rank * item.count, all, from * item.count, item.count);
                }
                yield all;
            }
            default -> Arrays.stream(item.send).flatMapToInt(Arrays::stream).toArray();
        };
    }

    private static int[] block(int[] data, int count, int index) {
        return Arrays.copyOfRange(data, index * count, (index + 1) * count);
    }

    /** The bytes of a rank's result of the first item, after a run. */
    byte[] result(int rank) {
        Item item = items.getFirst();
        int[] bits = SlotMemory.read(bench.download(arenas.get(rank)), receive(item, rank, arenas.get(rank)));
        return Elements.bytes(item.type, bits);
    }
}
