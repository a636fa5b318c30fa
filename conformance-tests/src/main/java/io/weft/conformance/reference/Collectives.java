// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.reference;

import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.util.Arrays;

/** What every rank should get from a collective. Data are bit patterns, one array for each rank. */
public final class Collectives {
    private Collectives() {}

    /**
     * The results of one collective.
     *
     * @param kind any but SEND and RECEIVE, ALL_TO_ALL_V and BARRIER
     * @param scales factor of each rank for SCALED_SUM; ignored otherwise
     * @param root of rooted kinds
     * @param send what each rank gives; only the root's is looked at for BROADCAST and SCATTER
     * @return for each rank what it should get; null where the rank gets nothing
     */
    public static Expectation[] results(
            CollectiveKind kind, ReduceOp.Kind op, float[] scales, ElementType type, int root, int[][] send) {
        int ranks = send.length;
        Expectation[] results = new Expectation[ranks];
        switch (kind) {
            case ALL_REDUCE -> Arrays.fill(results, Reductions.anyOrder(op, scales, type, send));
            case REDUCE -> results[root] = Reductions.anyOrder(op, scales, type, send);
            case REDUCE_SCATTER -> {
                for (int rank = 0; rank < ranks; rank++) {
                    int[][] blocks = new int[ranks][];
                    for (int from = 0; from < ranks; from++) {
                        blocks[from] = block(send[from], ranks, rank);
                    }
                    results[rank] = Reductions.anyOrder(op, scales, type, blocks);
                }
            }
            case ALL_GATHER -> Arrays.fill(results, Expectation.exact(type, joined(send)));
            case GATHER -> results[root] = Expectation.exact(type, joined(send));
            case BROADCAST -> Arrays.fill(results, Expectation.exact(type, send[root]));
            case SCATTER -> {
                for (int rank = 0; rank < ranks; rank++) {
                    results[rank] = Expectation.exact(type, block(send[root], ranks, rank));
                }
            }
            case ALL_TO_ALL -> {
                for (int rank = 0; rank < ranks; rank++) {
                    int[][] blocks = new int[ranks][];
                    for (int from = 0; from < ranks; from++) {
                        blocks[from] = block(send[from], ranks, rank);
                    }
                    results[rank] = Expectation.exact(type, joined(blocks));
                }
            }
            case ALL_TO_ALL_V, SEND, RECEIVE, BARRIER ->
                throw new IllegalArgumentException(kind + " has no result of this form");
        }
        return results;
    }

    /** Elements that a rank sends for each element of {@code count}. */
    public static int sendFactor(CollectiveKind kind, int ranks) {
        return switch (kind) {
            case REDUCE_SCATTER, ALL_TO_ALL, SCATTER -> ranks;
            default -> 1;
        };
    }

    /** Elements that a rank receives for each element of {@code count}. */
    public static int receiveFactor(CollectiveKind kind, int ranks) {
        return switch (kind) {
            case ALL_GATHER, ALL_TO_ALL, GATHER -> ranks;
            default -> 1;
        };
    }

    private static int[] block(int[] data, int ranks, int index) {
        int size = data.length / ranks;
        return Arrays.copyOfRange(data, index * size, (index + 1) * size);
    }

    private static int[] joined(int[][] blocks) {
        return Arrays.stream(blocks).flatMapToInt(Arrays::stream).toArray();
    }
}
