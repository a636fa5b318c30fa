// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Stream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Memory of one device in stream order: allocate and free are ordered like work on their stream. What was freed on a stream is reusable on that stream at once,
 * and on any other only once the freeing stream has passed that point.
 *
 * <p>Closing a buffer frees it on the stream it was allocated on; {@link #free} names another one, and {@link #recordUse} tells of a use on another one. Safe for
 * any thread. The pool is closed before its platform.
 */
public final class DevicePool implements AutoCloseable {
    private static final PoolStatistics.Tier NO_TIER = new PoolStatistics.Tier(0, 0);

    private final Device device;
    private final SegmentSource source;
    private final PoolOptions options;
    private final TreeMap<Long, Block> blocks = new TreeMap<>();
    private final Map<Long, Block> live = new HashMap<>();
    private final ArrayDeque<Event> spareEvents = new ArrayDeque<>();
    private long top;
    private long allocations;
    private long frees;
    private long allocated;
    private long peakAllocated;
    private long used;
    private long reserved;
    private long peakReserved;
    private long deviceAllocations;
    private long deviceFrees;
    private long eventsRecorded;
    private long retries;
    private long refusals;
    private boolean closed;

    private DevicePool(Device device, SegmentSource source, PoolOptions options) {
        this.device = device;
        this.source = source;
        this.options = options;
    }

    private static final class Block {
        final long offset;
        final long segment;
        final long segmentBytes;
        long bytes;
        long asked;
        boolean free = true;
        Stream stream;
        final List<Event> pending = new ArrayList<>();
        final List<Stream> uses = new ArrayList<>();

        Block(long offset, long segment, long segmentBytes, long bytes) {
            this.offset = offset;
            this.segment = segment;
            this.segmentBytes = segmentBytes;
            this.bytes = bytes;
        }
    }

    /** A pool of the device's own memory in segments. */
    public static DevicePool open(Device device, PoolOptions options) {
        return open(device, SegmentSource.device(device), options);
    }

    /** A pool over a source, which it owns from now on. */
    public static DevicePool open(Device device, SegmentSource source, PoolOptions options) {
        return new DevicePool(
                Objects.requireNonNull(device), Objects.requireNonNull(source), Objects.requireNonNull(options));
    }

    /** Its device. */
    public Device device() {
        return device;
    }

    /** How it behaves. */
    public PoolOptions options() {
        return options;
    }

    /**
     * Memory for use on a stream, not zeroed.
     *
     * @param bytes 1 or more
     * @throws AcceleratorException {@link ErrorCode#OUT_OF_MEMORY} with the largest holders; {@link ErrorCode#INVALID_ARGUMENT}; {@link ErrorCode#WRONG_DEVICE}
     */
    public Buffer allocate(long bytes, Stream stream) {
        PoolResult result = tryAllocate(bytes, stream);
        if (result.isAllocated()) {
            return result.buffer();
        }
        PoolStatistics now = statistics();
        throw new AcceleratorException(
                ErrorCode.OUT_OF_MEMORY,
                "allocate",
                "pool " + options.name() + " of " + device + " cannot give " + bytes + " bytes ("
                        + (result.code() == PoolResult.Code.LIMIT_REACHED
                                ? "its limit is " + options.hardLimit() + " bytes"
                                : "the device has no more")
                        + "): " + now.allocatedBytes() + " bytes in " + now.liveBuffers() + " buffers are out, "
                        + now.reservedBytes() + " reserved",
                "free buffers or raise the limit",
                null,
                null);
    }

    /** The same with a result code instead of an exception where memory is exhausted. */
    public synchronized PoolResult tryAllocate(long bytes, Stream stream) {
        requireOpen("allocate");
        if (bytes < 1) {
            throw AcceleratorException.invalid("allocate", "size must be at least 1 byte, not " + bytes);
        }
        requireDevice("allocate", stream);
        long size = roundUp(bytes, Math.max(512, options.alignment()));
        Block block = find(size, stream);
        if (block == null) {
            PoolResult refusal = grow(size);
            block = find(size, stream);
            if (block == null && refusal != null) {
                device.synchronize();
                trim();
                PoolResult again = grow(size);
                block = find(size, stream);
                if (block == null) {
                    refusals++;
                    return again == null ? refusal : again;
                }
                retries++;
            }
        }
        block.free = false;
        block.asked = bytes;
        block.stream = stream;
        block.pending.forEach(spareEvents::add);
        block.pending.clear();
        if (block.bytes > size) {
            Block rest = new Block(block.offset + size, block.segment, block.segmentBytes, block.bytes - size);
            block.bytes = size;
            blocks.put(rest.offset, rest);
        }
        live.put(block.offset, block);
        allocations++;
        allocated += bytes;
        used += size;
        peakAllocated = Math.max(peakAllocated, allocated);
        return PoolResult.of(source.buffer(block.offset, bytes, new PooledBlock(this, block.offset, stream)));
    }

    /**
     * Frees a buffer in the order of a stream, and closes it.
     *
     * @throws AcceleratorException {@link ErrorCode#CLOSED} for a double free, {@link ErrorCode#INVALID_ARGUMENT} for a buffer that is not this pool's
     */
    public void free(Buffer buffer, Stream stream) {
        requireDevice("free", stream);
        PooledBlock block = own("free", buffer);
        if (!buffer.isClosed()) {
            block.freeing = stream;
        }
        buffer.close();
    }

    /** Tells that work issued to another stream uses a buffer: its memory is not reused before that work is done, too. */
    public synchronized void recordUse(Buffer buffer, Stream stream) {
        requireOpen("record use");
        buffer.requireOpen("record use");
        Block block = live.get(own("record use", buffer).address);
        if (stream != block.stream && !block.uses.contains(stream)) {
            block.uses.add(stream);
        }
    }

    /** Tells that an iteration (a training step, a request batch) has ended; idle memory is judged by it. */
    public synchronized void nextIteration() {
        requireOpen("next iteration");
    }

    /**
     * Hands idle segments back to the device.
     *
     * @return bytes handed back
     */
    public synchronized long trim() {
        requireOpen("trim");
        long before = reserved;
        for (Block block : List.copyOf(blocks.values())) {
            if (block.free && done(block) && block.bytes == block.segmentBytes) {
                blocks.remove(block.offset);
                source.giveBack(block.segment, block.segmentBytes);
                reserved -= block.segmentBytes;
                deviceFrees++;
            }
        }
        return before - reserved;
    }

    /** Figures now. */
    public synchronized PoolStatistics statistics() {
        return new PoolStatistics(
                allocations,
                frees,
                live.size(),
                allocated,
                peakAllocated,
                used,
                reserved,
                peakReserved,
                deviceAllocations,
                deviceFrees,
                eventsRecorded,
                0,
                0,
                retries,
                refusals,
                NO_TIER,
                NO_TIER,
                NO_TIER,
                0,
                0,
                0);
    }

    /**
     * Waits for the device and hands everything back.
     *
     * @throws AcceleratorException {@link ErrorCode#INVALID_STATE} naming buffers that are still out; the memory is handed back all the same
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        device.synchronize();
        spareEvents.forEach(Event::close);
        blocks.values().forEach(block -> block.pending.forEach(Event::close));
        source.close();
        if (!live.isEmpty()) {
            StringBuilder names = new StringBuilder();
            live.values().stream()
                    .sorted((a, b) -> Long.compare(b.asked, a.asked))
                    .limit(5)
                    .forEach(block -> names.append(names.isEmpty() ? "" : ", ")
                            .append(block.asked)
                            .append(" bytes at pool offset ")
                            .append(block.offset));
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE,
                    "close",
                    "pool " + options.name() + " of " + device + " was closed with " + live.size()
                            + " buffers still out (leak): " + names);
        }
    }

    synchronized void release(PooledBlock ticket, Stream stream) {
        if (closed) {
            return;
        }
        Block block = live.remove(ticket.address);
        block.free = true;
        frees++;
        allocated -= block.asked;
        used -= block.bytes;
        block.pending.add(record(stream));
        for (Stream user : block.uses) {
            if (user != stream) {
                block.pending.add(record(user));
            }
        }
        if (stream != block.stream) {
            block.uses.add(block.stream);
            block.pending.add(record(block.stream));
        }
        block.stream = block.uses.isEmpty() ? stream : null;
        block.uses.clear();
        merge();
    }

    private Event record(Stream stream) {
        Event event = spareEvents.isEmpty() ? device.createEvent(EventOptions.untimed()) : spareEvents.poll();
        eventsRecorded++;
        stream.record(event);
        return event;
    }

    private Block find(long size, Stream stream) {
        Block best = null;
        for (Block block : blocks.values()) {
            if (block.free
                    && block.bytes >= size
                    && (best == null || block.bytes < best.bytes)
                    && (block.stream == stream || done(block))) {
                best = block;
            }
        }
        return best;
    }

    private boolean done(Block block) {
        for (Event event : block.pending) {
            if (!event.query()) {
                return false;
            }
        }
        spareEvents.addAll(block.pending);
        block.pending.clear();
        return true;
    }

    private void merge() {
        Block left = null;
        for (Block block : List.copyOf(blocks.values())) {
            if (left != null
                    && left.free
                    && block.free
                    && left.segment == block.segment
                    && left.offset + left.bytes == block.offset
                    && done(left)
                    && done(block)) {
                left.bytes += block.bytes;
                blocks.remove(block.offset);
            } else {
                left = block;
            }
        }
    }

    private PoolResult grow(long size) {
        long bytes = roundUp(Math.max(size, options.segmentBytes()), source.stepBytes());
        if (reserved + bytes > options.hardLimit()) {
            bytes = roundUp(size, source.stepBytes());
        }
        if (reserved + bytes > options.hardLimit()) {
            return PoolResult.LIMIT_REACHED;
        }
        if (!source.obtain(top, bytes)) {
            return PoolResult.DEVICE_EXHAUSTED;
        }
        deviceAllocations++;
        blocks.put(top, new Block(top, top, bytes, bytes));
        top += bytes;
        reserved += bytes;
        peakReserved = Math.max(peakReserved, reserved);
        return null;
    }

    private PooledBlock own(String operation, Buffer buffer) {
        if (buffer.owner() instanceof PooledBlock block && block.pool == this) {
            return block;
        }
        throw AcceleratorException.invalid(
                operation, buffer + " does not belong to pool " + options.name() + " of " + device + " (foreign free)");
    }

    private void requireDevice(String operation, Stream stream) {
        if (stream.device() != device) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE,
                    operation,
                    "the stream belongs to " + stream.device() + " and pool " + options.name() + " to " + device);
        }
    }

    private void requireOpen(String operation) {
        if (closed) {
            throw new AcceleratorException(
                    ErrorCode.CLOSED, operation, "pool " + options.name() + " of " + device + " was closed before");
        }
    }

    private static long roundUp(long value, long unit) {
        return (value + unit - 1) / unit * unit;
    }
}
