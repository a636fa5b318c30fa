// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import io.weft.api.CollectiveKind;
import io.weft.api.graph.Command;
import io.weft.sim.compute.CopyKernel;
import io.weft.sim.compute.Reduction;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

/**
 * A collective of all its ranks. Reductions go over the ranks in their order 0 to n - 1, accumulate as {@link io.weft.api.ReduceOp} says and round once, so a
 * reduction in chunks, or by a schedule of copies and one reduction, gives the same bits.
 */
final class CollectiveEffect extends Effect {
    private final Reduction reduction;
    private final CopyKernel copies;
    private final List<Command.Collective> parts;
    private final List<Operand> send;
    private final List<Operand> receive;
    private final CollectiveKind kind;
    private final int root;

    CollectiveEffect(
            Reduction reduction,
            CopyKernel copies,
            List<Command.Collective> parts,
            List<Operand> send,
            List<Operand> receive) {
        super(reads(parts, send), writes(parts, receive));
        this.reduction = reduction;
        this.copies = copies;
        this.parts = parts;
        this.send = send;
        this.receive = receive;
        this.kind = parts.getFirst().kind();
        this.root = parts.getFirst().root();
    }

    private static List<Operand> reads(List<Command.Collective> parts, List<Operand> send) {
        Command.Collective first = parts.getFirst();
        return switch (first.kind()) {
            case BROADCAST, SCATTER -> List.of(send.get(first.root()));
            case BARRIER -> List.of();
            default -> send.stream().filter(Objects::nonNull).toList();
        };
    }

    private static List<Operand> writes(List<Command.Collective> parts, List<Operand> receive) {
        Command.Collective first = parts.getFirst();
        return switch (first.kind()) {
            case REDUCE, GATHER -> List.of(receive.get(first.root()));
            case BARRIER -> List.of();
            default -> receive.stream().filter(Objects::nonNull).toList();
        };
    }

    @Override
    boolean worksInPlace(Operand read, Operand write) {
        // Only the forms that the rules allow; see CollectiveKind.
        int rank = receive.indexOf(write);
        if (rank < 0 || rank >= send.size() || send.get(rank) != read) {
            return false;
        }
        long from = read.extent().start();
        long to = write.extent().start();
        return switch (kind) {
            case ALL_REDUCE, BROADCAST, REDUCE -> from == to;
            case ALL_GATHER -> from == to + rank * read.view().bytes();
            case REDUCE_SCATTER -> to == from + rank * write.view().bytes();
            case GATHER -> from == to + root * read.view().bytes();
            case SCATTER -> to == from + root * write.view().bytes();
            default -> false;
        };
    }

    @Override
    void compute() {
        int n = parts.size();
        switch (kind) {
            case ALL_REDUCE -> {
                reduce(0, 0, receive.getFirst());
                MemorySegment result = receive.getFirst().current();
                for (int rank = 1; rank < n; rank++) {
                    copies.copy(result, 0, receive.get(rank).current(), 0, result.byteSize());
                }
            }
            case REDUCE -> reduce(0, 0, receive.get(root));
            case REDUCE_SCATTER -> {
                for (int rank = 0; rank < n; rank++) {
                    reduce(rank, receive.get(rank).view().bytes(), receive.get(rank));
                }
            }
            case ALL_GATHER -> {
                for (int rank = 0; rank < n; rank++) {
                    gather(receive.get(rank));
                }
            }
            case GATHER -> gather(receive.get(root));
            case BROADCAST -> {
                for (int rank = 0; rank < n; rank++) {
                    move(
                            send.get(root),
                            0,
                            receive.get(rank),
                            0,
                            receive.get(rank).view().bytes());
                }
            }
            case SCATTER -> {
                // The root's own block comes last: in place it lies in what the others read.
                for (int i = 1; i <= n; i++) {
                    int rank = (root + i) % n;
                    long block = receive.get(rank).view().bytes();
                    move(send.get(root), rank * block, receive.get(rank), 0, block);
                }
            }
            case ALL_TO_ALL -> allToAll();
            case ALL_TO_ALL_V -> allToAllV();
            case SEND, RECEIVE ->
                move(send.get(0), 0, receive.get(1), 0, receive.get(1).view().bytes());
            case BARRIER -> {
                // No data.
            }
        }
    }

    private void gather(Operand to) {
        for (int rank = 0; rank < send.size(); rank++) {
            long block = send.get(rank).view().bytes();
            move(send.get(rank), 0, to, rank * block, block);
        }
    }

    private void allToAll() {
        int n = parts.size();
        for (int from = 0; from < n; from++) {
            long block = send.get(from).view().bytes() / n;
            for (int to = 0; to < n; to++) {
                move(send.get(from), to * block, receive.get(to), from * block, block);
            }
        }
    }

    private void allToAllV() {
        int n = parts.size();
        long[] filled = new long[n];
        for (int from = 0; from < n; from++) {
            long taken = 0;
            for (int to = 0; to < n; to++) {
                long block = parts.get(from).sendCounts().get(to)
                        * parts.get(from).type().bytes();
                move(send.get(from), taken, receive.get(to), filled[to], block);
                taken += block;
                filled[to] += block;
            }
        }
    }

    /** Copies a block, unless it is there already. */
    private void move(Operand from, long fromOffset, Operand to, long toOffset, long bytes) {
        boolean there = !from.isKept()
                && from.extent().start() + fromOffset == to.extent().start() + toOffset;
        if (bytes > 0 && !there) {
            copies.copy(from.segment(), fromOffset, to.current(), toOffset, bytes);
        }
    }

    /** Reduces one block of every rank. */
    private void reduce(int block, long blockBytes, Operand to) {
        if (to.view().isEmpty()) {
            return;
        }
        long bytes = to.view().bytes();
        int n = parts.size();
        MemorySegment[] inputs = new MemorySegment[n];
        float[] factors = new float[n];
        for (int rank = 0; rank < n; rank++) {
            inputs[rank] = send.get(rank).segment().asSlice(block * blockBytes, bytes);
            factors[rank] = parts.get(rank).op().scale();
        }
        long count = to.view().elements();
        reduction.reduce(
                parts.getFirst().op(), factors, to.type(), inputs, null, to.type(), to.current(), count, 1, count);
    }
}
