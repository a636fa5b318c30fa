// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.CommunicatorOptions;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.sim.engine.VirtualTime;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CollectiveParts;
import io.weft.spi.CommandFactors;
import io.weft.spi.SplitRound;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What all members of a communicator share: its ranks, the calls in flight, and how parts find one another. Collectives are matched by their number on each rank,
 * transfers between two ranks by their number in their direction. Confined to the platform's lock.
 */
final class CommunicatorState {
    private final SimPlatform platform;
    private final String name;
    private final long number;
    private final int size;
    private final SimDevice[] devices;
    private final long[] issued;
    /** The last part of each rank, for the order of streams. */
    private final Work[] latest;

    private long firstJoinPs = -1;
    /** Collectives which some rank has not issued yet; the first has number {@link #firstOpen}. */
    private final ArrayDeque<CollectiveCall> open = new ArrayDeque<>();

    private long firstOpen;
    /** By direction (from * size + to): transfers of which one side is missing. */
    private final Map<Long, ArrayDeque<CollectiveCall>> lonely = new HashMap<>();

    private final Map<Long, Long> transfers = new HashMap<>();
    private final Set<CollectiveCall> pending = new LinkedHashSet<>();
    private SplitRound<CommunicatorState> split;
    private int splits;
    private int members;
    private AcceleratorException asyncError;
    private AcceleratorException aborted;
    private CommunicatorOptions options;
    private boolean finished;

    CommunicatorState(SimPlatform platform, String name, int size) {
        this.platform = platform;
        this.name = name;
        this.number = platform.nextCommunicator();
        this.size = size;
        this.devices = new SimDevice[size];
        this.latest = new Work[size];
        this.issued = new long[size];
    }

    String name() {
        return name;
    }

    int size() {
        return size;
    }

    /** The device of a rank, null when it has not joined. */
    SimDevice device(int rank) {
        return devices[rank];
    }

    /**
     * Ranks join.
     *
     * @throws AcceleratorException INVALID_ARGUMENT for a rank or a device that is taken
     */
    void join(Map<Integer, SimDevice> ranks) {
        CollectiveParts.requireFree(name, devices, ranks);
        requireInTime(ranks);
        take(ranks);
        ranks.forEach((rank, device) -> devices[rank] = device);
        members++;
    }

    private void requireInTime(Map<Integer, SimDevice> ranks) {
        long now = platform.time().nowPs();
        for (SimDevice device : ranks.values()) {
            now = Math.max(now, device.issuePs());
        }
        if (firstJoinPs < 0) {
            firstJoinPs = now;
        }
        double limit = platform.rules().connectNanos();
        if (VirtualTime.toNs(now - firstJoinPs) > limit) {
            throw platform.rules()
                    .late(
                            new AcceleratorException(
                                    ErrorCode.TIMEOUT,
                                    "communicator",
                                    CollectiveParts.ranks(List.copyOf(ranks.keySet())) + " of " + name + " came "
                                            + seconds(VirtualTime.toNs(now - firstJoinPs))
                                            + " after the first; the limit is " + seconds(limit)),
                            true);
        }
    }

    /** Books what the vendor's library keeps on the ranks' devices; all or nothing. */
    private void take(Map<Integer, SimDevice> ranks) {
        platform.rules().joining(number, name, size, ordinals(ranks));
        long bytes = platform.rules().communicatorBytes();
        List<SimDevice> taken = new ArrayList<>();
        try {
            for (SimDevice device : ranks.values()) {
                device.takeDeviceMemory("communicator", bytes);
                taken.add(device);
            }
        } catch (AcceleratorException refused) {
            taken.forEach(device -> device.giveDeviceMemory(bytes));
            platform.rules().left(number, ordinals(ranks));
            throw platform.rules().told(refused);
        }
    }

    /** Gives back what was booked when these ranks joined. */
    void release(Map<Integer, SimDevice> ranks) {
        ranks.values()
                .forEach(device -> device.giveDeviceMemory(platform.rules().communicatorBytes()));
        platform.rules().left(number, ordinals(ranks));
    }

    private static Map<Integer, Integer> ordinals(Map<Integer, SimDevice> ranks) {
        Map<Integer, Integer> ordinals = new TreeMap<>();
        ranks.forEach((rank, device) -> ordinals.put(rank, device.ordinal()));
        return ordinals;
    }

    private static String seconds(double nanos) {
        return Math.round(nanos / 1e9) + " s";
    }

