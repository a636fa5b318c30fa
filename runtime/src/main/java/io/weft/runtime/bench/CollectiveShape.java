// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.Memory;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import java.util.ArrayList;
import java.util.List;

/**
 * One row's collective: which elements every rank gives and gets, on any memory, out of place or in place.
 *
 * @param operation what
 * @param count as in the table
 * @param type element type
 * @param reduction of operations that reduce
 * @param root of operations that have one
 * @param ranks their number
 * @param inPlace whether the receiving buffer also holds what is sent
 */
record CollectiveShape(
        CollectiveOperation operation,
        long count,
        ElementType type,
        BenchReduction reduction,
        int root,
        int ranks,
        boolean inPlace) {

    /** The same in place. */
    CollectiveShape together() {
        return new CollectiveShape(operation, count, type, reduction, root, ranks, true);
    }

    /** A node of a rank in the group of one call. */
    record Part(Command.Collective command, int key) {}

    /** Elements of a rank's send buffer; 0 when it has none. */
    long sendElements(int rank) {
        return switch (operation) {
            case ALL_REDUCE, ALL_GATHER, REDUCE, GATHER, SENDRECV -> count;
            case REDUCE_SCATTER, ALLTOALL -> count * ranks;
            case ALLTOALLV -> uneven(rank).stream().mapToLong(Long::longValue).sum();
            case BROADCAST -> rank == root ? count : 0;
            case SCATTER -> rank == root ? count * ranks : 0;
        };
    }

    /** Elements of a rank's receive buffer; 0 when it has none. */
    long receiveElements(int rank) {
        return switch (operation) {
            case ALL_REDUCE, REDUCE_SCATTER, BROADCAST, SCATTER, SENDRECV -> count;
            case ALL_GATHER, ALLTOALL -> count * ranks;
            case ALLTOALLV -> uneven(rank).stream().mapToLong(Long::longValue).sum();
            case REDUCE -> rank == root ? count : 0;
            case GATHER -> rank == root ? count * ranks : 0;
        };
    }

    /** Counts from this rank to each other in {@link CollectiveOperation#ALLTOALLV}; what it gets from each is the same. */
    private List<Long> uneven(int rank) {
        List<Long> counts = new ArrayList<>(ranks);
        for (int peer = 0; peer < ranks; peer++) {
            counts.add(CollectiveOperation.uneven(count, ranks, rank, peer));
        }
        return counts;
    }

    /** Bytes of a rank's one buffer in place, of both otherwise. */
    long bytes(int rank) {
        long both = inPlace
                ? Math.max(sendElements(rank), receiveElements(rank))
                : sendElements(rank) + receiveElements(rank);
        return both * type.bytes();
    }

    /** Where in the rank's buffer its part begins, in elements, when it works in place. */
    private long sendStart(int rank) {
        return switch (operation) {
            case ALL_GATHER -> rank * count;
            case GATHER -> rank == root ? root * count : 0;
            default -> 0;
        };
    }

    private long receiveStart(int rank) {
        return switch (operation) {
            case REDUCE_SCATTER -> rank * count;
            case SCATTER -> rank == root ? root * count : 0;
            default -> 0;
        };
    }

    /** What a rank gives, in memory that is the receiving one too when in place. */
    BufferView send(int rank, Memory memory) {
        return view(memory, inPlace ? sendStart(rank) : 0, sendElements(rank));
    }

    /** Where a rank gets. */
    BufferView receive(int rank, Memory memory) {
        return view(memory, inPlace ? receiveStart(rank) : 0, receiveElements(rank));
    }

    private BufferView view(Memory memory, long start, long elements) {
        return BufferView.vector(memory, start * type.bytes(), elements, type);
    }

    /**
     * A rank's parts of one call: one, or a send and a receive.
     *
     * @param key of the call's first collective; {@link #keys()} are used
     */
    List<Part> parts(int rank, BufferView send, BufferView receive, int key) {
        if (operation == CollectiveOperation.SENDRECV) {
            int to = (rank + 1) % ranks;
            int from = (rank + ranks - 1) % ranks;
            return List.of(
                    new Part(command(CollectiveKind.SEND, rank, to, send, null, key + rank), key + rank),
                    new Part(command(CollectiveKind.RECEIVE, rank, from, null, receive, key + from), key + from));
        }
        boolean gives = operation != CollectiveOperation.BROADCAST && operation != CollectiveOperation.SCATTER;
        boolean gets = operation != CollectiveOperation.REDUCE && operation != CollectiveOperation.GATHER;
        BufferView given = gives || rank == root ? send : null;
        BufferView got = gets || rank == root ? receive : null;
        return List.of(new Part(command(operation.kind(), rank, operation.rooted() ? root : 0, given, got, key), key));
    }

    /** Keys that one call uses up. */
    int keys() {
        return operation == CollectiveOperation.SENDRECV ? ranks : 1;
    }

    private Command.Collective command(
            CollectiveKind kind, int rank, int root, BufferView send, BufferView receive, int key) {
        List<Long> counts = operation == CollectiveOperation.ALLTOALLV ? uneven(rank) : List.of();
        ReduceOp op = kind.reduces() ? reduction.of(rank) : ReduceOp.SUM;
        return new Command.Collective(kind, op, rank, ranks, root, send, receive, counts, counts, key);
    }
}
