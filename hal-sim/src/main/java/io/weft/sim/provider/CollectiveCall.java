// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.graph.Command;
import io.weft.sim.execute.Effect;
import io.weft.spi.CollectiveParts;
import java.util.ArrayList;
import java.util.List;

/**
 * One collective of a communicator, as the parts of its ranks come in: those of all ranks, or of sender and receiver for a transfer between two. Confined to the
 * platform's lock.
 */
final class CollectiveCall {
    /**
     * One rank's part.
     *
     * @param rank who
     * @param command what
     * @param work where it stands in its stream, or null when a count of 0 needs no launch
     */
    record Part(int rank, Command.Collective command, Work work) {}

    private final CommunicatorState communicator;
    private final String name;
    private final boolean transfer;
    private final int[] ranks;
    private final Part[] parts;
    private int issued;
    private int arrived;
    private long firstArrivalPs = Long.MAX_VALUE;
    private int lastArrival = -1;
    private int handle = -1;
    private boolean launched;
    private boolean over;
    private Effect effect;

    /**
     * @param name for people, such as {@code collective 3}
     * @param transfer whether it joins two ranks only
     * @param ranks who takes part, by position: ascending for a collective, sender and receiver for a transfer
     */
    CollectiveCall(CommunicatorState communicator, String name, boolean transfer, int... ranks) {
        this.communicator = communicator;
        this.name = name;
        this.transfer = transfer;
        this.ranks = ranks;
        this.parts = new Part[ranks.length];
    }

    CommunicatorState communicator() {
        return communicator;
    }

    /** For people: the operation, its number and the communicator. */
    String name() {
        for (Part part : parts) {
            if (part != null && !transfer) {
                return part.command.kind() + " (" + name + ") on " + communicator.name();
            }
        }
        return name + " on " + communicator.name();
    }

    /** A part is issued. */
    void issue(int position, Part part) {
        parts[position] = part;
        issued++;
    }

    /** Whether a position's part is issued. */
    boolean hasIssued(int position) {
        return parts[position] != null;
    }

    /** Whether all parts are issued. */
    boolean isComplete() {
        return issued == ranks.length;
    }

    /** A stream has reached a part of it. */
    void arrive(Work work, long nowPs) {
        arrived++;
        firstArrivalPs = Math.min(firstArrivalPs, nowPs);
        for (Part part : parts) {
            if (part != null && work.equals(part.work)) {
                lastArrival = part.rank;
            }
        }
    }

    /** When the first stream reached it, ps; {@link Long#MAX_VALUE} before. */
    long firstArrivalPs() {
        return firstArrivalPs;
    }

    /** The rank that reached it last. */
    int lastArrival() {
        return lastArrival;
    }

    /** Whether it is issued everywhere, and every stream has reached it. */
    boolean isReady() {
        return isComplete() && !over && arrived == launchedParts().size();
    }

    /** Who takes part, by position. */
    int[] ranks() {
        return ranks;
    }

    /** The parts by position; null where none is issued. */
    Part[] parts() {
        return parts;
    }

    /** The parts that are issued and launch something. */
    List<Part> launchedParts() {
        List<Part> some = new ArrayList<>(parts.length);
        for (Part part : parts) {
            if (part != null && part.work != null) {
                some.add(part);
            }
        }
        return some;
    }

    /** The commands by position, once all are issued. */
    List<Command.Collective> commands() {
        List<Command.Collective> all = new ArrayList<>(parts.length);
        for (Part part : parts) {
            all.add(part.command);
        }
        return all;
    }

    /** The devices have begun with it. */
    void launched(Effect begun) {
        launched = true;
        effect = begun;
    }

    /** The runtime's handle, -1 before there is one. */
    int handle() {
        return handle;
    }

    void handle(int given) {
        handle = given;
    }

    /** Whether it joins two ranks only. */
    boolean isTransfer() {
        return transfer;
    }

    /** Whether the devices have begun with it. */
    boolean isLaunched() {
        return launched;
    }

    /** What it does to memory; null before it began and in the timing mode. */
    Effect effect() {
        return effect;
    }

    /** Marks it as ended, well or not. */
    void end() {
        over = true;
        effect = null;
    }

    /** Whether it has ended. */
    boolean isOver() {
        return over;
    }

    /** What the parts disagree about, once all are issued; null when they agree. */
    AcceleratorException disagreement() {
        return CollectiveParts.disagreement(name + " on " + communicator.name(), commands());
    }
}
