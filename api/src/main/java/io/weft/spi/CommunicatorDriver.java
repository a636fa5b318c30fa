// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A communicator. Collectives are matched by their order on each rank. */
public interface CommunicatorDriver {
    /**
     * Issues a group of parts, in order. Returns after all are enqueued, not when they are complete. Parts of several local ranks may be in one group, and
     * must be when one thread drives them.
     *
     * @throws AcceleratorException COLLECTIVE_MISMATCH naming ranks and what differs; ABORTED; STREAM_FAILED
     */
    void enqueue(List<CollectiveDriver.Part> group);

    /**
     * Splits into communicators by colour.
     *
     * @param colors colour of each local rank; a negative one takes no part
     * @param keys order inside the colour; equal keys keep the old order
     * @return the new communicator and rank of each local rank that takes part
     */
    Map<Integer, Membership> split(Map<Integer, Integer> colors, Map<Integer, Integer> keys);

    /**
     * As {@link #split(Map, Map)} with options for the new communicators; called only where {@link io.weft.api.Capability#COMMUNICATOR_OPTIONS} is declared.
     *
     * @param options null to take over those of this communicator
     */
    default Map<Integer, Membership> split(
            Map<Integer, Integer> colors, Map<Integer, Integer> keys, io.weft.api.CommunicatorOptions options) {
        return split(colors, keys);
    }

    /** Whether no call of a communicator that does not block is under way any more. */
    default boolean isReady() {
        return true;
    }

    /**
     * Lets what was issued come to its end, after which the communicator takes nothing more and is closed next. One that does not block returns at once and is ready when everything
     * is over. Called only where {@link io.weft.api.Capability#COMMUNICATOR_OPTIONS} is declared.
     */
    default void finish() {
        throw new UnsupportedOperationException("COMMUNICATOR_OPTIONS is declared, so finish must be there");
    }

    /** Where an old rank went. */
    record Membership(CommunicatorDriver communicator, int rank, int size) {}

    /** The algorithm and protocol that would carry out an operation, for people. */
    default String describe(CollectiveKind kind, ReduceOp op, ElementType type, long bytes) {
        return "";
    }

    /** The first asynchronous failure, if any. */
    Optional<AcceleratorException> asyncError();

    /** Ends everything in flight; every waiter gets ABORTED. Allowed at any time, more than once. */
    void abort();

    /** Waits for what was issued, then releases it. */
    void close();
}
