// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

/** How the ranks of a collective pass data on. */
public enum CollectiveAlgorithm {
    /** Every rank exchanges with every other at once; reductions as reduce-scatter and all-gather. */
    DIRECT,
    /** Rings over the ranks, {@code n - 1} steps for each half of an all-reduce, one ring for each channel. */
    RING,
    /** Double binary tree, {@code log2 n} steps each way; few steps, for small sizes. */
    TREE,
    /** Direct inside a server, rings of equal local ranks between servers, pipelined. */
    HIERARCHICAL
}
