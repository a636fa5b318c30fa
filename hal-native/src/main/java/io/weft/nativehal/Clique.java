// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.nativehal.driver.CollectiveLibrary;
import io.weft.spi.Patience;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A library's communicators over one list of devices, rank i on the i-th: the handles, and what goes with them. Making one takes up to half a second, so one that has ended in good order serves the next communicator over the same devices.
 *
 * <p>A handle serves one thread at a time: a lock for each rank is held while the library is called for it, in the order of ranks. Ending does not wait for these locks, since it is what frees a thread that the library holds.
 */
final class Clique {
    /** How long an abort may take before its caller goes on without it. A kernel that was told to end does so within microseconds once it runs; one that is queued behind work of another communicator ends with that. */
    private static final long ABORT_MILLIS = 500;

    /** How long the ranks' first exchange may take at least, ns. All of them are of this process, so it lacks nothing but time, and a busy machine may have little of it. */
    private static final long INTRODUCTION_NANOS = 10_000_000_000L;

    private static final int BARRIER_BYTES = 256;
    /** Where in a barrier's memory the first exchange's received word goes. */
    private static final int RECEIVED = 128;

    private final NativeCollectives owner;
    private final List<NativeDevice> devices;
    private final long[] handles;
    private final NativeMemory[] barriers;
    private final Object[] rankLocks;
    private final Map<String, Integer> scaledSums = new HashMap<>();
    private volatile boolean over;

    private Clique(NativeCollectives owner, List<NativeDevice> devices) {
        this.owner = owner;
        this.devices = List.copyOf(devices);
        int size = devices.size();
        handles = new long[size];
        barriers = new NativeMemory[size];
        rankLocks = new Object[size];
        for (int rank = 0; rank < size; rank++) {
            rankLocks[rank] = new Object();
        }
    }

    /** Makes the handles of all ranks. */
    static Clique connect(NativeCollectives owner, List<NativeDevice> devices) {
        Clique clique = new Clique(owner, devices);
        clique.connect();
        return clique;
    }

    List<NativeDevice> devices() {
        return devices;
    }

    private CollectiveLibrary library() {
        return owner.library();
    }

    private int size() {
        return handles.length;
    }

    private void connect() {
        byte[] id = library().uniqueId();
        long[] made = library().join(id, size(), rank -> devices.get(rank).makeCurrent());
        System.arraycopy(made, 0, handles, 0, size());
        for (int rank = 0; rank < size(); rank++) {
            // What a barrier reduces: libraries have no barrier of their own.
            barriers[rank] = devices.get(rank).allocatePlain(MemoryKind.DEVICE, BARRIER_BYTES);
        }
        introduce();
    }

    /**
     * Lets every rank exchange a word with every other. Libraries make the way between two ranks at their first transfer, in the call that issues it, and wait there for the other rank to do the same; a thread that issues one rank's part and then the
     * other's would wait for ever.
     */
    private void introduce() {
        if (size() == 1) {
            return;
        }
        group(() -> {
            for (int rank = 0; rank < size(); rank++) {
                NativeDevice device = devices.get(rank);
                device.makeCurrent();
                long memory = barriers[rank].address();
                for (int peer = 0; peer < size(); peer++) {
                    if (peer != rank) {
                        library().send(memory, 4, library().byteCode(), peer, handles[rank], device.transferStream());
                        library()
                                .receive(
                                        memory + RECEIVED,
                                        4,
                                        library().byteCode(),
                                        peer,
                                        handles[rank],
                                        device.transferStream());
                    }
                }
            }
        });
        long most = Math.max(INTRODUCTION_NANOS, owner.platform().options().stallNanos());
        Patience patience = new Patience(most);
        for (NativeDevice device : devices) {
            while (device.runtime().isNotReady(device.runtime().queryStream(device.transferStream()))) {
                if (patience.isOver()) {
                    abort();
                    throw new AcceleratorException(
                            ErrorCode.TIMEOUT,
                            "communicator",
                            "the ranks could not exchange a word within " + most / 1_000_000_000 + " s",
                            library().choice(),
                            null,
                            null);
                }
                LockSupport.parkNanos(20_000);
            }
        }
    }

    private void group(Runnable calls) {
        library().groupStart();
        boolean ended = false;
        try {
            calls.run();
            ended = true;
            library().groupEnd();
        } finally {
            if (!ended) {
                library().dropGroup();
            }
        }
    }

