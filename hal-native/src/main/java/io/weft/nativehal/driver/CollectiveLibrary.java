// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * A vendor's library of collectives. Communicators are handles, one for each rank; all ranks of one belong to this process. Counts are elements of the given type code. A handle is used by one thread at a time, which the shared layer sees to. Calls between
 * {@link #groupStart} and {@link #groupEnd} of one thread are issued together; a library without groups keeps them until the end.
 */
public interface CollectiveLibrary {
    /** Its name, for messages. */
    String name();

    /** Size of an id by which ranks find one another. */
    int idBytes();

    /** A new id. */
    byte[] uniqueId();

    /**
     * Makes the communicator of all ranks.
     *
     * @param makeCurrent makes the device of a rank the calling thread's current one
     * @return the handle of each rank
     */
    long[] join(byte[] id, int ranks, IntConsumer makeCurrent);

    /** Waits for what was issued, then releases a handle. The rank's device is current. */
    void destroy(long communicator);

    /** Ends everything in flight and releases a handle. */
    void abort(long communicator);

    /** The first failure that the library noticed by itself. */
    Optional<AcceleratorException> asyncError(long communicator);

    /** How to find out what the library chooses for an operation, for people. */
    String choice();

    // Numbers.

    /** The library's number of an element type that it can reduce; -1 for what it lacks. */
    int code(ElementType type);

    /** The number of bytes that are only moved. */
    int byteCode();

    /** The number of a reduction without a factor of its own; -1 for what it lacks. */
    int code(ReduceOp op);

    /** Whether sums can be multiplied first. */
    boolean hasPremultipliedSums();

    /** A sum whose inputs are multiplied first by a host number, given as the bits of its type; lives as long as the communicator. */
    int premultipliedSum(long scalarBits, int type, long communicator);

    // Issuing. The rank's device is current.

    /** Starts a group of calls. */
    void groupStart();

    /** Ends a group: everything in it is issued. */
    void groupEnd();

    /** Ends a group after one of its calls has failed; the failure is known already. */
    void dropGroup();

    /** Every rank gets the reduction of all. */
    void allReduce(long from, long to, long count, int type, int op, long communicator, long stream);

    /** Count is what each rank gives. */
    void allGather(long from, long to, long count, int type, long communicator, long stream);

    /** Count is what each rank gets. */
    void reduceScatter(long from, long to, long count, int type, int op, long communicator, long stream);

    /** The root's data goes to all. */
    void broadcast(long from, long to, long count, int type, int root, long communicator, long stream);

    /** The root gets the reduction. */
    void reduce(long from, long to, long count, int type, int op, int root, long communicator, long stream);

    /** Sends to a peer, always inside a group. */
    void send(long from, long count, int type, int peer, long communicator, long stream);

    /** Receives from a peer, always inside a group. */
    void receive(long to, long count, int type, int peer, long communicator, long stream);
}
