// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Host memory with one owner, who releases it once; after that its segment refuses all access. Not {@link AutoCloseable}, since it never lives inside one
 * method. Usable by any thread.
 */
public final class HostBlock {
    private final Arena arena;
    private final MemorySegment segment;

    private HostBlock(Arena arena, MemorySegment segment) {
        this.arena = arena;
        this.segment = segment;
    }

    /**
     * Takes memory from the host, zeroed.
     *
     * @param bytes size
     * @param alignment a power of two
     * @throws OutOfMemoryError when the host has none
     */
    @SuppressWarnings("MustBeClosedChecker") // It is closed by release, or here.
    public static HostBlock allocate(long bytes, long alignment) {
        Arena arena = Arena.ofShared();
        try {
            return new HostBlock(arena, arena.allocate(bytes, alignment));
        } catch (OutOfMemoryError refused) {
            arena.close();
            throw refused;
        }
    }

    /** The memory. */
    public MemorySegment segment() {
        return segment;
    }

    /** Gives it back. */
    public void release() {
        arena.close();
    }
}
