// SPDX-License-Identifier: Apache-2.0
package io.weft.api.graph;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import java.util.List;

/** The rules that tie the views of one rank's part of a collective together. */
final class CollectiveShapes {
    private CollectiveShapes() {}

    static void check(
            CollectiveKind kind,
            int rank,
            int ranks,
            int root,
            BufferView send,
            BufferView receive,
            List<Long> sendCounts,
            List<Long> receiveCounts) {
        boolean isRoot = rank == root;
        boolean needsSend = switch (kind) {
            case RECEIVE, BARRIER -> false;
            case BROADCAST, SCATTER -> isRoot;
            default -> true;
        };
        boolean needsReceive = switch (kind) {
            case SEND, BARRIER -> false;
            case REDUCE, GATHER -> isRoot;
            default -> true;
        };
        require(kind, "send", needsSend, send);
        require(kind, "receive", needsReceive, receive);
        if (send != null && receive != null && send.type() != receive.type()) {
            throw AcceleratorException.invalid(
                    "collective",
                    kind + ": send is " + send.type() + " and receive is " + receive.type()
                            + ": they must have one type");
        }
        boolean variable = kind == CollectiveKind.ALL_TO_ALL_V;
        if (variable) {
            counts(kind, "send", sendCounts, ranks, send);
            counts(kind, "receive", receiveCounts, ranks, receive);
        } else if (!sendCounts.isEmpty() || !receiveCounts.isEmpty()) {
            throw AcceleratorException.invalid("collective", kind + " takes no counts for single peers");
        }
        if (!variable && needsSend && needsReceive) {
            long sendFactor = sendFactor(kind, ranks);
            long receiveFactor = receiveFactor(kind, ranks);
            boolean whole = send.elements() % sendFactor == 0 && receive.elements() % receiveFactor == 0;
            if (!whole || send.elements() / sendFactor != receive.elements() / receiveFactor) {
                throw AcceleratorException.invalid(
                        "collective",
                        kind + " over " + ranks + " ranks: send holds " + send.elements() + " elements and receive "
                                + receive.elements() + "; they must be " + sendFactor + " and " + receiveFactor
                                + " times one count");
            }
        }
    }

    static long count(CollectiveKind kind, int ranks, BufferView send, BufferView receive) {
        if (kind == CollectiveKind.BARRIER) {
            return 0;
        }
        if (kind == CollectiveKind.ALL_TO_ALL_V) {
            return -1;
        }
        // Broadcast and scatter are told by what a rank gets, which every rank has; the others by what it gives.
        boolean byReceive =
                kind == CollectiveKind.BROADCAST || kind == CollectiveKind.SCATTER || kind == CollectiveKind.RECEIVE;
        return byReceive ? receive.elements() / receiveFactor(kind, ranks) : send.elements() / sendFactor(kind, ranks);
    }

    private static long sendFactor(CollectiveKind kind, int ranks) {
        return switch (kind) {
            case REDUCE_SCATTER, ALL_TO_ALL, SCATTER -> ranks;
            default -> 1;
        };
    }

    private static long receiveFactor(CollectiveKind kind, int ranks) {
        return switch (kind) {
            case ALL_GATHER, ALL_TO_ALL, GATHER -> ranks;
            default -> 1;
        };
    }

    private static void require(CollectiveKind kind, String which, boolean needed, BufferView view) {
        if (needed && view == null) {
            throw AcceleratorException.invalid("collective", kind + " needs a " + which + " view on this rank");
        }
        if (view != null && !view.isContiguous()) {
            throw AcceleratorException.invalid(
                    "collective", kind + ": the " + which + " view must have no gaps between rows");
        }
    }

    private static void counts(CollectiveKind kind, String which, List<Long> counts, int ranks, BufferView view) {
        if (counts.size() != ranks) {
            throw AcceleratorException.invalid(
                    "collective", kind + ": " + counts.size() + " " + which + " counts given for " + ranks + " ranks");
        }
        long sum = 0;
        for (long count : counts) {
            if (count < 0) {
                throw AcceleratorException.invalid("collective", kind + ": a " + which + " count is negative");
            }
            sum += count;
        }
        if (sum != view.elements()) {
            throw AcceleratorException.invalid(
                    "collective",
                    kind + ": the " + which + " counts add up to " + sum + " and the view holds " + view.elements()
                            + " elements");
        }
    }
}
