// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.ReduceOp;
import io.weft.nativehal.driver.CollectiveLibrary;
import io.weft.nativehal.driver.Route;
import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.Scratch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntConsumer;

/**
 * HCCL as the shared layer wants it. The library has no groups, so calls are kept until a group ends; then every rank's are issued by its own device's thread at the same time, since the library may wait in a call for the other ranks. Neighbouring sends and
 * receives of a rank become one batch, which runs at once; what a rank sends to itself is a copy.
 */
final class HcclLibrary implements CollectiveLibrary {
    private static final int ROOT_BYTES = 4108;
    private static final int ITEM_BYTES = 32;
    private static final int SEND = 0;
    private static final int RECEIVE = 1;
    private static final int BYTE = 7;
    private static final int BF16 = 11;
    private static final int SUM = 0;
    private static final int PRODUCT = 1;
    /** Our own number of a mean, and the first of sums that are multiplied first. */
    private static final int MEAN = 1000;

    private static final int SCALED = 1001;
    /** Pieces of a stream's scratch memory that nothing else uses. */
    private static final int WIDE_FROM = 4;

    private static final int WIDE_TO = 5;

    /** One call that is kept: of which device, and what it does there. Transfers are gathered apart. */
    private record Kept(int device, long communicator, long stream, Transfer transfer, Call call) {}

    private record Transfer(int direction, long address, long count, int type, int peer) {}

    /** A call of the library; gives its code. */
    @FunctionalInterface
    private interface Call {
        int make();
    }

    private final AclRuntime runtime;
    private final AclCalls calls;
    /** Null without; then what the library lacks is refused by it. */
    private final AclOperators operators;

    /** Of sums that are multiplied first, by their number. */
    private final List<Float> factors = new CopyOnWriteArrayList<>();

    private final Map<Long, Integer> sizes = new ConcurrentHashMap<>();
    private final Map<Long, Integer> ranks = new ConcurrentHashMap<>();

    @SuppressWarnings("ThreadLocalUsage") // Of one open platform.
    private final ThreadLocal<List<Kept>> group = new ThreadLocal<>();

    HcclLibrary(AclRuntime runtime, AclOperators operators) {
        this.runtime = runtime;
        this.operators = operators.isComplete() ? operators : null;
        this.calls = runtime.calls();
    }

    /** Whether everything that a communicator needs is there. */
    boolean isComplete() {
        return List.of(
                        AclFunction.GET_ROOT_INFO,
                        AclFunction.COMM_INIT_ROOT_INFO,
                        AclFunction.COMM_DESTROY,
                        AclFunction.ALL_REDUCE,
                        AclFunction.ALL_GATHER,
                        AclFunction.REDUCE_SCATTER,
                        AclFunction.BROADCAST,
                        AclFunction.REDUCE,
                        AclFunction.BATCH_SEND_RECV)
                .stream()
                .allMatch(function -> calls.libraries().find(function).isPresent());
    }

    @Override
    public String name() {
        return "HCCL";
    }

    @Override
    public int idBytes() {
        return ROOT_BYTES;
    }

    @Override
    public String choice() {
        return "HCCL's choice; HCCL_ALGO sets it, and its log prints it";
    }

    private AcceleratorException failure(String operation, int code) {
        String said = calls.libraries()
                .find(AclFunction.COMM_ERROR_STRING)
                .map(ignored -> Native.callText(
                        calls.libraries().address("read the error", AclFunction.COMM_ERROR_STRING), code))
                .orElse("");
        return AclFailure.hccl(operation, code, said);
    }

    private void check(String operation, int code) {
        if (code != 0) {
            throw failure(operation, code);
        }
    }

