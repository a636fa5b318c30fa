// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/** What a program does about a pool that runs full. Called by the thread that uses the pool, which holds no lock, so the hook may use the pool itself. */
@FunctionalInterface
public interface PressureHook {
    /**
     * An allocation is refused, though the pool has trimmed, moved memory and waited for streams. The hook may free buffers, wait, or make its program smaller.
     *
     * @param bytes what is asked for
     * @param attempt 1 for the first refusal of this allocation, then 2 and so on
     * @return whether to try again; false refuses
     */
    boolean makeRoom(long bytes, int attempt);

    /** The level has left one band for another since the iteration before. */
    default void levelChanged(PoolLevel level) {}
}
