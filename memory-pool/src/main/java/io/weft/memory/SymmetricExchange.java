// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/**
 * How the ranks of a symmetric heap tell one another what they are about to do. Ranks may live in one process or in many; {@link SymmetricHeap} needs no more than
 * this.
 */
public interface SymmetricExchange {
    /**
     * Gives a rank's call of one round to all, and waits for theirs.
     *
     * @param rank who calls
     * @param round number of the call, from 1
     * @param call what it is, a few numbers
     * @return the calls of all ranks in this round, by rank
     * @throws io.weft.api.AcceleratorException TIMEOUT naming ranks which did not come in time, ABORTED naming a rank that is gone
     */
    long[][] exchange(int rank, long round, long[] call);

    /** Tells that a rank is gone for good, so that nobody waits for it. */
    void leave(int rank, String reason);
}
