// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.nativehal.driver.CollectiveLibrary;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CollectiveParts;
import io.weft.spi.CommandFactors;
import io.weft.spi.Patience;
import io.weft.spi.SplitRound;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A communicator: its ranks, the library's handles, and the collectives that some ranks have issued and others have not. A part that disagrees with what another rank has issued is found before the library sees it.
 *
 * <p>Its lock is held for moments and guards who has issued what; the library's side, a {@link Clique}, has locks of its own.
 */
final class CommunicatorState {
    /** A collective, or a transfer between two ranks, of which parts are known. */
    private final class Call implements IssueOrder.Entry {
        private final String name;
        private final int expected;
        private final Map<Integer, Command.Collective> parts = new TreeMap<>();
        private final Set<NativeStream> streams = new HashSet<>();
        /** Of the last part, and their number: what others than the owner of the lock may ask. */
        private volatile CollectiveKind kind;

        private volatile int known;

        Call(String name, int expected) {
            this.name = name;
            this.expected = expected;
        }

        void add(int position, Command.Collective part) {
            parts.put(position, part);
            kind = part.kind();
            known = parts.size();
        }

        @Override
        public boolean isComplete() {
            return known == expected;
        }

        @Override
        public String describe() {
            return name + " of " + CommunicatorState.this.name + " (" + kind + ")";
        }
    }

    /** How many stall times a communicator that is closed waits for its streams before it ends them. */
    private static final int PATIENCE = 6;

    private final NativeCollectives owner;
    private final Object key;
    private final String name;
    private final int size;
    private final NativeDevice[] devices;
    private final long[] issued;
    private final ArrayDeque<Call> open = new ArrayDeque<>();
    private long firstOpen;
    private final Map<Long, ArrayDeque<Call>> lonely = new HashMap<>();
    private final Map<Long, Long> transfers = new HashMap<>();
    /** Calls whose order was noted. */
    private final Set<Call> noted = new HashSet<>();
    /** Streams that carry collectives which may not be complete. */
    private final Set<NativeStream> busy = new HashSet<>();

    private SplitRound<CommunicatorState> split;
    private int splits;
    private int members;
    private boolean ready;
    /** The library's side; null before all ranks have joined and once it was given back. */
    private Clique clique;

    private AcceleratorException asyncError;
    private AcceleratorException aborted;

    CommunicatorState(NativeCollectives owner, Object key, String name, int size) {
        this.owner = owner;
        this.key = key;
        this.name = name;
        this.size = size;
        this.devices = new NativeDevice[size];
        this.issued = new long[size];
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

    NativeDevice device(int rank) {
        return devices[rank];
    }

    /** How to find out what the library chooses. */
    String choice() {
        return owner.library().choice();
    }

    // Joining.

    /** Ranks join; with the last of them the communicator is made. */
    synchronized void join(Map<Integer, NativeDevice> ranks) {
        CollectiveParts.requireFree(name, devices, ranks);
        ranks.forEach((rank, device) -> devices[rank] = device);
        members++;
        if (missing().isEmpty()) {
            clique = owner.take(List.of(devices));
            ready = true;
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
                        CollectiveParts.ranks(missing()) + " of " + name + " did not join",
                        "join all ranks with the same id",
                        null,
                        null));
        requireUsable(operation);
    }

    private void waitFor(
            java.util.function.BooleanSupplier done, java.util.function.Supplier<AcceleratorException> tooLate) {
        Patience patience = new Patience(owner.platform().options().stallNanos());
        while (!done.getAsBoolean()) {
            if (patience.isOver()) {
                throw tooLate.get();
            }
            try {
                wait(1); // ms, a step of patience
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                throw new AcceleratorException(ErrorCode.ABORTED, "communicator", "interrupted while waiting", stop);
            }
        }
    }

    void requireUsable(String operation) {
        if (aborted != null) {
            throw NativeCollectives.aborted(operation, name);
        }
    }

    // Issuing.

