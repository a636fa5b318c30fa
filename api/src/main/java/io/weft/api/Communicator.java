// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.api.graph.Command;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Ranks that communicate. Some or all of them are local to this process.
 *
 * <p>Every rank issues the same collectives in the same order, each on a stream of its own device; they are matched by that order. A disagreement in kind, count, type or
 * root is reported as {@link ErrorCode#COLLECTIVE_MISMATCH}, which names the ranks. One thread that drives several ranks issues the parts of one collective in
 * one {@link Group}; the per-rank methods here are groups of one. A count of 0 is allowed; SEND and RECEIVE of 0 elements must still pair.
 *
 * <p>Calls return after everything is enqueued. Safe for any thread.
 */
public final class Communicator implements AutoCloseable {
    private final Platform platform;
    private final CommunicatorDriver driver;
    private final int size;
    private final Map<Integer, Device> localRanks;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Communicator(Platform platform, CommunicatorDriver driver, int size, Map<Integer, Device> localRanks) {
        this.platform = platform;
        this.driver = driver;
        this.size = size;
        this.localRanks = java.util.Collections.unmodifiableMap(new TreeMap<>(localRanks));
    }

    /** A communicator over all devices of a platform, rank i on device i. The caller closes it. */
    public static Communicator overAll(Platform platform) {
        return over(platform, platform.devices());
    }

    /** A communicator whose ranks are all local, rank i on the i-th device given. The caller closes it. */
    public static Communicator over(Platform platform, List<Device> devices) {
        Map<Integer, Device> ranks = new LinkedHashMap<>();
        for (Device device : devices) {
            ranks.put(ranks.size(), device);
        }
        return join(platform, newUniqueId(platform), devices.size(), ranks);
    }

    /** An id by which the processes of a job find one another; the application passes its bytes on. */
    public static byte[] newUniqueId(Platform platform) {
        return collectives(platform).newUniqueId();
    }

    /**
     * Joins a communicator with some of its ranks.
     *
     * @param uniqueId made by one process and passed to the others
     * @param size ranks over all processes
     * @param localRanks this process's ranks and their devices
     * @throws AcceleratorException {@link ErrorCode#INVALID_ARGUMENT} for a rank out of range or a device given twice
     */
    public static Communicator join(Platform platform, byte[] uniqueId, int size, Map<Integer, Device> localRanks) {
        return join(platform, uniqueId, size, localRanks, CommunicatorOptions.defaults());
    }

    /**
     * As {@link #join(Platform, byte[], int, Map)} with options.
     *
     * @throws AcceleratorException {@link ErrorCode#UNSUPPORTED} for options other than the defaults without {@link Capability#COMMUNICATOR_OPTIONS}; {@link
     *     ErrorCode#INVALID_ARGUMENT} when ranks of one communicator differ in whether they block
     */
    public static Communicator join(
            Platform platform,
            byte[] uniqueId,
            int size,
            Map<Integer, Device> localRanks,
            CommunicatorOptions options) {
        CollectiveDriver collectives = collectives(platform);
        if (!options.equals(CommunicatorOptions.defaults())) {
            platform.require(Capability.COMMUNICATOR_OPTIONS, "communicator");
        }
        if (size < 1 || localRanks.isEmpty()) {
            throw AcceleratorException.invalid("communicator", "at least one rank is needed");
        }
        Set<Device> seen = new HashSet<>();
        Map<Integer, io.weft.spi.DeviceDriver> drivers = new LinkedHashMap<>();
        localRanks.forEach((rank, device) -> {
            if (rank < 0 || rank >= size) {
                throw AcceleratorException.invalid("communicator", "rank " + rank + " must lie in 0.." + (size - 1));
            }
            if (device.platform() != platform) {
                throw new AcceleratorException(
                        ErrorCode.WRONG_DEVICE, "communicator", device + " belongs to another platform");
            }
            if (!seen.add(device)) {
                throw AcceleratorException.invalid(
                        "communicator", "device " + device.ordinal() + " is given twice; a device serves one rank");
            }
            drivers.put(rank, device.driver());
        });
        return new Communicator(platform, collectives.join(uniqueId, size, drivers, options), size, localRanks);
    }

    private static CollectiveDriver collectives(Platform platform) {
        platform.require(Capability.COLLECTIVES, "communicator");
        return platform.extension(CollectiveDriver.class)
                .orElseThrow(() ->
                        AcceleratorException.unsupported("communicator", Capability.COLLECTIVES, platform.toString()));
    }

    /** Ranks over all processes. */
    public int size() {
        return size;
    }

    /** Its platform. */
    public Platform platform() {
        return platform;
    }

    /** This process's ranks and their devices, in rank order. */
    public Map<Integer, Device> localRanks() {
        return localRanks;
    }

    /** Whether all ranks are in this process. */
    public boolean allLocal() {
        return localRanks.size() == size;
    }

    /**
     * The device of a local rank.
     *
     * @throws AcceleratorException {@link ErrorCode#NOT_FOUND} when the rank is not local
     */
    public Device device(int rank) {
        Device device = localRanks.get(rank);
        if (device == null) {
            throw new AcceleratorException(
                    ErrorCode.NOT_FOUND,
                    "communicator",
                    "rank " + rank + " is not in this process; it has ranks " + localRanks.keySet());
        }
        return device;
    }

    /** The backend's side. */
    public CommunicatorDriver driver() {
        return driver;
    }

    /** Starts a group: its calls are issued together when it is closed. */
    public Group group() {
        requireOpen("group");
        return new Group(this);
    }

    /**
     * Splits into communicators by colour. Local ranks of one colour share one communicator.
     *
     * @param colors colour of every local rank; a negative one takes no part
     * @param keys order inside a colour; a missing or equal key keeps the old order
     * @return the new communicator of every local rank that takes part, by old rank; ranks of one colour share one object, closed once
     */
    public Map<Integer, Communicator> split(Map<Integer, Integer> colors, Map<Integer, Integer> keys) {
        requireOpen("split");
        requireColors(colors);
        return members(driver.split(colors, keys));
    }

    /**
     * As {@link #split(Map, Map)} with options for the new communicators.
     *
     * @param options null to take over those of this communicator
     * @throws AcceleratorException {@link ErrorCode#UNSUPPORTED} without {@link Capability#COMMUNICATOR_OPTIONS}
     */
    public Map<Integer, Communicator> split(
            Map<Integer, Integer> colors, Map<Integer, Integer> keys, CommunicatorOptions options) {
        requireOpen("split");
        platform.require(Capability.COMMUNICATOR_OPTIONS, "split");
        requireColors(colors);
        return members(driver.split(colors, keys, options));
    }

    private void requireColors(Map<Integer, Integer> colors) {
        if (!colors.keySet().equals(localRanks.keySet())) {
            throw AcceleratorException.invalid(
                    "split", "a colour is needed for each of the local ranks " + localRanks.keySet());
        }
    }

    private Map<Integer, Communicator> members(Map<Integer, CommunicatorDriver.Membership> memberships) {
        Map<CommunicatorDriver, Map<Integer, Device>> devicesOf = new LinkedHashMap<>();
        memberships.forEach((oldRank, membership) -> devicesOf
                .computeIfAbsent(membership.communicator(), ignored -> new TreeMap<>())
                .put(membership.rank(), device(oldRank)));
        Map<CommunicatorDriver, Communicator> made = new HashMap<>();
        Map<Integer, Communicator> result = new TreeMap<>();
        memberships.forEach((oldRank, membership) -> result.put(
                oldRank,
                made.computeIfAbsent(
                        membership.communicator(),
                        key -> new Communicator(platform, key, membership.size(), devicesOf.get(key)))));
        return result;
    }

    /** Whether no call of a communicator that does not block is under way any more; a blocking one is always ready. */
    public boolean isReady() {
        requireOpen("ready");
        return driver.isReady();
    }

    /**
     * Ends the use of this communicator well: what was issued comes to its end, nothing more is taken, and closing it then only releases it. One that does not block
     * returns at once; poll {@link #isReady()} and close it after that. Twice is allowed.
     *
     * @throws AcceleratorException {@link ErrorCode#UNSUPPORTED} without {@link Capability#COMMUNICATOR_OPTIONS}; {@link ErrorCode#ABORTED} after an abort
     */
    public void finish() {
        requireOpen("finish");
        platform.require(Capability.COMMUNICATOR_OPTIONS, "finish");
        driver.finish();
    }

    /** The first asynchronous failure, if any. */
    public Optional<AcceleratorException> asyncError() {
        return driver.asyncError();
    }

    /** Ends everything in flight; every waiter gets {@link ErrorCode#ABORTED}. Allowed at any time; close it afterwards. */
    public void abort() {
        driver.abort();
    }

    private void requireOpen(String operation) {
        if (closed.get()) {
            throw new AcceleratorException(ErrorCode.CLOSED, operation, "the communicator was closed before");
        }
        platform.requireOpen(operation);
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            driver.close();
        }
    }

    /** Every element is reduced over all ranks; all get the result. */
    public void allReduce(int rank, BufferView send, BufferView receive, ReduceOp op, Stream stream) {
        try (Group group = group()) {
            group.allReduce(rank, send, receive, op, stream);
        }
    }

    /** Every rank gets the blocks of all in rank order. */
    public void allGather(int rank, BufferView send, BufferView receive, Stream stream) {
        try (Group group = group()) {
            group.allGather(rank, send, receive, stream);
        }
    }

    /** Every rank gets its block of the reduction. */
    public void reduceScatter(int rank, BufferView send, BufferView receive, ReduceOp op, Stream stream) {
        try (Group group = group()) {
            group.reduceScatter(rank, send, receive, op, stream);
        }
    }

    /**
     * Calls that are issued together. One rank's calls keep their order. Not for several threads at once.
     */
    public static final class Group implements AutoCloseable {
        private final Communicator communicator;
        private final List<CollectiveDriver.Part> parts = new ArrayList<>();
        private boolean ended;

        private Group(Communicator communicator) {
            this.communicator = communicator;
        }

        public Group allReduce(int rank, BufferView send, BufferView receive, ReduceOp op, Stream stream) {
            return add(CollectiveKind.ALL_REDUCE, op, rank, 0, send, receive, stream);
        }

        public Group allGather(int rank, BufferView send, BufferView receive, Stream stream) {
            return add(CollectiveKind.ALL_GATHER, ReduceOp.SUM, rank, 0, send, receive, stream);
        }

        public Group reduceScatter(int rank, BufferView send, BufferView receive, ReduceOp op, Stream stream) {
            return add(CollectiveKind.REDUCE_SCATTER, op, rank, 0, send, receive, stream);
        }

        /** On ranks other than the root the send view may be null. */
        public Group broadcast(int rank, BufferView send, BufferView receive, int root, Stream stream) {
            return add(CollectiveKind.BROADCAST, ReduceOp.SUM, rank, root, send, receive, stream);
        }

        /** On ranks other than the root the receive view may be null. */
        public Group reduce(int rank, BufferView send, BufferView receive, ReduceOp op, int root, Stream stream) {
            return add(CollectiveKind.REDUCE, op, rank, root, send, receive, stream);
        }

        public Group allToAll(int rank, BufferView send, BufferView receive, Stream stream) {
            return add(CollectiveKind.ALL_TO_ALL, ReduceOp.SUM, rank, 0, send, receive, stream);
        }

        /** Blocks lie one after the other in rank order; counts are elements. */
        public Group allToAllV(
                int rank,
                BufferView send,
                List<Long> sendCounts,
                BufferView receive,
                List<Long> receiveCounts,
                Stream stream) {
            return add(
                    new Command.Collective(
                            CollectiveKind.ALL_TO_ALL_V,
                            ReduceOp.SUM,
                            rank,
                            communicator.size,
                            0,
                            send,
                            receive,
                            sendCounts,
                            receiveCounts,
                            0),
                    stream);
        }

        /** On ranks other than the root the receive view may be null. */
        public Group gather(int rank, BufferView send, BufferView receive, int root, Stream stream) {
            return add(CollectiveKind.GATHER, ReduceOp.SUM, rank, root, send, receive, stream);
        }

        /** On ranks other than the root the send view may be null. */
        public Group scatter(int rank, BufferView send, BufferView receive, int root, Stream stream) {
            return add(CollectiveKind.SCATTER, ReduceOp.SUM, rank, root, send, receive, stream);
        }

        public Group send(int rank, BufferView data, int peer, Stream stream) {
            return add(CollectiveKind.SEND, ReduceOp.SUM, rank, peer, data, null, stream);
        }

        public Group receive(int rank, BufferView data, int peer, Stream stream) {
            return add(CollectiveKind.RECEIVE, ReduceOp.SUM, rank, peer, null, data, stream);
        }

        public Group barrier(int rank, Stream stream) {
            return add(CollectiveKind.BARRIER, ReduceOp.SUM, rank, 0, null, null, stream);
        }

        private Group add(
                CollectiveKind kind,
                ReduceOp op,
                int rank,
                int root,
                BufferView send,
                BufferView receive,
                Stream stream) {
            return add(
                    new Command.Collective(
                            kind, op, rank, communicator.size, root, send, receive, List.of(), List.of(), 0),
                    stream);
        }

        /** Adds a part that was put together before. */
        public Group add(Command.Collective part, Stream stream) {
            if (ended) {
                throw new AcceleratorException(ErrorCode.INVALID_STATE, "collective", "the group was ended before");
            }
            Objects.requireNonNull(stream);
            stream.requireOpen("collective");
            Device device = communicator.device(part.rank());
            if (part.ranks() != communicator.size) {
                throw AcceleratorException.invalid(
                        "collective",
                        "the part speaks of " + part.ranks() + " ranks and the communicator has " + communicator.size);
            }
            if (stream.device() != device) {
                throw new AcceleratorException(
                        ErrorCode.WRONG_DEVICE,
                        "collective",
                        "rank " + part.rank() + " is device " + device.ordinal() + " and the stream belongs to device "
                                + stream.device().ordinal());
            }
            check(part.send(), device);
            check(part.receive(), device);
            InPlaceRules.check(part);
            parts.add(new CollectiveDriver.Part(part, stream.driver()));
            return this;
        }

        private static void check(BufferView view, Device device) {
            if (view != null && OperandCheck.buffer("collective", view, device).device() != device) {
                throw new AcceleratorException(
                        ErrorCode.WRONG_DEVICE,
                        "collective",
                        "an operand does not lie on device " + device.ordinal() + ", the rank's own");
            }
        }

        /** Issues the calls. Ending twice is allowed. */
        @Override
        public void close() {
            if (!ended) {
                ended = true;
                if (!parts.isEmpty()) {
                    communicator.requireOpen("collective");
                    communicator.driver.enqueue(List.copyOf(parts));
                }
            }
        }
    }
}
