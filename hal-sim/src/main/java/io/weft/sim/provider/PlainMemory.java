// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.MemoryKind;
import io.weft.sim.execute.HostBlock;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** One contiguous allocation, poisoned when it is made; without storage in the timing mode. */
final class PlainMemory extends SimMemory {
    private final HostBlock block;
    private final int numaNode;

    /**
     * An allocation.
     *
     * @param numaNode where pinned host memory lies, -1 when the machine does not say
     * @param block its storage, which this memory releases; null for none
     */
    PlainMemory(SimDevice device, MemoryKind kind, long address, long bytes, int numaNode, HostBlock block) {
        super(device, kind, address, bytes);
        this.numaNode = numaNode;
        this.block = block;
    }

    @Override
    public int numaNode() {
        return numaNode;
    }

    @Override
    public Optional<MemorySegment> hostSegment() {
        return kind() == MemoryKind.HOST_PINNED ? Optional.ofNullable(block).map(HostBlock::segment) : Optional.empty();
    }

    @Override
    public MemorySegment backing(long offset, long length) {
        requireUsable(offset, length);
        return block.segment().asSlice(offset, length);
    }

    @Override
    void requireMapped(long offset, long length) {
        // All of it is there from the beginning.
    }

    @Override
    void releaseBacking() {
        if (block != null) {
            block.release();
            device().hostMemory().give(bytes());
        }
    }
}
