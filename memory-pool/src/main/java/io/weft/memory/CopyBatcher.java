// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.MemoryKind;
import io.weft.api.Stream;
import java.lang.foreign.MemorySegment;

/**
 * Packs many small copies from the host to one device into one staged transfer: the pieces are gathered in pinned memory, cross the host's link together, and are
 * spread by copies on the device, where a copy costs a fraction of a crossing. Pieces for adjacent bytes become one. Everything is in the order of one stream.
 *
 * <p>Used by one thread at a time. Two batches are in flight at most: gathering the third waits for the first.
 */
public final class CopyBatcher implements AutoCloseable {
    /** Pieces from this size on gain nothing by being packed and are refused. */
    public static final int MOST_PIECE_BYTES = 4096;

    private static final int PIECE_ALIGNMENT = 16;
    private static final int BUFFERS = 2;

    private final Stream stream;
    private final int capacity;
    private final Buffer[] host = new Buffer[BUFFERS];
    private final Buffer[] stage = new Buffer[BUFFERS];
    private final Event[] done = new Event[BUFFERS];
    private final Buffer[] targets;
    private final long[] targetOffsets;
    private final int[] lengths;
    private final int[] positions;
    private int pieces;
    private int filled;
    private int current;
    private long transfers;
    private long copies;

    /**
     * @param stream in whose order everything happens
     * @param batchBytes bytes of one transfer, 4096 or more
     */
    public CopyBatcher(Stream stream, int batchBytes) {
        if (batchBytes < MOST_PIECE_BYTES) {
            throw AcceleratorException.invalid(
                    "copy batcher", "a batch of " + batchBytes + " bytes is smaller than " + MOST_PIECE_BYTES);
        }
        Device device = stream.device();
        this.stream = stream;
        this.capacity = batchBytes;
        for (int i = 0; i < BUFFERS; i++) {
            host[i] = device.allocate(MemoryKind.HOST_PINNED, batchBytes);
            stage[i] = device.allocate(batchBytes);
            done[i] = device.createEvent(EventOptions.untimed());
        }
        int most = batchBytes / PIECE_ALIGNMENT;
        targets = new Buffer[most];
        targetOffsets = new long[most];
        lengths = new int[most];
        positions = new int[most];
    }

    /**
     * Adds a piece. The source may be used again at once; the destination has the bytes after {@link #flush}, in stream order.
     *
     * @param offset bytes from the start of the destination
     * @param source fewer than 4096 bytes
     */
    public void add(Buffer destination, long offset, MemorySegment source) {
        int bytes = (int) Math.min(source.byteSize(), MOST_PIECE_BYTES);
        if (bytes == 0 || bytes >= MOST_PIECE_BYTES) {
            throw AcceleratorException.invalid(
                    "copy batcher",
                    "a piece of " + source.byteSize() + " bytes is not in 1.." + (MOST_PIECE_BYTES - 1));
        }
        destination.requireOpen("copy batcher");
        if (offset < 0 || offset + bytes > destination.bytes()) {
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_BOUNDS,
                    "copy batcher",
                    bytes + " bytes at " + offset + " do not fit a buffer of " + destination.bytes() + " bytes");
        }
        boolean follows = pieces > 0
                && destination.equals(targets[pieces - 1])
                && offset == targetOffsets[pieces - 1] + lengths[pieces - 1]
                && filled == positions[pieces - 1] + lengths[pieces - 1];
        int at = follows ? filled : (filled + PIECE_ALIGNMENT - 1) & -PIECE_ALIGNMENT;
        if (at + bytes > capacity || (!follows && pieces == targets.length)) {
            flush();
            follows = false;
            at = 0;
        }
        if (filled == 0) {
            // The buffer's last transfer must be over before the host writes to it.
            done[current].synchronize();
        }
        MemorySegment.copy(source, 0, host[current].segment(), at, bytes);
        filled = at + bytes;
        copies++;
        if (follows) {
            lengths[pieces - 1] += bytes;
            return;
        }
        targets[pieces] = destination;
        targetOffsets[pieces] = offset;
        positions[pieces] = at;
        lengths[pieces++] = bytes;
    }

    /** Issues what was added. */
    public void flush() {
        if (pieces == 0) {
            return;
        }
        Buffer from = stage[current];
        stream.copy(from.vector(filled, ElementType.INT8), host[current].vector(filled, ElementType.INT8));
        for (int i = 0; i < pieces; i++) {
            stream.copy(
                    BufferView.vector(targets[i], targetOffsets[i], lengths[i], ElementType.INT8),
                    BufferView.vector(from, positions[i], lengths[i], ElementType.INT8));
            targets[i] = null;
        }
        stream.record(done[current]);
        transfers++;
        pieces = 0;
        filled = 0;
        current = (current + 1) % BUFFERS;
    }

    /** Transfers over the host's link so far. */
    public long transfers() {
        return transfers;
    }

    /** Pieces added so far. */
    public long copies() {
        return copies;
    }

    /** Issues what was added, waits for it, and hands the staging memory back. */
    @Override
    public void close() {
        flush();
        for (int i = 0; i < BUFFERS; i++) {
            done[i].synchronize();
            done[i].close();
            host[i].close();
            stage[i].close();
        }
    }
}
