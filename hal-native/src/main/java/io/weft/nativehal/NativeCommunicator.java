// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.ReduceOp;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** One member's hold on a communicator: the ranks that joined together. */
final class NativeCommunicator implements CommunicatorDriver {
    /**
     * Where a rank went in a split.
     *
     * @param state the new communicator
     * @param rank the new rank
     */
    record Place(CommunicatorState state, int rank) {}

    private final CommunicatorState state;
    private final Map<Integer, NativeDevice> ranks;
    private final AtomicBoolean closed = new AtomicBoolean();

    NativeCommunicator(CommunicatorState state, Map<Integer, NativeDevice> ranks) {
        this.state = state;
        this.ranks = Map.copyOf(ranks);
    }

    @Override
    public void enqueue(List<CollectiveDriver.Part> group) {
        requireOpen("collective");
        state.issue(group);
    }

    @Override
    public Map<Integer, Membership> split(Map<Integer, Integer> colors, Map<Integer, Integer> keys) {
        requireOpen("split");
        Map<Integer, Place> places = state.split(colors, keys);
        Map<CommunicatorState, Map<Integer, NativeDevice>> mine = new HashMap<>();
        places.forEach((oldRank, place) ->
                mine.computeIfAbsent(place.state(), ignored -> new TreeMap<>()).put(place.rank(), ranks.get(oldRank)));
        Map<CommunicatorState, NativeCommunicator> made = new HashMap<>();
        mine.forEach((fresh, devices) -> {
            fresh.addMember();
            made.put(fresh, new NativeCommunicator(fresh, devices));
        });
        Map<Integer, Membership> result = new TreeMap<>();
        places.forEach((oldRank, place) -> result.put(
                oldRank,
                new Membership(
                        made.get(place.state()), place.rank(), place.state().size())));
        return result;
    }

    @Override
    public String describe(CollectiveKind kind, ReduceOp op, ElementType type, long bytes) {
        return state.choice();
    }

    @Override
    public Optional<AcceleratorException> asyncError() {
        return Optional.ofNullable(state.asyncError());
    }

    @Override
    public void abort() {
        state.abort();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            state.leave();
        }
    }

    private void requireOpen(String operation) {
        if (closed.get()) {
            throw new AcceleratorException(ErrorCode.CLOSED, operation, "the communicator was closed before");
        }
    }
}
