// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import java.util.List;

/** A device's own allocator without any pool: each allocation and each free is a call of the driver. Times are by the platform's clock. Used by one thread. */
public final class DeviceTarget implements ReplayTarget {
    private final Device device;
    private final long limit;
    private final Handles out = new Handles();
    private long held;
    private long peak;
    private long calls;

    /**
     * @param device whose memory it is
     * @param limit bytes that may be out
     */
    public DeviceTarget(Device device, long limit) {
        this.device = device;
        this.limit = limit;
    }

    @Override
    public String name() {
        return "device";
    }

    @Override
    public long allocate(long bytes, int stream) {
        if (held + bytes > limit) {
            return -1;
        }
        calls++;
        Buffer buffer;
        try {
            buffer = device.allocate(bytes);
        } catch (AcceleratorException refused) {
            if (refused.code() == ErrorCode.OUT_OF_MEMORY) {
                return -1;
            }
            throw refused;
        }
        held += bytes;
        peak = Math.max(peak, held);
        return out.add(buffer);
    }

    @Override
    public void free(long address, int stream) {
        Buffer buffer = out.remove(address);
        held -= buffer.bytes();
        calls++;
        buffer.close();
    }

    @Override
    public void recordUse(long address, int stream) {
        // The driver waits for everything when it frees.
    }

    @Override
    public void nextIteration() {
        // It keeps nothing.
    }

    @Override
    public long reservedBytes() {
        return held;
    }

    /** Bytes asked for; what the driver rounds them to is not told. */
    @Override
    public long peakReservedBytes() {
        return peak;
    }

    @Override
    public long peakAllocatedBytes() {
        return peak;
    }

    @Override
    public long deviceCalls() {
        return calls;
    }

    @Override
    public long retries() {
        return 0;
    }

    @Override
    public List<ReplayPiece> pieces() {
        return List.of();
    }

    @Override
    public long nanoTime() {
        return device.platform().nanoTime();
    }

    @Override
    public void close() {
        out.closeAll();
    }
}
