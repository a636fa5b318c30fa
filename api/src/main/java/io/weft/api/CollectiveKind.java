// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

/** The collective operations. Counts are elements; {@code n} is the number of ranks. */
public enum CollectiveKind {
    /** Every rank gives and gets {@code count}: the reduction of all. In place: send == receive. */
    ALL_REDUCE,
    /** Every rank gives {@code count} and gets {@code n * count} in rank order. In place: send == receive + rank * count. */
    ALL_GATHER,
    /** Every rank gives {@code n * count} and gets its {@code count} of the reduction. In place: receive == send + rank * count. */
    REDUCE_SCATTER,
    /** The root's {@code count} reach every rank. */
    BROADCAST,
    /** The root gets the reduction of all; other ranks' receive view may be absent. */
    REDUCE,
    /** Every rank gives {@code count} to each rank and gets {@code count} from each. Not in place. */
    ALL_TO_ALL,
    /** As {@link #ALL_TO_ALL} with a count for each peer. Not in place. */
    ALL_TO_ALL_V,
    /** The root gets {@code n * count} in rank order. In place: send == receive + root * count. */
    GATHER,
    /** The root gives each rank its {@code count}. In place: receive == send + root * count. */
    SCATTER,
    /** To one peer; pairs with its {@link #RECEIVE} by order, with the same count and type. */
    SEND,
    /** From one peer. */
    RECEIVE,
    /** No data; no rank passes before all have come. */
    BARRIER;

    /** Whether the operation reduces, so that its {@link ReduceOp} matters. */
    public boolean reduces() {
        return this == ALL_REDUCE || this == REDUCE_SCATTER || this == REDUCE;
    }

    /** Whether one rank is the root. */
    public boolean rooted() {
        return this == BROADCAST || this == REDUCE || this == GATHER || this == SCATTER;
    }

    /** Whether it joins two ranks only. */
    public boolean pointToPoint() {
        return this == SEND || this == RECEIVE;
    }
}