    /**
     * A wait for a call that lacks ranks has no end: passes virtual time up to the library's limit and says so.
     *
     * @param plain what is known without the limit
     */
    AcceleratorException overdue(AcceleratorException plain, CollectiveCall call) {
        boolean connecting = !missing().isEmpty();
        double limit =
                connecting ? platform.rules().connectNanos() : platform.rules().executeNanos();
        if (Double.isInfinite(limit)) {
            return plain;
        }
        long since = connecting ? firstJoinPs : call.firstArrivalPs();
        if (since != Long.MAX_VALUE) {
            platform.time().advanceTo(since + VirtualTime.fromNs(limit));
        }
        return platform.rules()
                .late(
                        new AcceleratorException(
                                ErrorCode.TIMEOUT,
                                plain.operation(),
                                plain.detail() + "; given up after " + seconds(limit) + " of virtual time",
                                plain.nextStep(),
                                null,
                                null),
                        connecting);
    }

    /**
     * A member says how it wants the communicator.
     *
     * @throws AcceleratorException INVALID_ARGUMENT when another member wants it otherwise
     */
    void agree(CommunicatorOptions wanted) {
        if (options != null && options.blocking() != wanted.blocking()) {
            throw AcceleratorException.invalid(
                    "communicator", "some ranks of " + name + " block and others do not; all must do alike");
        }
        options = wanted;
    }

    CommunicatorOptions options() {
        return options;
    }

    /** Nothing more is issued. */
    void finish() {
        requireUsable("finish");
        finished = true;
    }

    /** Whether no call of its members is under way. */
    boolean isReady() {
        return missing().isEmpty() && (!finished || pending.isEmpty());
    }

    /** A member has closed; true when it was the last. */
    boolean leave() {
        return --members == 0;
    }

    /** Calls that some rank has issued and that are not over. */
    Set<CollectiveCall> pending() {
        return pending;
    }

    AcceleratorException asyncError() {
        return asyncError;
    }

    void requireUsable(String operation) {
        if (aborted != null) {
            throw new AcceleratorException(ErrorCode.ABORTED, operation, name + " was aborted before");
        }
    }

    // Issuing.

