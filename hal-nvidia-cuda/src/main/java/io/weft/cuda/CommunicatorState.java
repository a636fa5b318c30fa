// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.cuda.ffi.Nccl;
import io.weft.spi.CollectiveDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A communicator: its ranks, NCCL's handles, and the collectives that some ranks have issued and others have not. A part that disagrees with what another rank has issued is found before NCCL sees it.
 *
 * <p>Two locks: the state's own, held for moments, guards who has issued what; one for each rank is held while NCCL is called for it, in the order of ranks, since a handle serves one thread at a time.
 */
final class CommunicatorState {
    /** A collective, or a transfer between two ranks, of which parts are known. */
    private static final class Call {
        private final String name;
        private final int expected;
        private final Map<Integer, Command.Collective> parts = new TreeMap<>();
        private final Set<CudaStream> streams = new HashSet<>();

        Call(String name, int expected) {
            this.name = name;
            this.expected = expected;
        }

        boolean isComplete() {
            return parts.size() == expected;
        }
    }

    private final CudaCollectives owner;
    private final Object key;
    private final String name;
    private final byte[] id;
    private final int size;
    private final CudaDevice[] devices;
    private final long[] handles;
    private final Object[] rankLocks;
    private final CudaMemory[] barriers;
    private final long[] issued;
    private final ArrayDeque<Call> open = new ArrayDeque<>();
    private long firstOpen;
    private final Map<Long, ArrayDeque<Call>> lonely = new HashMap<>();
    private final Map<Long, Long> transfers = new HashMap<>();
    private final Map<String, Integer> scaledSums = new HashMap<>();
    /** Streams that carry collectives which may not be complete. */
    private final Set<CudaStream> busy = new HashSet<>();

    private SplitRound split;
    private int splits;
    private int members;
    private boolean ready;
    private boolean released;
    private AcceleratorException asyncError;
    private AcceleratorException aborted;

    CommunicatorState(CudaCollectives owner, Object key, String name, byte[] id, int size) {
        this.owner = owner;
        this.key = key;
        this.name = name;
        this.id = id.clone();
        this.size = size;
        this.devices = new CudaDevice[size];
        this.handles = new long[size];
        this.barriers = new CudaMemory[size];
        this.issued = new long[size];
        this.rankLocks = new Object[size];
        for (int rank = 0; rank < size; rank++) {
            rankLocks[rank] = new Object();
        }
    }

    Object key() {
        return key;
    }

    String name() {
        return name;
    }

    int size() {
        return size;
    }

    CudaDevice device(int rank) {
        return devices[rank];
    }

    private Nccl nccl() {
        return owner.nccl();
    }

    // Joining.

    /** Ranks join; with the last of them the communicator is made. */
    synchronized void join(Map<Integer, CudaDevice> ranks) {
        ranks.forEach((rank, device) -> {
            if (devices[rank] != null) {
                throw AcceleratorException.invalid(
                        "communicator", "rank " + rank + " of " + name + " has joined already");
            }
            for (int other = 0; other < size; other++) {
                if (devices[other] == device) {
                    throw AcceleratorException.invalid(
                            "communicator",
                            "device " + device.ordinal() + " is rank " + other + " of " + name
                                    + " already; a device can be one rank only");
                }
            }
        });
        ranks.forEach((rank, device) -> devices[rank] = device);
        members++;
        if (missing().isEmpty()) {
            connect();
            notifyAll();
        }
    }

