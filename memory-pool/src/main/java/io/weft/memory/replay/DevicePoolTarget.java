// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import io.weft.api.Device;
import io.weft.api.Stream;
import io.weft.memory.DevicePool;
import io.weft.memory.PoolOptions;
import io.weft.memory.PoolResult;
import java.util.Arrays;
import java.util.List;

/** Weft's pool over a device's own memory, as a program uses it: with buffers, streams and events. Times are by the platform's clock. Used by one thread. */
public final class DevicePoolTarget implements ReplayTarget {
    private final Device device;
    private final DevicePool pool;
    private final Handles out = new Handles();
    private Stream[] streams = new Stream[4];

    /**
     * @param device whose memory it is
     * @param limit bytes that the pool may hold
     */
    public DevicePoolTarget(Device device, long limit) {
        this.device = device;
        this.pool = DevicePool.open(
                device, PoolOptions.defaults().withLimits(limit, limit).withName("replay"));
    }

    @Override
    public String name() {
        return "weft";
    }

    private Stream stream(int number) {
        if (number >= streams.length) {
            streams = Arrays.copyOf(streams, Math.max(number + 1, 2 * streams.length));
        }
        if (streams[number] == null) {
            streams[number] = device.createStream();
        }
        return streams[number];
    }

    @Override
    public long allocate(long bytes, int stream) {
        PoolResult result = pool.tryAllocate(bytes, stream(stream));
        return result.isAllocated() ? out.add(result.buffer()) : -1;
    }

    @Override
    public void free(long address, int stream) {
        pool.free(out.remove(address), stream(stream));
    }

    @Override
    public void recordUse(long address, int stream) {
        pool.recordUse(out.get(address), stream(stream));
    }

    @Override
    public void nextIteration() {
        pool.nextIteration();
    }

    @Override
    public long reservedBytes() {
        return pool.statistics().reservedBytes();
    }

    @Override
    public long peakReservedBytes() {
        return pool.statistics().peakReservedBytes();
    }

    @Override
    public long peakAllocatedBytes() {
        return pool.statistics().peakAllocatedBytes();
    }

    @Override
    public long deviceCalls() {
        return pool.statistics().deviceAllocations() + pool.statistics().deviceFrees();
    }

    @Override
    public long retries() {
        return pool.statistics().retries();
    }

    @Override
    public List<ReplayPiece> pieces() {
        return PoolTarget.pieces(pool.snapshot());
    }

    @Override
    public long plannedAllocations() {
        return pool.statistics().plannedAllocations();
    }

    @Override
    public long nanoTime() {
        return device.platform().nanoTime();
    }

    @Override
    public void close() {
        out.closeAll();
        pool.close();
        for (Stream stream : streams) {
            if (stream != null) {
                stream.close();
            }
        }
    }
}
