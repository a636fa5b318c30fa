// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Capability;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.spi.DeviceMemory;
import io.weft.spi.VirtualMemoryDriver;
import java.util.BitSet;
import java.util.Optional;

/** Pages mapped on demand into one reserved address range. */
final class VirtualMemorySource implements SegmentSource {
    private final VirtualMemoryDriver driver;
    private final DeviceMemory range;
    private final Buffer whole;
    private final long step;
    private final BitSet mapped = new BitSet();
    private volatile AcceleratorException refusal;

    VirtualMemorySource(Device device, long rangeBytes) {
        this.driver = device.platform()
                .extension(VirtualMemoryDriver.class)
                .orElseThrow(() -> AcceleratorException.unsupported(
                        "pool", Capability.VIRTUAL_MEMORY, device.platform().toString()));
        this.step = Math.max(PoolOptions.SEGMENT_STEP, driver.pageBytes());
        if (rangeBytes < step || rangeBytes % step != 0) {
            throw AcceleratorException.invalid(
                    "pool", "address range " + rangeBytes + " must be a positive multiple of " + step + " bytes");
        }
        this.range = driver.reserve(device.driver(), rangeBytes);
        this.whole = device.adopt(range, buffer -> device.driver().free(range));
    }

    @Override
    public Optional<AcceleratorException> refusal() {
        return Optional.ofNullable(refusal);
    }

    @Override
    public long stepBytes() {
        return step;
    }

    @Override
    public boolean contiguous() {
        return true;
    }

    @Override
    public long rangeBytes() {
        return range.bytes();
    }

    @Override
    public boolean obtain(long offset, long bytes) {
        try {
            driver.map(range, offset, bytes);
        } catch (AcceleratorException refused) {
            if (refused.code() == ErrorCode.OUT_OF_MEMORY) {
                refusal = refused;
                return false;
            }
            throw refused;
        }
        mapped.set((int) (offset / step), (int) ((offset + bytes) / step));
        return true;
    }

    @Override
    public void giveBack(long offset, long bytes) {
        mapped.clear((int) (offset / step), (int) ((offset + bytes) / step));
        driver.unmap(range, offset, bytes);
    }

    @Override
    public Buffer buffer(long offset, long bytes, Buffer.Owner owner) {
        return whole.suballocate(offset, bytes, owner);
    }

    @Override
    public void close() {
        for (int first = mapped.nextSetBit(0); first >= 0; first = mapped.nextSetBit(first)) {
            int end = mapped.nextClearBit(first);
            giveBack(first * step, (end - first) * step);
        }
        whole.close();
    }
}
