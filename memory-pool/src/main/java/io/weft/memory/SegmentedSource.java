// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.ErrorCode;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongFunction;

/** Memory in allocations of a driver. */
final class SegmentedSource implements SegmentSource {
    private final LongFunction<Buffer> allocation;
    /** By offset. Replaced as a whole, since buffers are made while another thread grows the pool. */
    private volatile TreeMap<Long, Buffer> segments = new TreeMap<>();

    private volatile AcceleratorException refusal;

    /**
     * @param allocation gives so many bytes, or throws OUT_OF_MEMORY
     */
    SegmentedSource(LongFunction<Buffer> allocation) {
        this.allocation = allocation;
    }

    @Override
    public Optional<AcceleratorException> refusal() {
        return Optional.ofNullable(refusal);
    }

    @Override
    public long stepBytes() {
        return PoolOptions.SEGMENT_STEP;
    }

    @Override
    public boolean contiguous() {
        return false;
    }

    @Override
    public long rangeBytes() {
        return 1L << 44;
    }

    @Override
    public boolean obtain(long offset, long bytes) {
        Buffer segment;
        try {
            segment = allocation.apply(bytes);
        } catch (AcceleratorException refused) {
            if (refused.code() == ErrorCode.OUT_OF_MEMORY) {
                refusal = refused;
                return false;
            }
            throw refused;
        }
        TreeMap<Long, Buffer> more = new TreeMap<>(segments);
        more.put(offset, segment);
        segments = more;
        return true;
    }

    @Override
    public void giveBack(long offset, long bytes) {
        TreeMap<Long, Buffer> fewer = new TreeMap<>(segments);
        Buffer segment = fewer.remove(offset);
        if (segment == null || segment.bytes() != bytes) {
            throw new AcceleratorException(
                    ErrorCode.INTERNAL, "give back", "no segment of " + bytes + " bytes at pool offset " + offset);
        }
        segments = fewer;
        segment.close();
    }

    @Override
    public Buffer buffer(long offset, long bytes, Buffer.Owner owner) {
        Map.Entry<Long, Buffer> entry = segments.floorEntry(offset);
        return entry.getValue().suballocate(offset - entry.getKey(), bytes, owner);
    }

    @Override
    public void close() {
        TreeMap<Long, Buffer> all = segments;
        segments = new TreeMap<>();
        all.values().forEach(Buffer::close);
    }
}
