// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Whether the parts of a collective belong together, in one place for every backend: a library would hang or write nonsense where they do not, and a backend that knows the parts can say who differs.
 */
public final class CollectiveParts {
    private static final int NAMED = 16;

    private CollectiveParts() {}

    /**
     * Compares the parts that are known.
     *
     * @param name of the collective, for the message
     * @param parts of ranks in any order, or of sender and receiver; counts of {@code ALL_TO_ALL_V} are compared only among all of them
     * @return COLLECTIVE_MISMATCH naming the ranks and what they disagree about, or null when they agree
     */
    public static AcceleratorException disagreement(String name, List<Command.Collective> parts) {
        Map<String, List<Integer>> camps = new LinkedHashMap<>();
        for (Command.Collective part : parts) {
            camps.computeIfAbsent(signature(part), ignored -> new ArrayList<>()).add(part.rank());
        }
        if (camps.size() > 1) {
            StringBuilder text = new StringBuilder();
            camps.forEach((what, who) -> text.append(text.isEmpty() ? "" : ", but ")
                    .append(ranks(who))
                    .append(who.size() == 1 ? " issues " : " issue ")
                    .append(what));
            return mismatch(name, text.toString());
        }
        return parts.getFirst().kind() == CollectiveKind.ALL_TO_ALL_V ? uneven(name, parts) : null;
    }

    private static AcceleratorException uneven(String name, List<Command.Collective> parts) {
        for (Command.Collective from : parts) {
            for (Command.Collective to : parts) {
                long gives = from.sendCounts().get(to.rank());
                long takes = to.receiveCounts().get(from.rank());
                if (gives != takes) {
                    return mismatch(
                            name,
                            "rank " + from.rank() + " sends " + gives + " elements to rank " + to.rank()
                                    + ", which expects " + takes);
                }
            }
        }
        return null;
    }

    /** The exception that says what does not fit. */
    public static AcceleratorException mismatch(String name, String what) {
        return new AcceleratorException(
                ErrorCode.COLLECTIVE_MISMATCH,
                "collective",
                name + ": " + what,
                "all ranks must issue the same operations in the same order",
                null,
                null);
    }

    private static String signature(Command.Collective part) {
        StringBuilder text = new StringBuilder();
        // Sender and receiver have different kinds by nature.
        text.append(part.kind().pointToPoint() ? "a transfer" : part.kind());
        if (part.kind() == CollectiveKind.BARRIER) {
            return text.toString();
        }
        if (part.kind() != CollectiveKind.ALL_TO_ALL_V) {
            text.append(" of ").append(part.count());
        }
        text.append(' ').append(part.type());
        if (part.kind().reduces()) {
            // The factor of a scaled sum is each rank's own, its kind is not.
            text.append(" with ").append(part.op().kind());
        }
        if (part.kind().rooted()) {
            text.append(" with root ").append(part.root());
        }
        return text.toString();
    }

    /** Such as {@code rank 3} or {@code ranks 0, 1, 2 and 5}; long lists are cut short. */
    public static String ranks(List<Integer> ranks) {
        if (ranks.size() == 1) {
            return "rank " + ranks.getFirst();
        }
        StringBuilder text = new StringBuilder("ranks ");
        int shown = Math.min(ranks.size(), NAMED);
        for (int i = 0; i < shown; i++) {
            boolean last = i == ranks.size() - 1;
            text.append(i == 0 ? "" : last ? " and " : ", ").append(ranks.get(i));
        }
        if (shown < ranks.size()) {
            text.append(" and ").append(ranks.size() - shown).append(" more");
        }
        return text.toString();
    }

    /**
     * Checks that ranks can join a communicator.
     *
     * @param name of the communicator, for the message
     * @param taken the device of each rank, null where it has not joined
     * @param ranks those that join, and their devices
     * @throws AcceleratorException INVALID_ARGUMENT for a rank or a device that is taken
     */
    public static void requireFree(String name, DeviceDriver[] taken, Map<Integer, ? extends DeviceDriver> ranks) {
        ranks.forEach((rank, device) -> {
            if (taken[rank] != null) {
                throw AcceleratorException.invalid(
                        "communicator", "rank " + rank + " of " + name + " has joined already");
            }
            for (int other = 0; other < taken.length; other++) {
                if (device.equals(taken[other])) {
                    throw AcceleratorException.invalid(
                            "communicator",
                            "device " + device.properties().ordinal() + " is rank " + other + " of " + name
                                    + " already; a device can be one rank only");
                }
            }
        });
    }
}
