// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.CommunicatorOptions;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.ReduceOp;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CollectiveParts;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.SplitRound;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** One member's hold on a communicator: the ranks that joined together. */
final class SimCommunicator implements CommunicatorDriver {
    private final SimPlatform platform;
    private final CommunicatorState state;
    private final Map<Integer, SimDevice> ranks;
    private boolean closed;

    SimCommunicator(SimPlatform platform, CommunicatorState state, Map<Integer, SimDevice> ranks) {
        this.platform = platform;
        this.state = state;
        this.ranks = ranks;
    }

    @Override
    public void enqueue(List<CollectiveDriver.Part> group) {
        platform.enter("collective");
        try {
            requireOpen("collective");
            state.issue(group);
        } finally {
            platform.leave();
        }
    }

    @Override
    public Map<Integer, Membership> split(Map<Integer, Integer> colors, Map<Integer, Integer> keys) {
        return split(colors, keys, null);
    }

    @Override
    public Map<Integer, Membership> split(
            Map<Integer, Integer> colors, Map<Integer, Integer> keys, CommunicatorOptions options) {
        platform.enter("split");
        try {
            requireOpen("split");
            state.requireUsable("split");
            SplitRound<CommunicatorState> round = state.splitRound(colors.keySet());
            round.add(colors, keys);
            if (round.isComplete()) {
                round.made(state.divide(round));
            }
            platform.awaitOthers(
                    () -> {
                        state.requireUsable("split");
                        return round.made() != null;
                    },
                    () -> new AcceleratorException(
                            ErrorCode.TIMEOUT,
                            "split",
                            CollectiveParts.ranks(round.missing()) + " of " + state.name() + " did not take part"));
            return memberships(round, options == null ? state.options() : options);
        } finally {
            platform.leave();
        }
    }

    private Map<Integer, Membership> memberships(SplitRound<CommunicatorState> round, CommunicatorOptions options) {
        Map<Integer, Membership> result = new TreeMap<>();
        round.groups().forEach((color, oldRanks) -> {
            CommunicatorState made = round.made().get(color);
            Map<Integer, SimDevice> mine = new TreeMap<>();
            for (int rank = 0; rank < oldRanks.size(); rank++) {
                SimDevice device = ranks.get(oldRanks.get(rank));
                if (device != null) {
                    mine.put(rank, device);
                }
            }
            if (mine.isEmpty()) {
                return;
            }
            made.agree(options);
            made.join(mine);
            SimCommunicator communicator = new SimCommunicator(platform, made, mine);
            mine.keySet()
                    .forEach(rank ->
                            result.put(oldRanks.get(rank), new Membership(communicator, rank, oldRanks.size())));
        });
        return result;
    }

    @Override
    public boolean isReady() {
        platform.enter("ready");
        try {
            requireOpen("ready");
            state.requireUsable("ready");
            // Asking costs the host a moment, in which the devices go on.
            ranks.values().forEach(device -> platform.poll(device, null));
            return state.isReady();
        } finally {
            platform.leave();
        }
    }

    @Override
    public void finish() {
        platform.enter("finish");
        try {
            requireOpen("finish");
            state.finish();
            if (state.options().blocking()) {
                ranks.values().forEach(state::drain);
            }
        } finally {
            platform.leave();
        }
    }

    @Override
    public String describe(CollectiveKind kind, ReduceOp op, ElementType type, long bytes) {
        return platform.machine().collective(kind).ways(bytes).stream()
                .map(way -> way.label() + ", " + way.computeUnits() + " compute units")
                .collect(Collectors.joining("; or "));
    }

    @Override
    public Optional<AcceleratorException> asyncError() {
        platform.enter("asynchronous error");
        try {
            return Optional.ofNullable(state.asyncError());
        } finally {
            platform.leave();
        }
    }

    @Override
    public void abort() {
        platform.enterToClose();
        try {
            state.abort();
            platform.progressed();
        } finally {
            platform.leave();
        }
    }

    @Override
    public void close() {
        platform.enterToClose();
        try {
            if (!closed) {
                closed = true;
                for (SimDevice device : ranks.values()) {
                    state.drain(device);
                }
                boolean last = state.leave();
                state.release(ranks);
                if (last) {
                    state.abort(); // What can never end must not hold its streams for ever.
                    platform.unregister(state);
                }
            }
        } finally {
            platform.leave();
        }
    }

    private void requireOpen(String operation) {
        if (closed) {
            throw new AcceleratorException(ErrorCode.CLOSED, operation, "the communicator was closed before");
        }
    }
}
