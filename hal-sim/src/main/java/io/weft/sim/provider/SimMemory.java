// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.sim.execute.Store;
import io.weft.spi.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * An allocation of a simulated device: an address range, and in the functional mode host memory behind it. Confined to the platform's lock, its final fields
 * apart.
 */
abstract sealed class SimMemory implements DeviceMemory, Store permits PlainMemory, VirtualRange {
    /**
     * The byte of memory that nobody has written. It makes a NaN of every float type but the FNUZ ones (there it is the value most below zero) and -1 of integers, so that
     * a read of fresh memory shows and never passes for a zero.
     */
    static final byte POISON = (byte) 0xFF;

    private final SimDevice device;
    private final MemoryKind kind;
    private final long address;
    private final long bytes;
    private boolean freed;

    SimMemory(SimDevice device, MemoryKind kind, long address, long bytes) {
        this.device = device;
        this.kind = kind;
        this.address = address;
        this.bytes = bytes;
    }

    @Override
    public final SimDevice device() {
        return device;
    }

    @Override
    public final MemoryKind kind() {
        return kind;
    }

    @Override
    public final long bytes() {
        return bytes;
    }

    @Override
    public final long address() {
        return address;
    }

    @Override
    public Optional<MemorySegment> hostSegment() {
        return Optional.empty();
    }

    /** Checks that a command may use a range, in either mode. */
    final void requireUsable(long offset, long length) {
        if (freed) {
            throw new AcceleratorException(
                    ErrorCode.CLOSED,
                    "execute",
                    this + " was given back while a command that uses it was in flight",
                    "synchronize, or wait for an event, before closing a buffer",
                    null,
                    null);
        }
        requireMapped(offset, length);
    }

    /** Checks that there is memory behind a range. */
    abstract void requireMapped(long offset, long length);

    /** Whether it was given back. */
    final boolean isFreed() {
        return freed;
    }

    /** Gives the host memory back and forgets the content. Called once. */
    final void release() {
        freed = true;
        releaseBacking();
    }

    abstract void releaseBacking();

    @Override
    public String toString() {
        return "memory of " + bytes + " bytes at 0x" + Long.toHexString(address) + " on device "
                + device.properties().ordinal();
    }
}
