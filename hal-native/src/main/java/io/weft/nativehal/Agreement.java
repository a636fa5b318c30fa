// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Whether the parts of a collective belong together. The library would hang or write nonsense where they do not; we know all parts and say who differs. */
final class Agreement {
    private static final int NAMED = 16;

    private Agreement() {}

    /**
     * Compares the parts that are known.
     *
     * @return COLLECTIVE_MISMATCH naming the ranks and what they disagree about, or null when they agree
     */
    static AcceleratorException disagreement(String name, List<Command.Collective> parts) {
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

    static AcceleratorException mismatch(String name, String what) {
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
    static String ranks(List<Integer> ranks) {
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
}