    /** Issues a group of parts. */
    void issue(List<CollectiveDriver.Part> group) {
        requireUsable("collective");
        if (finished) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE, "collective", name + " was finished before, and takes nothing more");
        }
        if (!options.blocking() && !isReady()) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE,
                    "collective",
                    name + " is not ready: " + CollectiveParts.ranks(missing()) + " did not join yet",
                    "ask isReady() until it says so",
                    null,
                    null);
        }
        for (CollectiveDriver.Part part : group) {
            SimStream stream = (SimStream) part.stream();
            stream.device().faults().requireAlive("collective");
            stream.requireUsable("collective");
            CommandFactors.check(part.command());
        }
        requireSelfPairs(group);
        List<Admission> admissions = platform.rules().equals(VendorRules.NONE) ? List.of() : admit(group);
        Map<SimStream, Gate> gates = new HashMap<>();
        Map<SimDevice, Long> times = new HashMap<>();
        AcceleratorException mismatch = null;
        for (CollectiveDriver.Part part : group) {
            Command.Collective command = part.command();
            SimStream stream = (SimStream) part.stream();
            CollectiveCall call = command.kind().pointToPoint() ? transfer(command) : collective(command);
            // A group is one call of the host for each device.
            long at = times.computeIfAbsent(
                    stream.device(),
                    device -> device.issue(device.model().launch().issueKernelNanos()));
            Work work = place(call, command, stream, at, gates);
            int position = command.kind() == CollectiveKind.RECEIVE ? 1 : call.isTransfer() ? 0 : command.rank();
            call.issue(position, new CollectiveCall.Part(command.rank(), command, work));
            if (work != null) {
                latest[command.rank()] = work;
            }
            pending.add(call);
            if (call.isComplete()) {
                AcceleratorException found = settle(call);
                mismatch = mismatch == null ? found : mismatch;
            }
        }
        for (Admission admission : admissions) {
            Work last = admission.stream().tail();
            if (last == null) {
                end(admission);
            } else {
                last.afterwards(() -> end(admission));
            }
        }
        if (mismatch != null) {
            throw mismatch;
        }
    }

    /** Room that the vendor's library gave for what one rank issues on one stream in one call. */
    private record Admission(int rank, SimStream stream) {}

    private void end(Admission admission) {
        platform.rules()
                .ended(number, admission.rank(), admission.stream().device().ordinal(), admission.stream());
    }

    /** Asks for room for every rank and stream of a group; all or nothing. Waits where there is none, which ends with the wait for what takes it. */
    private List<Admission> admit(List<CollectiveDriver.Part> group) {
        List<Admission> admitted = new ArrayList<>();
        try {
            for (CollectiveDriver.Part part : group) {
                int rank = part.command().rank();
                SimStream stream = (SimStream) part.stream();
                Admission wanted = new Admission(rank, stream);
                if (admitted.contains(wanted)) {
                    continue;
                }
                long bytes = bytes(group, rank, stream);
                if (!platform.rules().allowsUnorderedStreams()) {
                    requireOrder(rank, stream, admitted);
                }
                while (!platform.rules().issuing(number, rank, stream.device().ordinal(), stream, bytes)) {
                    awaitOldest(rank, stream.device());
                    requireUsable("collective");
                }
                admitted.add(wanted);
            }
            return admitted;
        } catch (AcceleratorException refused) {
            admitted.forEach(this::end);
            throw refused;
        }
    }

    private static long bytes(List<CollectiveDriver.Part> group, int rank, SimStream stream) {
        long bytes = 0;
        for (CollectiveDriver.Part part : group) {
            if (part.command().rank() == rank && part.stream().equals(stream)) {
                bytes += Math.max(
                        bytes(part.command().send()), bytes(part.command().receive()));
            }
        }
        return bytes;
    }

    private static long bytes(BufferView view) {
        return view == null ? 0 : view.bytes();
    }

    private void requireOrder(int rank, SimStream stream, List<Admission> admitted) {
        Work last = latest[rank];
        boolean twoInGroup = admitted.stream().anyMatch(other -> other.rank() == rank && other.stream() != stream);
        if (twoInGroup || (last != null && last.stream() != stream && !stream.isBehind(last))) {
            throw platform.rules()
                    .told(new AcceleratorException(
                            ErrorCode.INVALID_STATE,
                            "collective",
                            "rank " + rank + " of " + name + " uses it from " + stream.name()
                                    + " while its work on another stream is in flight and nothing orders the two",
                            "use one stream for each communicator, or let the second stream wait for an event of the first",
                            null,
                            null));
        }
    }

    /** The host waits until the oldest work of a rank ends. */
    private void awaitOldest(int rank, SimDevice device) {
        for (CollectiveCall call : pending) {
            for (CollectiveCall.Part part : call.launchedParts()) {
                if (part.rank() == rank && !part.work().isDone()) {
                    platform.await("collective", device, part.work());
                    return;
                }
            }
        }
        throw platform.rules()
                .told(new AcceleratorException(
                        ErrorCode.INVALID_STATE,
                        "collective",
                        "rank " + rank + " of " + name
                                + " has no room left and nothing in flight that would give some back"));
    }

    /** Gives a part its place in its stream; null when a count of 0 needs none. */
    private Work place(
            CollectiveCall call, Command.Collective command, SimStream stream, long at, Map<SimStream, Gate> gates) {
        DeviceTime time = platform.time();
        if (call.isTransfer()) {
            // All sends and receives of a group run at once, or a group could wait for itself.
            Gate gate = gates.get(stream);
            if (gate == null) {
                gate = new Gate(stream, stream.predecessors());
                time.hold(gate, at);
                gates.put(stream, gate);
            }
            gate.hold(call);
            return gate;
        }
        if (command.count() == 0 && command.kind() != CollectiveKind.BARRIER) {
            return null;
        }
        if (call.handle() < 0) {
            call.handle(time.openCollective(size));
        }
        CollectiveWork work = new CollectiveWork(stream, call, stream.predecessors());
        time.part(work, call.handle(), command, at);
        return work;
    }

    private CollectiveCall collective(Command.Collective command) {
        long number = issued[command.rank()]++;
        while (firstOpen + open.size() <= number) {
            int[] everybody = new int[size];
            for (int rank = 0; rank < size; rank++) {
                everybody[rank] = rank;
            }
            open.add(new CollectiveCall(this, "collective " + (firstOpen + open.size() + 1), false, everybody));
        }
        int skip = (int) (number - firstOpen);
        for (CollectiveCall call : open) {
            if (skip-- == 0) {
                return call;
            }
        }
        throw new IllegalStateException("collective " + number + " is not open");
    }

    private CollectiveCall transfer(Command.Collective command) {
        boolean sends = command.kind() == CollectiveKind.SEND;
        int from = sends ? command.rank() : command.root();
        int to = sends ? command.root() : command.rank();
        long direction = (long) from * size + to;
        ArrayDeque<CollectiveCall> waiting = lonely.computeIfAbsent(direction, ignored -> new ArrayDeque<>());
        if (!waiting.isEmpty() && !waiting.peekFirst().hasIssued(sends ? 0 : 1)) {
            return waiting.pollFirst();
        }
        long number = transfers.merge(direction, 1L, Long::sum);
        CollectiveCall call = new CollectiveCall(
                this, "transfer " + number + " from rank " + from + " to rank " + to, true, from, to);
        waiting.addLast(call);
        return call;
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

    /** All parts are known: they agree, or all fail. */
    private AcceleratorException settle(CollectiveCall call) {
        while (!open.isEmpty() && open.peekFirst().isComplete()) {
            open.pollFirst();
            firstOpen++;
        }
        AcceleratorException mismatch = call.disagreement();
        if (mismatch != null) {
            mismatch = platform.rules().told(mismatch);
            fail(call, mismatch);
        } else if (call.launchedParts().isEmpty()) {
            call.end(); // Nothing to do for a count of 0.
            pending.remove(call);
        }
        return mismatch;
    }

    // Running.

    /** A stream has reached its part of a call. */
    void arrived(CollectiveCall call, Work work) {
        if (call.isOver()) {
            return;
        }
        AcceleratorException fault = work.failure();
        if (fault == null) {
            fault = work.stream().device().faults().onStart();
        }
        if (fault != null) {
            fail(call, fault);
            return;
        }
        call.arrive(work, platform.time().nowPs());
        if (!call.isReady()) {
            return;
        }
        double waited = VirtualTime.toNs(platform.time().nowPs() - call.firstArrivalPs());
        if (waited > platform.rules().executeNanos()) {
            fail(call, tooLate(call, waited));
            return;
        }
        try {
            call.launched(platform.data().begin(call.commands()));
        } catch (AcceleratorException refused) {
            fail(call, refused);
            return;
        }
        if (call.isTransfer()) {
            platform.time().transfer(call);
        }
    }

    private AcceleratorException tooLate(CollectiveCall call, double waitedNanos) {
        return platform.rules()
                .late(
                        new AcceleratorException(
                                ErrorCode.TIMEOUT,
                                "collective",
                                call.name() + " was given up: rank " + call.lastArrival() + " came "
                                        + seconds(waitedNanos) + " after the first; the limit is "
                                        + seconds(platform.rules().executeNanos())),
                        false);
    }

    /** The devices are through with a call. */
    void completed(CollectiveCall call) {
        if (call.isOver()) {
            return;
        }
        try {
            platform.data().complete(call.commands(), call.effect());
        } catch (AcceleratorException refused) {
            fail(call, refused);
            return;
        }
        end(call);
    }

    /** Ends a call badly: every rank's stream fails with the cause, also where it has not come to the call. */
    private void fail(CollectiveCall call, AcceleratorException cause) {
        platform.data().cancel(call.effect());
        if (asyncError == null && cause.code() != ErrorCode.ABORTED) {
            asyncError = cause;
        }
        for (CollectiveCall.Part part : call.launchedParts()) {
            part.work().fail(cause);
            part.work().stream().fail(cause);
        }
        end(call);
        if (call.handle() >= 0) {
            platform.time().abortCollective(call.handle(), cause);
        }
    }

    private void end(CollectiveCall call) {
        call.end();
        pending.remove(call);
        for (CollectiveCall.Part part : call.launchedParts()) {
            if (part.work() instanceof Gate gate) {
                gate.release();
            }
        }
    }

    /** The device is gone: what it takes part in fails everywhere. */
    void lose(SimDevice device, AcceleratorException cause) {
        for (CollectiveCall call : List.copyOf(pending)) {
            boolean involved = call.launchedParts().stream()
                    .anyMatch(part -> part.work().stream().device() == device);
            if (involved) {
                fail(call, cause);
            }
        }
    }

    /** Lets the work of a device that belongs to this communicator run as far as it can. */
    void drain(SimDevice device) {
        for (CollectiveCall call : List.copyOf(pending)) {
            for (CollectiveCall.Part part : call.launchedParts()) {
                if (part.work().stream().device() == device) {
                    platform.drain(device, part.work());
                }
            }
        }
    }

    /** Ends everything in flight. */
    void abort() {
        if (aborted == null) {
            aborted = new AcceleratorException(ErrorCode.ABORTED, "collective", name + " was aborted");
        }
        for (CollectiveCall call : List.copyOf(pending)) {
            fail(call, aborted);
        }
        open.clear();
        lonely.clear();
    }

    // Splitting.

    /** The round of a split that a member may take part in. */
    SplitRound<CommunicatorState> splitRound(Set<Integer> ranks) {
        if (split == null || split.has(ranks)) {
            split = new SplitRound<>(size);
        }
        return split;
    }

    /** All colours of a round are known: makes the new communicators, by colour. */
    Map<Integer, CommunicatorState> divide(SplitRound<CommunicatorState> round) {
        splits++;
        Map<Integer, CommunicatorState> made = new LinkedHashMap<>();
        round.groups()
                .forEach((color, ranks) -> made.put(
                        color, new CommunicatorState(platform, name + "/" + splits + "." + color, ranks.size())));
        made.values().forEach(platform::register);
        return made;
    }

    List<Integer> missing() {
        List<Integer> absent = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            if (devices[rank] == null) {
                absent.add(rank);
            }
        }
        return absent;
    }
}