    /** Issues a group of parts of live streams. */
    void issue(List<CollectiveDriver.Part> group) {
        requireReady("collective");
        List<NativeCollectives.Issue> parts = new ArrayList<>(group.size());
        // Ranks that disagree in the type are told of that first.
        boolean oneType =
                group.stream().map(part -> part.command().type()).distinct().count() == 1;
        int begun = 0;
        try {
            for (CollectiveDriver.Part part : group) {
                NativeStream stream = (NativeStream) part.stream();
                stream.begin("collective");
                begun++;
                CommandFactors.check(part.command());
                if (oneType) {
                    requireType(owner.library(), part.command());
                }
                CommandIssuer.requireUsable("collective", part.command().send());
                CommandIssuer.requireUsable("collective", part.command().receive());
                parts.add(new NativeCollectives.Issue(part.command(), stream.handle()));
            }
            requireSelfPairs(group);
            AcceleratorException mismatch = register(group);
            if (mismatch != null) {
                throw mismatch;
            }
            group.forEach(part -> requireType(owner.library(), part.command()));
            synchronized (this) {
                busy.removeIf(NativeStream::isIdle);
                group.forEach(part -> busy.add((NativeStream) part.stream()));
            }
            submit(parts);
        } finally {
            for (int i = 0; i < begun; i++) {
                ((NativeStream) group.get(i).stream()).end();
            }
        }
    }

