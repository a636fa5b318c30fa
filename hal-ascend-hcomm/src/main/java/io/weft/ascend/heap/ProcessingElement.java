// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.heap;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Stream;
import io.weft.memory.SymmetricHeap;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * One rank of a symmetric heap.
 *
 * <table>
 * <caption>What holds when a call returns</caption>
 * <tr><th>call</th><th>on return</th><th>complete at the peer</th></tr>
 * <tr><td>{@link #put}</td><td>the source may be used again</td><td>after {@link #quiet} or a signal</td></tr>
 * <tr><td>{@link #putAsync}</td><td>nothing: the source stays untouched until {@link #quiet}</td><td>after {@link #quiet}</td></tr>
 * <tr><td>{@link #get}</td><td>the destination holds the data</td><td>-</td></tr>
 * <tr><td>{@link #getAsync}</td><td>nothing: the destination is valid after {@link #quiet}</td><td>-</td></tr>
 * <tr><td>{@link #putSignal}</td><td>the source may be used again</td><td>when the signal is seen, the data is there</td></tr>
 * <tr><td>{@link #fence}</td><td colspan="2">puts before it come before puts after it, for every peer (as in the vendor's library it is {@link #quiet})</td></tr>
 * <tr><td>{@link #quiet}</td><td colspan="2">everything this rank has issued is complete everywhere</td></tr>
 * <tr><td>{@link #barrier}</td><td colspan="2">quiet on every rank, and every rank has come</td></tr>
 * <tr><td>{@link #sync}</td><td colspan="2">every rank has come; nothing about data</td></tr>
 * </table>
 *
 * <p>Used by one thread at a time.
 */
public final class ProcessingElement {
    /** The offset of an allocation of 0 bytes: nothing lies there, and nothing may be done with it. */
    public static final long NULL = -1;

    private final AscendHeap heap;
    private final int rank;
    private final SymmetricHeap.Rank collective;
    private final Stream stream;
    private final BitSet reached = new BitSet();
    private final BitSet signalled = new BitSet();
    private final Map<Long, Long> sizes = new HashMap<>();
    private boolean ended;

    ProcessingElement(AscendHeap heap, int rank, SymmetricHeap.Rank collective) {
        this.heap = heap;
        this.rank = rank;
        this.collective = collective;
        this.stream = collective.device().createStream();
    }

    /** Its number. */
    public int rank() {
        return rank;
    }

    /** Its device. */
    public Device device() {
        return collective.device();
    }

    /** The number of its last collective call. */
    public long round() {
        return collective.round();
    }

    // Collective calls.

    /** Collective. Memory at the same offset on every rank; {@link #NULL} for 0 bytes, after a barrier all the same. */
    public long allocate(long bytes) {
        if (bytes == 0) {
            collective.barrier();
            return NULL;
        }
        long offset = collective.allocate(bytes);
        sizes.put(offset, bytes);
        return offset;
    }

    /** Collective. Frees what {@link #allocate} gave; {@link #NULL} is allowed. */
    public void free(long offset) {
        if (offset == NULL) {
            collective.barrier();
            return;
        }
        quiet();
        collective.barrier(); // Nobody may still be writing there.
        Long bytes = sizes.remove(offset);
        if (bytes != null) {
            heap.board(rank).forget(offset, bytes);
        }
        collective.free(offset);
    }

    /** Collective. A window over a range of allocated memory; both multiples of 2 MB. */
    public SymmetricHeap.Window window(long offset, long bytes) {
        return collective.window(offset, bytes);
    }

    /** Collective. Everything issued by every rank is complete, and every rank has come. */
    public void barrier() {
        quiet();
        collective.barrier();
    }

    /** Collective. Every rank has come. */
    public void sync() {
        collective.barrier();
    }

    // Addresses.

    /** A buffer over this rank's bytes; closing it frees nothing. */
    public Buffer local(long offset, long bytes) {
        return heap.bytes(rank, rank, offset, bytes);
    }

    /** A buffer over a peer's bytes at the same offset; closing it frees nothing. The first use makes the peer's memory reachable, one way. */
    public Buffer peer(int peer, long offset, long bytes) {
        if (!reached.get(peer)) {
            heap.reach(rank, peer);
            reached.set(peer);
        }
        return heap.bytes(rank, peer, offset, bytes);
    }

    // Data.

    /** Writes into a peer's heap. On return the source may be used again. */
    public void put(int peer, long offset, BufferView source) {
        putAsync(peer, offset, source);
        stream.synchronize();
    }

    /** Writes into a peer's heap. The source must not change before {@link #quiet}. */
    public void putAsync(int peer, long offset, BufferView source) {
        requireSymmetricOrDevice(source);
        Buffer there = peer(peer, offset, source.bytes());
        stream.copy(BufferView.vector(there, 0, source.elements(), source.type()), source);
    }

    /** Reads from a peer's heap. On return the destination holds the data. */
    public void get(BufferView destination, int peer, long offset) {
        getAsync(destination, peer, offset);
        stream.synchronize();
    }

    /** Reads from a peer's heap. The destination holds the data after {@link #quiet}. */
    public void getAsync(BufferView destination, int peer, long offset) {
        requireSymmetricOrDevice(destination);
        Buffer there = peer(peer, offset, destination.bytes());
        stream.copy(destination, BufferView.vector(there, 0, destination.elements(), destination.type()));
    }

    private void requireSymmetricOrDevice(BufferView view) {
        if (view.memory() instanceof Buffer buffer && !buffer.device().equals(device())) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE,
                    "symmetric copy",
                    "the local side lies on device " + buffer.device().ordinal() + " and rank " + rank + " is device "
                            + device().ordinal());
        }
    }

    // Signals.

    /** Writes into a peer's heap, then changes a signal there; who sees the signal sees the data. On return the source may be used again. */
    public void putSignal(int peer, long offset, BufferView source, long signal, SignalOp op, long value) {
        putSignalAsync(peer, offset, source, signal, op, value);
        stream.synchronize();
    }

    /** As {@link #putSignal}; the source must not change before {@link #quiet}. */
    public void putSignalAsync(int peer, long offset, BufferView source, long signal, SignalOp op, long value) {
        putAsync(peer, offset, source);
        signal(peer, signal, op, value);
    }

    /** Changes a signal of a peer after everything that this rank has put before. */
    public void signal(int peer, long signal, SignalOp op, long value) {
        Buffer word = peer(peer, signal, SignalBoard.BYTES);
        try (Event data = device().createEvent(EventOptions.untimed())) {
            stream.record(data);
            heap.board(peer).update(signal, word, op, value, data);
        }
        signalled.set(peer);
    }

    /** The value of one of this rank's signals now. */
    public long signalValue(long signal) {
        return heap.board(rank).value(signal);
    }

    /** Waits on the host for one of this rank's signals; gives the value that it had then. */
    public long waitUntil(long signal, Compare compare, long value) {
        return heap.board(rank).await(signal, compare, value, rank, heap.timeout());
    }

    /** Makes a stream of this rank's device wait for one of this rank's signals. */
    public void waitUntilOnStream(Stream waiting, long signal, Compare compare, long value) {
        heap.board(rank).awaitOnStream(waiting, signal, compare, value, rank, heap.timeout());
    }

    // Order.

    /** What this rank has put before comes before what it puts afterwards, at every peer. */
    public void fence() {
        quiet();
    }

    /** Waits until everything that this rank has issued is complete everywhere. */
    public void quiet() {
        stream.synchronize();
        for (int peer = signalled.nextSetBit(0); peer >= 0; peer = signalled.nextSetBit(peer + 1)) {
            heap.board(peer).quiet();
        }
        signalled.clear();
    }

    /** Says that this rank is gone, so that nobody waits for it. */
    public void leave(String reason) {
        collective.leave(reason);
    }

    void end() {
        if (!ended) {
            ended = true;
            stream.close();
        }
    }
}
