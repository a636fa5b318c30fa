// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.spi.CollectiveParts;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Says why virtual time can go no further. */
final class Stall {
    private static final int NAMED = 3;

    private Stall() {}

    /**
     * Explains a wait that cannot end.
     *
     * @return TIMEOUT naming the ranks that have not come, or COLLECTIVE_MISMATCH when all have, in orders that hold each other up
     */
    static AcceleratorException explain(String operation, Work awaited, Collection<CommunicatorState> communicators) {
        List<String> absent = new ArrayList<>();
        List<String> crossed = new ArrayList<>();
        for (CommunicatorState communicator : communicators) {
            for (CollectiveCall call : communicator.pending()) {
                if (call.isLaunched()) {
                    continue;
                }
                if (!call.isComplete()) {
                    absent.add(absence(call));
                } else {
                    crossed.add(crossing(call));
                }
            }
        }
        String name = awaited.stream().name();
        if (!absent.isEmpty()) {
            return new AcceleratorException(
                    ErrorCode.TIMEOUT,
                    operation,
                    name + " waits for what can no longer happen: " + list(absent),
                    "every rank must issue its part; one thread that drives several ranks issues them in one group",
                    null,
                    null);
        }
        if (!crossed.isEmpty()) {
            return new AcceleratorException(
                    ErrorCode.COLLECTIVE_MISMATCH,
                    operation,
                    name + " waits in a circle: " + list(crossed),
                    "issue the collectives of all communicators in one order on every rank, sends and receives that need each other in one group",
                    null,
                    null);
        }
        return new AcceleratorException(
                ErrorCode.TIMEOUT,
                operation,
                name + " waits for work that can never end: a link has no bandwidth left");
    }

    private static String absence(CollectiveCall call) {
        List<Integer> here = new ArrayList<>();
        List<Integer> missing = new ArrayList<>();
        List<Integer> strangers = new ArrayList<>();
        for (int position = 0; position < call.ranks().length; position++) {
            int rank = call.ranks()[position];
            if (call.hasIssued(position)) {
                here.add(rank);
            } else {
                missing.add(rank);
                if (call.communicator().device(rank) == null) {
                    strangers.add(rank);
                }
            }
        }
        String side = call.isTransfer() ? (call.hasIssued(0) ? "'s receive" : "'s send") : "";
        return call.name() + " lacks " + CollectiveParts.ranks(missing) + side + " while " + CollectiveParts.ranks(here)
                + " "
                + (here.size() == 1 ? "waits" : "wait")
                + (strangers.isEmpty() ? "" : " (" + CollectiveParts.ranks(strangers) + " never joined)");
    }

    private static String crossing(CollectiveCall call) {
        List<Integer> here = new ArrayList<>();
        List<String> held = new ArrayList<>();
        for (CollectiveCall.Part part : call.launchedParts()) {
            if (part.work().isStarted()) {
                here.add(part.rank());
            } else if (held.size() < NAMED) {
                held.add("rank " + part.rank() + " is held up by " + holder(part.work()));
            }
        }
        return call.name()
                + (here.isEmpty() ? "" : " has " + CollectiveParts.ranks(here))
                + (held.isEmpty() ? "" : "; " + String.join(", ", held));
    }

    /** What stands before a part on its device, as far as it is a part of another collective. */
    private static String holder(Work work) {
        Work at = work;
        for (int depth = 0; depth < 1_000; depth++) {
            Work next = null;
            for (Work earlier : at.after()) {
                if (!earlier.isDone()) {
                    next = earlier;
                    break;
                }
            }
            if (next == null) {
                break;
            }
            at = next;
            String name = switch (at) {
                case CollectiveWork part -> part.call().name();
                case Gate gate -> gate.names();
                default -> null;
            };
            if (name != null) {
                return name;
            }
        }
        return "another stream on its hardware queue";
    }

    private static String list(List<String> reasons) {
        int shown = Math.min(NAMED, reasons.size());
        String text = String.join("; ", reasons.subList(0, shown));
        return shown < reasons.size() ? text + "; and " + (reasons.size() - shown) + " more" : text;
    }
}