    /** Gives parts to the library as one group. Streams may be live or captured. */
    void submit(List<NativeCollectives.Issue> parts) {
        List<Integer> ranks = parts.stream()
                .map(part -> part.command().rank())
                .distinct()
                .sorted()
                .toList();
        locked(ranks, 0, () -> {
            if (over) {
                throw NativeCollectives.aborted("collective", "the communicator");
            }
            group(() -> {
                for (NativeCollectives.Issue part : parts) {
                    devices.get(part.command().rank()).makeCurrent();
                    call(part.command(), part.stream());
                }
            });
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
            library()
                    .allReduce(
                            flag,
                            flag,
                            1,
                            library().code(ElementType.INT32),
                            library().code(ReduceOp.SUM),
                            comm,
                            stream);
            return;
        }
        if (size() == 1 && part.kind().reduces() && part.op().kind() != ReduceOp.Kind.SUM) {
            alone(part, stream);
            return;
        }
        long count = part.count();
        int type = library().code(elements);
        long scale = 1;
        if (!part.kind().reduces()) {
            // Data that is only moved goes as bytes: any type, and no rounding by any version.
            type = library().byteCode();
            scale = elements.bytes();
        }
        switch (part.kind()) {
            case ALL_REDUCE -> library().allReduce(from, to, count, type, op(part), comm, stream);
            case ALL_GATHER -> library().allGather(from, to, count * scale, type, comm, stream);
            case REDUCE_SCATTER -> library().reduceScatter(from, to, count, type, op(part), comm, stream);
            case BROADCAST ->
                library().broadcast(from == 0 ? to : from, to, count * scale, type, part.root(), comm, stream);
            case REDUCE ->
                library().reduce(from, to == 0 ? from : to, count, type, op(part), part.root(), comm, stream);
            case SEND -> library().send(from, count * scale, type, part.root(), comm, stream);
            case RECEIVE -> library().receive(to, count * scale, type, part.root(), comm, stream);
            case ALL_TO_ALL -> {
                for (int peer = 0; peer < size(); peer++) {
                    library().send(from + peer * count * scale, count * scale, type, peer, comm, stream);
                    library().receive(to + peer * count * scale, count * scale, type, peer, comm, stream);
                }
            }
            case ALL_TO_ALL_V -> {
                long sent = 0;
                long received = 0;
                for (int peer = 0; peer < size(); peer++) {
                    long gives = part.sendCounts().get(peer) * scale;
                    long takes = part.receiveCounts().get(peer) * scale;
                    library().send(from + sent, gives, type, peer, comm, stream);
                    library().receive(to + received, takes, type, peer, comm, stream);
                    sent += gives;
                    received += takes;
                }
            }
            case GATHER -> {
                library().send(from, count * scale, type, part.root(), comm, stream);
                if (part.rank() == part.root()) {
                    for (int peer = 0; peer < size(); peer++) {
                        library().receive(to + peer * count * scale, count * scale, type, peer, comm, stream);
                    }
                }
            }
            case SCATTER -> {
                library().receive(to, count * scale, type, part.root(), comm, stream);
                if (part.rank() == part.root()) {
                    for (int peer = 0; peer < size(); peer++) {
                        library().send(from + peer * count * scale, count * scale, type, peer, comm, stream);
                    }
                }
            }
            case BARRIER -> throw new IllegalStateException("a barrier moves no data");
        }
    }

    /** NCCL 2.28 refuses premultiplied sums of some types over one rank ("invalid argument" on an H200); our own kernel knows all. */
    private void alone(Command.Collective part, long stream) {
        BufferView to = part.receive() == null ? part.send() : part.receive();
        devices.getFirst().kernels().reduce(new Command.Reduce(to, List.of(part.send()), part.op()), stream);
    }

    private int op(Command.Collective part) {
        ReduceOp op = part.op();
        if (op.kind() != ReduceOp.Kind.SCALED_SUM) {
            return library().code(op);
        }
        if (!library().hasPremultipliedSums()) {
            throw new AcceleratorException(
                    ErrorCode.UNSUPPORTED,
                    "collective",
                    "this version of " + library().name() + " has no premultiplied sums");
        }
        ElementType type = part.type();
        long bits = type.isFloating() ? type.encode(op.scale()) : (int) op.scale();
        // One for each rank, type and factor, kept with the communicator: a released number could be given out again
        // while a call that uses it is in flight.
        String wanted = part.rank() + "/" + type + "/" + bits;
        synchronized (scaledSums) {
            return scaledSums.computeIfAbsent(
                    wanted,
                    ignored -> library().premultipliedSum(bits, library().code(type), handles[part.rank()]));
        }
    }

    /** The first failure that the library noticed by itself, or null. */
    AcceleratorException asyncError() {
        if (over) {
            return null;
        }
        for (long handle : handles) {
            AcceleratorException failure = library().asyncError(handle).orElse(null);
            if (failure != null) {
                return failure;
            }
        }
        return null;
    }

    /**
     * Ends what is in flight and gives the handles back. The library may wait for its kernels meanwhile, so each rank is ended by a thread of its own, and whoever calls goes on after half a second at the latest: a kernel may be queued behind one of another
     * communicator which is to be aborted next.
     */
    void abort() {
        if (!finish()) {
            return;
        }
        CountDownLatch ended = new CountDownLatch(size());
        for (int rank = 0; rank < size(); rank++) {
            int own = rank;
            Thread.ofPlatform().daemon().name("weft abort").start(() -> {
                try {
                    devices.get(own).makeCurrent();
                    library().abort(handles[own]);
                } finally {
                    ended.countDown();
                    if (ended.getCount() == 0) {
                        freeBarriers();
                    }
                }
            });
        }
        try {
            ended.await(ABORT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Gives the handles back; nothing is in flight. */
    void destroy() {
        if (!finish()) {
            return;
        }
        for (int rank = 0; rank < size(); rank++) {
            synchronized (rankLocks[rank]) {
                devices.get(rank).makeCurrent();
                library().destroy(handles[rank]);
            }
        }
        freeBarriers();
    }

    private synchronized boolean finish() {
        boolean first = !over;
        over = true;
        return first;
    }

    private synchronized void freeBarriers() {
        for (int rank = 0; rank < size(); rank++) {
            if (barriers[rank] != null) {
                devices.get(rank).free(barriers[rank]);
                barriers[rank] = null;
            }
        }
    }
}
