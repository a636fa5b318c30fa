// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The operations of rccl-tests, each with that tool's own counts and bandwidths, so that a row here means what a row there means.
 *
 * <p>{@code count} is the number in the table's count column: elements of one rank's block where every rank has a block of its own, else of the whole message.
 * The definitions are those of each {@code src/OPERATION.cu} of ROCm/rccl-tests (GetCollByteCount, GetBw).
 */
public enum CollectiveOperation {
    ALL_REDUCE(CollectiveKind.ALL_REDUCE, false),
    ALL_GATHER(CollectiveKind.ALL_GATHER, true),
    REDUCE_SCATTER(CollectiveKind.REDUCE_SCATTER, true),
    BROADCAST(CollectiveKind.BROADCAST, false),
    REDUCE(CollectiveKind.REDUCE, false),
    GATHER(CollectiveKind.GATHER, true),
    SCATTER(CollectiveKind.SCATTER, true),
    ALLTOALL(CollectiveKind.ALL_TO_ALL, true),
    ALLTOALLV(CollectiveKind.ALL_TO_ALL_V, true),
    /** Every rank sends to the next one and receives from the one before. */
    SENDRECV(CollectiveKind.SEND, false);

    /** A block starts at a multiple of so many bytes. */
    private static final long BLOCK_BYTES = 16;

    private final CollectiveKind kind;
    private final boolean blocks;

    CollectiveOperation(CollectiveKind kind, boolean blocks) {
        this.kind = kind;
        this.blocks = blocks;
    }

    /** What the platform carries out. */
    public CollectiveKind kind() {
        return kind;
    }

    /** Its name on the command line and in JSON, such as {@code all_reduce}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether the root option means anything. */
    public boolean rooted() {
        return kind.rooted();
    }

    /** Whether one buffer can be both ends. */
    public boolean hasInPlace() {
        return this != ALLTOALL && this != ALLTOALLV && this != SENDRECV;
    }

    /**
     * The count for a message of so many bytes: blocks are cut down to whole multiples of 16 bytes, so small messages over many ranks come to 0.
     *
     * @param bytes size that was asked for
     * @param elementBytes bytes of one element
     */
    public long count(long bytes, int elementBytes, int ranks) {
        long elements = bytes / elementBytes;
        if (!blocks) {
            return elements;
        }
        if (this == ALLTOALLV && elements < (long) ranks * ranks / 2) {
            return 0;
        }
        return elements / ranks & -(BLOCK_BYTES / elementBytes);
    }

    /** Bytes of the larger of one rank's two buffers: the table's size column. */
    public long size(long count, int elementBytes, int ranks) {
        return count * elementBytes * (blocks ? ranks : 1);
    }

    /** Bytes over time, GB/s (1e9), as if every byte were moved once. */
    public double algorithmBandwidth(long count, int elementBytes, int ranks, double nanos) {
        return nanos > 0 ? (double) size(count, elementBytes, ranks) / nanos : 0;
    }

    /** What the algorithm's bandwidth is multiplied with to tell what a link carries whatever the number of ranks. */
    public double busFactor(int ranks) {
        return switch (this) {
            case ALL_REDUCE -> 2.0 * (ranks - 1) / ranks;
            case ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, ALLTOALL, ALLTOALLV -> (double) (ranks - 1) / ranks;
            case BROADCAST, REDUCE, SENDRECV -> 1;
        };
    }

    /**
     * Elements that a rank sends another in {@link #ALLTOALLV}: growing round the ring, and what is left over goes to the peer with which the ranks add up to a
     * multiple of their number.
     */
    static long uneven(long count, int ranks, int rank, int peer) {
        long chunk = count * 2 / ranks;
        int step = (peer + rank) % ranks;
        return step == 0 ? count * ranks - chunk * (ranks - 1) * ranks / 2 : step * chunk;
    }

    /**
     * The operation with a name; case, dashes and the library's spellings do not matter.
     *
     * @throws AcceleratorException INVALID_ARGUMENT with the names
     */
    public static CollectiveOperation parse(String text) {
        String wanted = plain(text);
        for (CollectiveOperation each : values()) {
            if (plain(each.label()).equals(wanted)) {
                return each;
            }
        }
        throw AcceleratorException.invalid(
                "collective",
                "'" + text + "' is not an operation; accepted are "
                        + Arrays.stream(values())
                                .map(CollectiveOperation::label)
                                .collect(Collectors.joining(", ")));
    }

    private static String plain(String text) {
        String plain = text.strip().toLowerCase(Locale.ROOT).replaceAll("[-_]", "");
        return plain.endsWith("perf") ? plain.substring(0, plain.length() - "perf".length()) : plain;
    }
}