    /** Refuses a reduction of elements that the library does not know. */
    static void requireType(CollectiveLibrary library, Command.Collective part) {
        if (part.kind().reduces() && library.code(part.type()) < 0) {
            throw new AcceleratorException(
                    ErrorCode.UNSUPPORTED,
                    "collective",
                    library.name() + " cannot reduce " + part.type(),
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
        Set<NativeStream> ofGroup = new HashSet<>();
        Set<Call> touched = new HashSet<>();
        List<Call> inOrder = new ArrayList<>(group.size());
        for (CollectiveDriver.Part part : group) {
            Command.Collective command = part.command();
            NativeStream stream = (NativeStream) part.stream();
            ofGroup.add(stream);
            Call call = command.kind().pointToPoint() ? transfer(command) : collective(command);
            int position = command.kind() == CollectiveKind.RECEIVE
                    ? 1
                    : command.kind().pointToPoint() ? 0 : command.rank();
            call.add(position, command);
            call.streams.add(stream);
            touched.add(call);
            inOrder.add(call);
            AcceleratorException found = command.kind() == CollectiveKind.ALL_TO_ALL_V && !call.isComplete()
                    ? null
                    : CollectiveParts.disagreement(call.name, List.copyOf(call.parts.values()));
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
            note(group, inOrder);
            return null;
        }
        if (asyncError == null) {
            asyncError = mismatch;
        }
        boolean inFlight = false;
        for (NativeStream stream : guilty.streams) {
            inFlight |= !ofGroup.contains(stream);
            stream.fail(mismatch);
        }
        for (NativeStream stream : ofGroup) {
            stream.fail(mismatch);
        }
        if (inFlight) {
            abort(mismatch);
        }
        return mismatch;
    }

    /** Notes in which order streams hold what was issued, as long as something is not complete. */
    private void note(List<CollectiveDriver.Part> group, List<Call> calls) {
        IssueOrder order = owner.platform().issueOrder();
        boolean whole = calls.stream().allMatch(Call::isComplete);
        if (whole && !order.isNoting()) {
            noted.clear();
            return;
        }
        for (int i = 0; i < calls.size(); i++) {
            order.issued(calls.get(i), group.get(i).stream());
            noted.add(calls.get(i));
        }
        order.look();
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
            return call.name + " of " + name + ": " + CollectiveParts.ranks(absent)
                    + (absent.size() == 1 ? " has" : " have") + " not issued it";
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

    /** Gives parts to the library as one group. Streams may be live or captured. */
    void submit(List<NativeCollectives.Issue> parts) {
        Clique live;
        synchronized (this) {
            requireUsable("collective");
            live = clique;
        }
        if (live == null) {
            throw new AcceleratorException(ErrorCode.CLOSED, "collective", name + " was closed before");
        }
        live.submit(parts);
    }

    // Splitting.

    /** Takes part in a split with some ranks; returns when all have. */
    Map<Integer, NativeCommunicator.Place> split(Map<Integer, Integer> colors, Map<Integer, Integer> keys) {
        requireReady("split");
        SplitRound<CommunicatorState> round;
        synchronized (this) {
            if (split == null || split.has(colors.keySet())) {
                split = new SplitRound<>(size);
            }
            round = split;
            round.add(colors, keys);
            if (round.isComplete()) {
                splits++;
                Map<Integer, CommunicatorState> made = new TreeMap<>();
                round.groups().forEach((color, ranks) -> {
                    CommunicatorState fresh = owner.fresh(
                            name + "/" + splits + "." + color,
                            ranks.stream().map(rank -> devices[rank]).toList());
                    fresh.dropMember(); // The members of the split come one by one.
                    made.put(color, fresh);
                });
                round.made(made);
                notifyAll();
            } else {
                waitFor(
                        () -> round.made() != null || aborted != null,
                        () -> new AcceleratorException(
                                ErrorCode.TIMEOUT,
                                "split",
                                CollectiveParts.ranks(round.missing()) + " of " + name + " did not take part"));
                requireUsable("split");
            }
        }
        return places(round, colors.keySet());
    }

    /** Where these ranks went, those that take part. */
    private static Map<Integer, NativeCommunicator.Place> places(
            SplitRound<CommunicatorState> round, Set<Integer> ranks) {
        Map<Integer, NativeCommunicator.Place> places = new TreeMap<>();
        round.groups().forEach((color, group) -> {
            for (int rank = 0; rank < group.size(); rank++) {
                if (ranks.contains(group.get(rank))) {
                    places.put(
                            group.get(rank),
                            new NativeCommunicator.Place(round.made().get(color), rank));
                }
            }
        });
        return places;
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
        if (asyncError == null && clique != null && aborted == null) {
            asyncError = clique.asyncError();
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
        for (NativeStream stream : busy) {
            if (!stream.isIdle()) {
                stream.fail(cause);
            }
        }
        busy.clear();
        dropCalls();
        Clique dying = clique;
        clique = null;
        if (dying != null) {
            dying.abort();
        }
        notifyAll();
    }

    private void dropCalls() {
        OpenCalls calls = owner.platform().openCalls();
        open.forEach(calls::remove);
        lonely.values().forEach(waiting -> waiting.forEach(calls::remove));
        open.clear();
        lonely.clear();
        owner.platform().issueOrder().forget(noted);
        noted.clear();
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

    /** Waits for what can end, ends what cannot, and gives the library's side back, to the next communicator over these devices where all ended well. */
    void release() {
        Clique leaving;
        List<NativeStream> carrying;
        synchronized (this) {
            boolean hopeless = open.stream().anyMatch(call -> !call.parts.isEmpty())
                    || lonely.values().stream().anyMatch(waiting -> !waiting.isEmpty());
            if (hopeless) {
                abort(new AcceleratorException(
                        ErrorCode.ABORTED, "collective", name + " was closed before all ranks had issued their parts"));
            }
            leaving = clique;
            clique = null;
            carrying = List.copyOf(busy);
            busy.clear();
        }
        if (leaving == null) {
            return;
        }
        boolean ended = true;
        boolean well = asyncError == null;
        long nanos = owner.platform().options().stallNanos();
        for (NativeStream stream : carrying) {
            well &= stream.failure() == null;
            // Work that takes long is no reason to end it at once; a circle is.
            for (int turn = 0; ended && !stream.drain(nanos); turn++) {
                ended = turn < PATIENCE && !owner.platform().issueOrder().isCircular(noted);
            }
        }
        synchronized (this) {
            dropCalls();
        }
        if (!ended) {
            leaving.abort();
        } else if (well && leaving.asyncError() == null) {
            owner.give(leaving);
        } else {
            leaving.destroy();
        }
    }
}
