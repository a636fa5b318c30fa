// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.stream;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Stream;
import io.weft.api.VendorError;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * HIP's stream-ordered memory pool: hipMallocAsync, hipFreeAsync, hipMemPoolTrimTo and the attributes of a pool, by HIP's rules and over plain allocations.
 *
 * <ul>
 *   <li>A block that was freed on a stream is there for that stream at once. Another stream gets it by one of the {@link Reuse} policies, or not at all.
 *   <li>{@link #synchronize()} gives unused memory back above the release threshold; the threshold of a default pool is 0, so everything.
 *   <li>0 bytes succeed and give nothing. A failed allocation changes no counter.
 *   <li>A free on a stream that is not ordered after the block's use is what silently hands out memory that is still written (rocm-systems#10943). It is refused here.
 * </ul>
 *
 * <p>Order is seen through {@link #record} and {@link #waitFor}, which do what the stream's own methods do. Not for several threads at once.
 */
public final class HipMemoryPool implements AutoCloseable {
    /** When a freed block may serve another stream (hipMemPoolReuse*). */
    public enum Reuse {
        /** When the stream waits for an event that was recorded after the free. */
        FOLLOW_EVENT_DEPENDENCIES,
        /** When the free is complete already. */
        ALLOW_OPPORTUNISTIC,
        /** Always: the pool makes the stream wait for the free. */
        ALLOW_INTERNAL_DEPENDENCIES
    }

    /**
     * Bytes of a pool.
     *
     * @param reserved taken from the device
     * @param reservedHigh most of that
     * @param used handed out
     * @param usedHigh most of that
     */
    public record Usage(long reserved, long reservedHigh, long used, long usedHigh) {}

    private static final class Block {
        private final Buffer buffer;
        private final Event free;
        private Stream stream;
        private long point;

        Block(Buffer buffer, Event free) {
            this.buffer = buffer;
            this.free = free;
        }
    }

    private final Device device;
    private final StreamHistory history = new StreamHistory();
    private final Map<Buffer, Block> used = new HashMap<>();
    private final List<Block> unused = new ArrayList<>();
    private Set<Reuse> reuse = EnumSet.allOf(Reuse.class);
    private long releaseThreshold;
    private long reservedBytes;
    private long reservedHigh;
    private long usedBytes;
    private long usedHigh;

    /** A device's default pool: release threshold 0, all policies on. */
    public HipMemoryPool(Device device) {
        this.device = device;
    }

    /** Bytes that stay reserved at a synchronisation; HIP's default is 0. */
    public void releaseThreshold(long bytes) {
        releaseThreshold = bytes;
    }

    /** Which policies hold; all of them by default. */
    public void reuse(Set<Reuse> policies) {
        reuse = EnumSet.noneOf(Reuse.class);
        reuse.addAll(policies);
    }

    /** Its counters. */
    public Usage usage() {
        return new Usage(reservedBytes, reservedHigh, usedBytes, usedHigh);
    }

    /** Sets both high-water marks to what is now, as writing 0 to the attributes does. */
    public void resetHigh() {
        reservedHigh = reservedBytes;
        usedHigh = usedBytes;
    }

    /**
     * Allocates in the order of a stream.
     *
     * @return empty for 0 bytes; the caller frees it by {@link #free} and does not close it
     * @throws AcceleratorException OUT_OF_MEMORY, after everything unused was given back
     */
    public Optional<Buffer> allocate(long bytes, Stream stream) {
        if (bytes == 0) {
            return Optional.empty();
        }
        long rounded = rounded(bytes);
        Block block = reused(rounded, stream);
        if (block == null) {
            block = reserve(rounded);
        }
        block.stream = stream;
        block.point = history.tick(stream);
        used.put(block.buffer, block);
        usedBytes += block.buffer.bytes();
        usedHigh = Math.max(usedHigh, usedBytes);
        return Optional.of(block.buffer);
    }

    private long rounded(long bytes) {
        long alignment = device.properties().allocationAlignment();
        return (bytes + alignment - 1) & -alignment;
    }

    /** The smallest unused block that is large enough and that the stream may have. */
    private Block reused(long bytes, Stream stream) {
        unused.sort(Comparator.comparingLong(block -> block.buffer.bytes()));
        for (Block block : unused) {
            if (block.buffer.bytes() >= bytes && mayReuse(block, stream)) {
                unused.remove(block);
                return block;
            }
        }
        return null;
    }

    private boolean mayReuse(Block block, Stream stream) {
        if (stream == block.stream) {
            return true;
        }
        if (reuse.contains(Reuse.FOLLOW_EVENT_DEPENDENCIES) && history.isAfter(stream, block.stream, block.point)) {
            return true;
        }
        if (reuse.contains(Reuse.ALLOW_OPPORTUNISTIC) && block.free.query()) {
            return true;
        }
        if (reuse.contains(Reuse.ALLOW_INTERNAL_DEPENDENCIES)) {
            stream.waitFor(block.free);
            history.waited(stream, block.free);
            return true;
        }
        return false;
    }

    private Block reserve(long bytes) {
        Buffer buffer;
        try {
            buffer = device.allocate(bytes);
        } catch (AcceleratorException full) {
            if (full.code() != ErrorCode.OUT_OF_MEMORY || unused.isEmpty()) {
                throw full;
            }
            synchronizeAndTrim(0);
            buffer = device.allocate(bytes);
        }
        reservedBytes += buffer.bytes();
        reservedHigh = Math.max(reservedHigh, reservedBytes);
        return new Block(buffer, device.createEvent(EventOptions.untimed()));
    }

    /**
     * Frees in the order of a stream.
     *
     * @throws AcceleratorException INVALID_ARGUMENT for what this pool did not give or has back already; INVALID_STATE when the stream is not ordered after the one that the
     *     buffer was allocated on, so that the memory could be handed out while it is in use
     */
    public void free(Buffer buffer, Stream stream) {
        Block block = used.get(buffer);
        if (block == null) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_ARGUMENT,
                    "free",
                    "the buffer is not in use from this pool",
                    "",
                    new VendorError("HIP", 1, "hipErrorInvalidValue"),
                    null);
        }
        if (!history.isAfter(stream, block.stream, block.point)) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE,
                    "free",
                    "the stream of the free is not ordered after the stream that uses the buffer",
                    "record an event there and make this stream wait for it",
                    null,
                    null);
        }
        used.remove(buffer);
        usedBytes -= buffer.bytes();
        stream.record(block.free);
        block.stream = stream;
        block.point = history.recorded(block.free, stream);
        unused.add(block);
    }

    /** Records an event, as {@link Stream#record}. */
    public void record(Event event, Stream stream) {
        stream.record(event);
        history.recorded(event, stream);
    }

    /** Makes a stream wait for an event, as {@link Stream#waitFor}. */
    public void waitFor(Stream stream, Event event) {
        stream.waitFor(event);
        history.waited(stream, event);
    }

    /** Waits for the device; what is unused above the release threshold goes back to it. */
    public void synchronize() {
        synchronizeAndTrim(releaseThreshold);
    }

    /** Gives unused memory back until no more than this is reserved (hipMemPoolTrimTo); memory in use stays. */
    public void trimTo(long bytes) {
        trim(bytes);
    }

    private void synchronizeAndTrim(long bytes) {
        device.synchronize();
        trim(bytes);
    }

    private void trim(long keep) {
        unused.sort(
                Comparator.comparingLong((Block block) -> block.buffer.bytes()).reversed());
        for (int i = 0; i < unused.size() && reservedBytes > keep; ) {
            Block block = unused.get(i);
            if (block.free.query()) {
                unused.remove(i);
                reservedBytes -= block.buffer.bytes();
                block.free.close();
                block.buffer.close();
            } else {
                i++;
            }
        }
    }

    /** Waits for the device and gives everything back, also what is in use. */
    @Override
    public void close() {
        used.values().forEach(unused::add);
        used.clear();
        usedBytes = 0;
        device.synchronize();
        for (Block block : unused) {
            block.free.close();
            block.buffer.close();
        }
        unused.clear();
        reservedBytes = 0;
    }
}