    @Override
    public byte[] uniqueId() {
        return calls.onAny(() -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment root = arena.allocate(ROOT_BYTES, 8);
                check("make an id", calls.direct(AclFunction.GET_ROOT_INFO, root.address()));
                return root.toArray(ValueLayout.JAVA_BYTE);
            }
        });
    }

    @Override
    public long[] join(byte[] id, int size, IntConsumer makeCurrent) {
        long[] handles = new long[size];
        List<Integer> devices = new ArrayList<>();
        List<Runnable> tasks = new ArrayList<>();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment root = arena.allocateFrom(ValueLayout.JAVA_BYTE, id);
            for (int rank = 0; rank < size; rank++) {
                int own = rank;
                makeCurrent.accept(rank);
                devices.add(calls.device());
                tasks.add(() -> {
                    Scratch out = Scratch.mine();
                    out.word(0, 0);
                    check(
                            "join",
                            calls.direct(AclFunction.COMM_INIT_ROOT_INFO, size, root.address(), own, out.address()));
                    handles[own] = out.word(0);
                });
            }
            // Every rank waits in there for the others.
            calls.together(devices, tasks);
        }
        for (int rank = 0; rank < size; rank++) {
            ranks.put(handles[rank], rank);
            sizes.put(handles[rank], size);
        }
        return handles;
    }

    @Override
    public void destroy(long communicator) {
        ranks.remove(communicator);
        sizes.remove(communicator);
        check("close communicator", calls.code(AclFunction.COMM_DESTROY, communicator));
    }

    @Override
    public void abort(long communicator) {
        if (calls.libraries().find(AclFunction.COMM_SUSPEND).isPresent()) {
            calls.code(AclFunction.COMM_SUSPEND, communicator);
        }
        ranks.remove(communicator);
        sizes.remove(communicator);
        calls.code(AclFunction.COMM_DESTROY, communicator);
    }

    @Override
    public Optional<AcceleratorException> asyncError(long communicator) {
        if (calls.libraries().find(AclFunction.COMM_ASYNC_ERROR).isEmpty()) {
            return Optional.empty();
        }
        return calls.onAny(() -> {
            Scratch out = Scratch.mine();
            out.integer(0, 0);
            int code = calls.direct(AclFunction.COMM_ASYNC_ERROR, communicator, out.address());
            int found = code != 0 ? code : out.integer(0);
            return found == 0 ? Optional.empty() : Optional.of(failure("collective", found));
        });
    }

    // Numbers.

    @Override
    public int code(ElementType type) {
        return type.isFp8() ? -1 : AclTypes.collective(type).orElse(-1);
    }

    @Override
    public int byteCode() {
        return BYTE;
    }

    @Override
    public int code(ReduceOp op) {
        return operators != null && op.kind() == ReduceOp.Kind.AVG
                ? MEAN
                : AclTypes.collectiveReduction(op.kind()).orElse(-1);
    }

    @Override
    public boolean hasPremultipliedSums() {
        return operators != null;
    }

    @Override
    public int premultipliedSum(long scalarBits, int type, long communicator) {
        ElementType element = element(type);
        factors.add(element.isFloating() ? element.decode((int) scalarBits) : (float) scalarBits);
        return SCALED + factors.size() - 1;
    }

    // Issuing.

    @Override
    public void groupStart() {
        group.set(new ArrayList<>());
    }

    @Override
    public void dropGroup() {
        group.remove();
    }

    @Override
    public void groupEnd() {
        List<Kept> kept = group.get();
        group.remove();
        Map<Integer, List<Kept>> byDevice = new LinkedHashMap<>();
        kept.forEach(one -> byDevice.computeIfAbsent(one.device(), ignored -> new ArrayList<>())
                .add(one));
        List<Runnable> tasks = new ArrayList<>();
        byDevice.values().forEach(own -> tasks.add(() -> issue(own)));
        calls.together(List.copyOf(byDevice.keySet()), tasks);
    }

    /** Issues one device's calls in their order; runs on its thread. */
    private void issue(List<Kept> own) {
        int at = 0;
        while (at < own.size()) {
            Kept first = own.get(at);
            if (first.transfer() == null) {
                check("collective", first.call().make());
                at++;
                continue;
            }
            List<Transfer> batch = new ArrayList<>();
            while (at < own.size()
                    && own.get(at).transfer() != null
                    && own.get(at).communicator() == first.communicator()
                    && own.get(at).stream() == first.stream()) {
                batch.add(own.get(at++).transfer());
            }
            issue(batch, first.communicator(), first.stream());
        }
    }

    private void issue(List<Transfer> batch, long communicator, long stream) {
        int rank = ranks.get(communicator);
        List<Transfer> given = new ArrayList<>();
        List<Transfer> taken = new ArrayList<>();
        List<Transfer> others = new ArrayList<>();
        for (Transfer one : batch) {
            if (one.count() == 0) {
                continue; // Both sides leave it out.
            }
            if (one.peer() != rank) {
                others.add(one);
            } else if (one.direction() == SEND) {
                given.add(one);
            } else {
                taken.add(one);
            }
        }
        for (int i = 0; i < Math.min(given.size(), taken.size()); i++) {
            // Counts are bytes here: data that is only moved is given as bytes.
            runtime.move(
                    taken.get(i).address(), given.get(i).address(), given.get(i).count(), Route.WITHIN_DEVICE, stream);
        }
        if (others.isEmpty()) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment items = arena.allocate((long) ITEM_BYTES * others.size(), 8);
            for (int i = 0; i < others.size(); i++) {
                long base = (long) ITEM_BYTES * i;
                Transfer one = others.get(i);
                items.set(ValueLayout.JAVA_INT, base, one.direction());
                items.set(ValueLayout.JAVA_LONG, base + 8, one.address());
                items.set(ValueLayout.JAVA_LONG, base + 16, one.count());
                items.set(ValueLayout.JAVA_INT, base + 24, one.type());
                items.set(ValueLayout.JAVA_INT, base + 28, one.peer());
            }
            check(
                    "transfer",
                    calls.direct(AclFunction.BATCH_SEND_RECV, items.address(), others.size(), communicator, stream));
        }
    }

    private void keep(long communicator, long stream, Transfer transfer, Call call) {
        runtime.join(stream);
        List<Kept> kept = group.get();
        if (kept == null) {
            throw new IllegalStateException("collectives are issued in groups");
        }
        kept.add(new Kept(calls.device(), communicator, stream, transfer, call));
    }

    /** Whether a reduction goes by way of wider numbers: products of bf16, means, and sums that are multiplied first, which the library lacks. */
    private boolean isWidened(int type, int op) {
        return operators != null && ((type == BF16 && op == PRODUCT) || op >= MEAN);
    }

    private static ElementType element(int type) {
        return switch (type) {
            case 0 -> ElementType.INT8;
            case 2 -> ElementType.INT32;
            case 3 -> ElementType.FP16;
            case BF16 -> ElementType.BF16;
            default -> ElementType.FP32;
        };
    }

    /** What every element is multiplied by first. */
    private float factor(ElementType type, int op, long communicator) {
        if (op >= SCALED) {
            return factors.get(op - SCALED);
        }
        if (op < MEAN) {
            return 1;
        }
        if (!type.isFloating()) {
            throw new AcceleratorException(
                    ErrorCode.UNSUPPORTED,
                    "collective",
                    "HCCL has no mean of whole numbers, and none can be put together");
        }
        return type.decode(type.encode(1f / sizes.get(communicator)));
    }

    /**
     * Keeps a reduction that goes by way of fp32, or int32 for whole numbers, and is rounded once.
     *
     * @param gives elements that the rank gives
     * @param gets elements that it gets; 0 for none
     */
    private void widened(
            int type,
            int op,
            long from,
            long gives,
            long to,
            long gets,
            long communicator,
            long stream,
            WideCall call) {
        ElementType narrow = element(type);
        ElementType wide = narrow.isFloating() ? ElementType.FP32 : ElementType.INT32;
        float factor = factor(narrow, op, communicator);
        int wideType = code(wide);
        int wideOp = op == PRODUCT ? PRODUCT : SUM;
        keep(communicator, stream, null, () -> {
            if (gives == 0) {
                return call.make(from, to, wideType, wideOp);
            }
            long bytes = gives * Integer.BYTES;
            AclMatrix given = AclMatrix.dense(runtime.scratch().get(stream, WIDE_FROM, bytes), wide, 1, gives);
            long out = runtime.scratch().get(stream, WIDE_TO, bytes);
            operators.cast(AclMatrix.dense(from, narrow, 1, gives), given, stream);
            if (factor != 1) {
                operators.scale(given, factor, given, stream);
            }
            int code = call.make(given.address(), out, wideType, wideOp);
            if (code == 0 && gets > 0) {
                operators.cast(AclMatrix.dense(out, wide, 1, gets), AclMatrix.dense(to, narrow, 1, gets), stream);
            }
            return code;
        });
    }

    /** A call in wider numbers, from one place to another. */
    @FunctionalInterface
    private interface WideCall {
        int make(long from, long to, int type, int op);
    }

    private void collective(AclFunction function, long communicator, long stream, long... arguments) {
        keep(communicator, stream, null, () -> calls.direct(function, arguments));
    }

    @Override
    public void allReduce(long from, long to, long count, int type, int op, long communicator, long stream) {
        if (isWidened(type, op)) {
            widened(
                    type,
                    op,
                    from,
                    count,
                    to,
                    count,
                    communicator,
                    stream,
                    (a, b, wide, plain) ->
                            calls.direct(AclFunction.ALL_REDUCE, a, b, count, wide, plain, communicator, stream));
            return;
        }
        collective(AclFunction.ALL_REDUCE, communicator, stream, from, to, count, type, op, communicator, stream);
    }

    @Override
    public void allGather(long from, long to, long count, int type, long communicator, long stream) {
        collective(AclFunction.ALL_GATHER, communicator, stream, from, to, count, type, communicator, stream);
    }

    @Override
    public void reduceScatter(long from, long to, long count, int type, int op, long communicator, long stream) {
        if (isWidened(type, op)) {
            long all = count * sizes.get(communicator);
            widened(
                    type,
                    op,
                    from,
                    all,
                    to,
                    count,
                    communicator,
                    stream,
                    (a, b, wide, plain) ->
                            calls.direct(AclFunction.REDUCE_SCATTER, a, b, count, wide, plain, communicator, stream));
            return;
        }
        collective(AclFunction.REDUCE_SCATTER, communicator, stream, from, to, count, type, op, communicator, stream);
    }

    /** The library broadcasts in place, so the root copies first. */
    @Override
    public void broadcast(long from, long to, long count, int type, int root, long communicator, long stream) {
        boolean isRoot = ranks.get(communicator) == root;
        keep(communicator, stream, null, () -> {
            if (isRoot && from != to && count > 0) {
                runtime.move(to, from, count, Route.WITHIN_DEVICE, stream);
            }
            return calls.direct(AclFunction.BROADCAST, to, count, type, root, communicator, stream);
        });
    }

    @Override
    public void reduce(long from, long to, long count, int type, int op, int root, long communicator, long stream) {
        if (isWidened(type, op)) {
            long gets = ranks.get(communicator) == root ? count : 0;
            widened(
                    type,
                    op,
                    from,
                    count,
                    to,
                    gets,
                    communicator,
                    stream,
                    (a, b, wide, plain) ->
                            calls.direct(AclFunction.REDUCE, a, b, count, wide, plain, root, communicator, stream));
            return;
        }
        collective(AclFunction.REDUCE, communicator, stream, from, to, count, type, op, root, communicator, stream);
    }

    @Override
    public void send(long from, long count, int type, int peer, long communicator, long stream) {
        keep(communicator, stream, new Transfer(SEND, from, count, type, peer), null);
    }

    @Override
    public void receive(long to, long count, int type, int peer, long communicator, long stream) {
        keep(communicator, stream, new Transfer(RECEIVE, to, count, type, peer), null);
    }
}
