// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.nativehal.driver.Route;
import io.weft.nativehal.ffi.Native;
import io.weft.spi.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** One allocation: plain, from a pool, pinned on the host, or a range of addresses. */
class NativeMemory implements DeviceMemory {
    private final NativeDevice device;
    private final MemoryKind kind;
    private final long address;
    private final long bytes;
    private final boolean pooled;
    private volatile boolean freed;

    NativeMemory(NativeDevice device, MemoryKind kind, long address, long bytes, boolean pooled) {
        this.device = device;
        this.kind = kind;
        this.address = address;
        this.bytes = bytes;
        this.pooled = pooled;
    }

    @Override
    public NativeDevice device() {
        return device;
    }

    @Override
    public MemoryKind kind() {
        return kind;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long address() {
        return address;
    }

    /** From here to there. */
    Route routeTo(NativeMemory there) {
        boolean fromHost = kind == MemoryKind.HOST_PINNED;
        boolean toHost = there.kind == MemoryKind.HOST_PINNED;
        if (fromHost) {
            return toHost ? Route.HOST_TO_HOST : Route.HOST_TO_DEVICE;
        }
        if (toHost) {
            return Route.DEVICE_TO_HOST;
        }
        return device == there.device ? Route.WITHIN_DEVICE : Route.BETWEEN_DEVICES;
    }

    /** Whether it came from the runtime's pool. */
    boolean isPooled() {
        return pooled;
    }

    /** It is about to be given back; whoever still has a part of it is refused from now on. */
    void markFreed() {
        freed = true;
    }

    /**
     * Checks that it was not given back. Buffers are looked at by the API; a part of a buffer does not know that the whole was closed.
     *
     * @throws AcceleratorException CLOSED
     */
    void requireLive(String operation) {
        if (freed) {
            throw new AcceleratorException(ErrorCode.CLOSED, operation, this + " was given back before");
        }
    }

    /**
     * Checks that a command or a transfer finds memory in a range.
     *
     * @throws AcceleratorException CLOSED, or OUT_OF_BOUNDS where no page is mapped
     */
    void requireUsable(String operation, long offset, long length) {
        requireLive(operation);
    }

    /** Gives it back to where it came from. The device is current. On a lost device there is nothing to give back: whoever waits for its streams is told of the loss. */
    void release() {
        try {
            giveBack();
        } catch (AcceleratorException failed) {
            if (failed.code() != ErrorCode.DEVICE_LOST) {
                throw failed;
            }
        }
    }

    private void giveBack() {
        if (kind == MemoryKind.HOST_PINNED) {
            device.runtime().freeHost(address);
        } else if (pooled) {
            device.pools().freeInOrder(address, device.transferStream());
        } else {
            device.runtime().free(address);
        }
    }

    @Override
    public Optional<MemorySegment> hostSegment() {
        return kind == MemoryKind.HOST_PINNED ? Optional.of(Native.memory(address, bytes)) : Optional.empty();
    }

    @Override
    public String toString() {
        return "memory of " + bytes + " bytes at 0x" + Long.toHexString(address) + " on device " + device.ordinal();
    }
}