    private List<Integer> missing() {
        List<Integer> absent = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            if (devices[rank] == null) {
                absent.add(rank);
            }
        }
        return absent;
    }

    private void connect() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(8L * size, 8);
            nccl().groupStart();
            boolean ended = false;
            try {
                for (int rank = 0; rank < size; rank++) {
                    devices[rank].makeCurrent();
                    nccl().join(out.address() + 8L * rank, size, id, rank);
                }
                ended = true;
                nccl().groupEnd();
            } finally {
                if (!ended) {
                    nccl().dropGroup();
                }
            }
            for (int rank = 0; rank < size; rank++) {
                handles[rank] = out.get(ValueLayout.JAVA_LONG, 8L * rank);
            }
        }
        for (int rank = 0; rank < size; rank++) {
            // What a barrier reduces: NCCL has no barrier of its own.
            barriers[rank] = devices[rank].allocatePlain(MemoryKind.DEVICE, 256);
        }
        ready = true;
    }

    /** Waits until all ranks have joined. */
    synchronized void requireReady(String operation) {
        requireUsable(operation);
        if (ready) {
            return;
        }
        waitFor(
                () -> ready || aborted != null,
                () -> new AcceleratorException(
                        ErrorCode.TIMEOUT,
                        operation,
                        Agreement.ranks(missing()) + " of " + name + " did not join",
                        "join all ranks with the same id",
                        null,
                        null));
        requireUsable(operation);
    }

    private void waitFor(
            java.util.function.BooleanSupplier done, java.util.function.Supplier<AcceleratorException> tooLate) {
        long deadline = System.nanoTime() + owner.platform().options().stallMillis() * 1_000_000;
        while (!done.getAsBoolean()) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                throw tooLate.get();
            }
            try {
                wait(Math.max(1, left / 1_000_000));
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                throw new AcceleratorException(ErrorCode.ABORTED, "communicator", "interrupted while waiting", stop);
            }
        }
    }

    void requireUsable(String operation) {
        if (aborted != null) {
            throw CudaCollectives.aborted(operation, name);
        }
    }

    // Issuing.

    /** Issues a group of parts of live streams. */
    void issue(List<CollectiveDriver.Part> group) {
        requireReady("collective");
        List<CudaCollectives.Issue> parts = new ArrayList<>(group.size());
        for (CollectiveDriver.Part part : group) {
            CudaStream stream = (CudaStream) part.stream();
            stream.requireUsable("collective");
            CommandIssuer.checkNumbers(part.command());
            requireType(part.command());
            parts.add(new CudaCollectives.Issue(part.command(), stream.handle()));
        }
        requireSelfPairs(group);
        AcceleratorException mismatch = register(group);
        if (mismatch != null) {
            throw mismatch;
        }
        submit(parts);
        synchronized (this) {
            busy.removeIf(CudaStream::isIdle);
            group.forEach(part -> busy.add((CudaStream) part.stream()));
        }
    }

    private void requireType(Command.Collective part) {
        if (part.kind().reduces() && Types.nccl(part.type()) < 0) {
            throw new AcceleratorException(
                    ErrorCode.UNSUPPORTED,
                    "collective",
                    "NCCL cannot reduce " + part.type(),
                    "move the data with an all-gather and reduce it by a command",
                    null,
                    null);
        }
    }

    private static void requireSelfPairs(List<CollectiveDriver.Part> group) {
        Map<Integer, Integer> balance = new TreeMap<>();
        for (CollectiveDriver.Part part : group) {
            Command.Collective command = part.command();
            if (command.kind().pointToPoint() && command.root() == command.rank()) {
                balance.merge(command.rank(), command.kind() == CollectiveKind.SEND ? 1 : -1, Integer::sum);
            }
        }
        balance.forEach((rank, surplus) -> {
            if (surplus != 0) {
                throw AcceleratorException.invalid(
                        "collective",
                        "rank " + rank + " has " + Math.abs(surplus)
                                + (surplus > 0 ? " more sends to" : " more receives from")
                                + " itself than the other half; both must be in one group");
            }
        });
    }

    /**
     * Notes the parts and compares them with those of other ranks. On a disagreement nothing of the group is issued; if another rank's part is in flight already, the communicator is aborted, as that part can never
     * end.
     */
    private synchronized AcceleratorException register(List<CollectiveDriver.Part> group) {
        AcceleratorException mismatch = null;
        Call guilty = null;
        Set<CudaStream> ofGroup = new HashSet<>();
        Set<Call> touched = new HashSet<>();
        for (CollectiveDriver.Part part : group) {
            Command.Collective command = part.command();
            CudaStream stream = (CudaStream) part.stream();
            ofGroup.add(stream);
            Call call = command.kind().pointToPoint() ? transfer(command) : collective(command);
            int position = command.kind() == CollectiveKind.RECEIVE
                    ? 1
                    : command.kind().pointToPoint() ? 0 : command.rank();
            call.parts.put(position, command);
            call.streams.add(stream);
            touched.add(call);
            AcceleratorException found = command.kind() == CollectiveKind.ALL_TO_ALL_V && !call.isComplete()
                    ? null
                    : Agreement.disagreement(call.name, List.copyOf(call.parts.values()));
            if (found != null && mismatch == null) {
                mismatch = found;
                guilty = call;
            }
        }
        OpenCalls calls = owner.platform().openCalls();
        for (Call call : touched) {
            if (call.isComplete() || call == guilty) {
                calls.remove(call);
            } else {
                calls.add(call, () -> describe(call));
            }
        }
        while (!open.isEmpty() && open.peekFirst().isComplete()) {
            open.pollFirst();
            firstOpen++;
        }
        if (mismatch == null) {
            return null;
        }
        if (asyncError == null) {
            asyncError = mismatch;
        }
        boolean inFlight = false;
        for (CudaStream stream : guilty.streams) {
            inFlight |= !ofGroup.contains(stream);
            stream.fail(mismatch);
        }
        for (CudaStream stream : ofGroup) {
            stream.fail(mismatch);
        }
        if (inFlight) {
            abort(mismatch);
        }
        return mismatch;
    }

    private String describe(Call call) {
        synchronized (this) {
            List<Integer> absent = new ArrayList<>();
            if (call.parts.isEmpty()) {
                return call.name + " of " + name + " is not complete";
            }
            Command.Collective known = call.parts.values().iterator().next();
            if (known.kind().pointToPoint()) {
                return call.name + " of " + name + ": "
                        + (call.parts.containsKey(0) ? "the receive" : "the send") + " of rank " + known.root()
                        + " was not issued";
            }
            for (int rank = 0; rank < size; rank++) {
                if (!call.parts.containsKey(rank)) {
                    absent.add(rank);
                }
            }
            return call.name + " of " + name + ": " + Agreement.ranks(absent) + (absent.size() == 1 ? " has" : " have")
                    + " not issued it";
        }
    }

    private Call collective(Command.Collective command) {
        long number = issued[command.rank()]++;
        while (firstOpen + open.size() <= number) {
            open.add(new Call("collective " + (firstOpen + open.size() + 1), size));
        }
        int skip = (int) (number - firstOpen);
        for (Call call : open) {
            if (skip-- == 0) {
                return call;
            }
        }
        throw new IllegalStateException("collective " + number + " is not open");
    }

    private Call transfer(Command.Collective command) {
        boolean sends = command.kind() == CollectiveKind.SEND;
        int from = sends ? command.rank() : command.root();
        int to = sends ? command.root() : command.rank();
        long direction = (long) from * size + to;
        ArrayDeque<Call> waiting = lonely.computeIfAbsent(direction, ignored -> new ArrayDeque<>());
        if (!waiting.isEmpty() && !waiting.peekFirst().parts.containsKey(sends ? 0 : 1)) {
            return waiting.pollFirst();
        }
        long number = transfers.merge(direction, 1L, Long::sum);
        Call call = new Call("transfer " + number + " from rank " + from + " to rank " + to, 2);
        waiting.addLast(call);
        return call;
    }

    /** Gives parts to NCCL as one group. Streams may be live or captured. */
    void submit(List<CudaCollectives.Issue> parts) {
        List<Integer> ranks = parts.stream()
                .map(part -> part.command().rank())
                .distinct()
                .sorted()
                .toList();
        locked(ranks, 0, () -> {
            requireUsable("collective");
            nccl().groupStart();
            boolean ended = false;
            try {
                for (CudaCollectives.Issue part : parts) {
                    devices[part.command().rank()].makeCurrent();
                    call(part.command(), part.stream());
                }
                ended = true;
                nccl().groupEnd();
            } finally {
                if (!ended) {
                    nccl().dropGroup();
                }
            }
        });
    }

    private void locked(List<Integer> ranks, int from, Runnable action) {
        if (from == ranks.size()) {
            action.run();
            return;
        }
        synchronized (rankLocks[ranks.get(from)]) {
            locked(ranks, from + 1, action);
        }
    }

    private static long address(BufferView view) {
        return view == null ? 0 : ((Buffer) view.memory()).address() + view.offset();
    }

    private void call(Command.Collective part, long stream) {
        long comm = handles[part.rank()];
        long from = address(part.send());
        long to = address(part.receive());
        ElementType elements = part.type();
        if (part.kind() == CollectiveKind.BARRIER) {
            long flag = barriers[part.rank()].address();
            nccl().allReduce(flag, flag, 1, Types.nccl(ElementType.INT32), 0, comm, stream);
            return;
        }
        long count = part.count();
        int type = Types.nccl(elements);
        long scale = 1;
        if (!part.kind().reduces()) {
            // Data that is only moved goes as bytes: any type, and no rounding by any version.
            type = Types.NCCL_BYTES;
            scale = elements.bytes();
        }
        switch (part.kind()) {
            case ALL_REDUCE -> nccl().allReduce(from, to, count, type, op(part), comm, stream);
            case ALL_GATHER -> nccl().allGather(from, to, count * scale, type, comm, stream);
            case REDUCE_SCATTER -> nccl().reduceScatter(from, to, count, type, op(part), comm, stream);
            case BROADCAST ->
                nccl().broadcast(from == 0 ? to : from, to, count * scale, type, part.root(), comm, stream);
            case REDUCE -> nccl().reduce(from, to == 0 ? from : to, count, type, op(part), part.root(), comm, stream);
            case SEND -> nccl().send(from, count * scale, type, part.root(), comm, stream);
            case RECEIVE -> nccl().receive(to, count * scale, type, part.root(), comm, stream);
            case ALL_TO_ALL -> {
                for (int peer = 0; peer < size; peer++) {
                    nccl().send(from + peer * count * scale, count * scale, type, peer, comm, stream);
                    nccl().receive(to + peer * count * scale, count * scale, type, peer, comm, stream);
                }
            }
            case ALL_TO_ALL_V -> {
                long sent = 0;
                long received = 0;
                for (int peer = 0; peer < size; peer++) {
                    long gives = part.sendCounts().get(peer) * scale;
                    long takes = part.receiveCounts().get(peer) * scale;
                    nccl().send(from + sent, gives, type, peer, comm, stream);
                    nccl().receive(to + received, takes, type, peer, comm, stream);
                    sent += gives;
                    received += takes;
                }
            }
            case GATHER -> {
                nccl().send(from, count * scale, type, part.root(), comm, stream);
                if (part.rank() == part.root()) {
                    for (int peer = 0; peer < size; peer++) {
                        nccl().receive(to + peer * count * scale, count * scale, type, peer, comm, stream);
                    }
                }
            }
            case SCATTER -> {
                nccl().receive(to, count * scale, type, part.root(), comm, stream);
                if (part.rank() == part.root()) {
                    for (int peer = 0; peer < size; peer++) {
                        nccl().send(from + peer * count * scale, count * scale, type, peer, comm, stream);
                    }
                }
            }
            case BARRIER -> throw new IllegalStateException("a barrier moves no data");
        }
    }

    private int op(Command.Collective part) {
        ReduceOp op = part.op();
        if (op.kind() != ReduceOp.Kind.SCALED_SUM) {
            return Types.nccl(op);
        }
        if (!nccl().hasPremultipliedSums()) {
            throw new AcceleratorException(
                    ErrorCode.UNSUPPORTED, "collective", "this version of NCCL has no premultiplied sums");
        }
        ElementType type = part.type();
        long bits = type.isFloating() ? type.encode(op.scale()) : (int) op.scale();
        // One for each rank, type and factor, kept with the communicator: a released number could be given out again
        // while a call that uses it is in flight.
        String wanted = part.rank() + "/" + type + "/" + bits;
        synchronized (scaledSums) {
            return scaledSums.computeIfAbsent(
                    wanted, ignored -> nccl().premultipliedSum(bits, Types.nccl(type), handles[part.rank()]));
        }
    }

    // Splitting.

    /** Takes part in a split with some ranks; returns when all have. */
    Map<Integer, CudaCommunicator.Place> split(Map<Integer, Integer> colors, Map<Integer, Integer> keys) {
        requireReady("split");
        SplitRound round;
        synchronized (this) {
            if (split == null || split.has(colors.keySet())) {
                split = new SplitRound(size);
            }
            round = split;
            round.add(colors, keys);
            if (round.isComplete()) {
                splits++;
                round.finish(groups -> {
                    Map<Integer, CommunicatorState> made = new TreeMap<>();
                    groups.forEach((color, ranks) -> {
                        CommunicatorState fresh = owner.fresh(
                                name + "/" + splits + "." + color,
                                ranks.stream().map(rank -> devices[rank]).toList());
                        fresh.dropMember(); // The members of the split come one by one.
                        made.put(color, fresh);
                    });
                    return made;
                });
                notifyAll();
            } else {
                waitFor(
                        () -> round.isFinished() || aborted != null,
                        () -> new AcceleratorException(
                                ErrorCode.TIMEOUT,
                                "split",
                                Agreement.ranks(round.missing()) + " of " + name + " did not take part"));
                requireUsable("split");
            }
        }
        return round.places(colors.keySet());
    }

    /** A member that a split has made. */
    synchronized void addMember() {
        members++;
    }

    /** The membership that making a communicator counts, which no member of a split holds. */
    synchronized void dropMember() {
        members--;
    }

    // Ending.

    synchronized AcceleratorException asyncError() {
        if (asyncError == null && ready && !released && aborted == null) {
            for (long handle : handles) {
                int code = nccl().asyncError(handle);
                if (code != 0 && code != Nccl.IN_PROGRESS) {
                    asyncError = nccl().failure("collective", code);
                    break;
                }
            }
        }
        return asyncError;
    }

    /** Ends everything in flight; whoever waits for it is told. */
    synchronized void abort() {
        abort(new AcceleratorException(ErrorCode.ABORTED, "collective", name + " was aborted"));
    }

    private void abort(AcceleratorException cause) {
        if (aborted != null) {
            return;
        }
        aborted = cause;
        for (CudaStream stream : busy) {
            if (!stream.isIdle()) {
                stream.fail(cause);
            }
        }
        busy.clear();
        dropCalls();
        if (ready && !released) {
            released = true;
            for (int rank = 0; rank < size; rank++) {
                devices[rank].makeCurrent();
                nccl().abort(handles[rank]);
            }
        }
        notifyAll();
    }

    private void dropCalls() {
        OpenCalls calls = owner.platform().openCalls();
        open.forEach(calls::remove);
        lonely.values().forEach(waiting -> waiting.forEach(calls::remove));
        open.clear();
        lonely.clear();
    }

    /** A member has closed; the last one releases everything. */
    void leave() {
        boolean last;
        synchronized (this) {
            last = --members == 0;
        }
        if (last) {
            owner.forget(this);
            release();
        }
    }

    /** Waits for what can end, ends what cannot, and releases NCCL's handles. */
    void release() {
        boolean hopeless;
        synchronized (this) {
            hopeless = open.stream().anyMatch(call -> !call.parts.isEmpty())
                    || lonely.values().stream().anyMatch(waiting -> !waiting.isEmpty());
            if (hopeless) {
                abort(new AcceleratorException(
                        ErrorCode.ABORTED, "collective", name + " was closed before all ranks had issued their parts"));
            }
            if (!ready || released) {
                freeBarriers();
                return;
            }
            released = true;
        }
        for (CudaDevice device : devices) {
            device.makeCurrent();
            for (CudaStream stream : busy) {
                if (stream.device() == device && stream.failure() == null) {
                    stream.drain();
                }
            }
        }
        for (int rank = 0; rank < size; rank++) {
            devices[rank].makeCurrent();
            nccl().destroy(handles[rank]);
        }
        freeBarriers();
    }

    private void freeBarriers() {
        for (int rank = 0; rank < size; rank++) {
            if (barriers[rank] != null) {
                devices[rank].free(barriers[rank]);
                barriers[rank] = null;
            }
        }
    }
}
