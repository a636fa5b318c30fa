// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

import io.weft.api.AcceleratorException;
import java.util.Optional;

/**
 * A vendor's runtime as every platform needs it: devices, memory, copies, streams and events. Handles and addresses are numbers; 0 is none. Functions act on the calling thread's current device where they say so; the shared layer makes
 * it current before. Failures are {@link AcceleratorException}s unless a code is returned. Safe for any thread.
 *
 * <p>A vendor whose runtime differs (inverted states, other argument orders, seconds for milliseconds, contexts for devices) puts that straight here; nobody above knows.
 */
public interface DeviceRuntime {
    // Devices.

    /** Makes a device the calling thread's current one. Ordinals are the runtime's. */
    void device(int ordinal);

    /** Makes what the current device needs before its first use, such as a context; called once for each device. */
    void prepareDevice();

    /** The numbers of the lowest and the highest priority of a stream on the current device; the higher priority has the lower number. Both equal when there is one. */
    int[] priorities();

    /** Whether a device's kernels can be let into a peer's memory. */
    boolean canAccess(int ordinal, int peer);

    /** Lets the current device into a peer's memory; that it is let in already is no error. */
    void enablePeerAccess(int peer);

    // Memory.

    /** Memory of the current device. */
    long allocate(long bytes);

    /** Gives device memory back. Work in flight may still use it only if the vendor's own function waits for it. */
    void free(long address);

    /** Pinned host memory that every device can reach. */
    long allocateHost(long bytes);

    /** Gives pinned host memory back. */
    void freeHost(long address);

    /** Free and total bytes of the current device. */
    long[] memoryInfo();

    /** Pools in stream order; empty where the library has none. */
    Optional<MemoryPools> pools();

    // Data in stream order.

    /**
     * Copies a contiguous range. May be captured.
     *
     * @param engine whether the caller asks for a copy engine; otherwise the runtime chooses
     */
    void copy(long destination, long source, long bytes, Route route, boolean engine, long stream);

    /** Copies a rectangle; pitches and width are bytes. May be captured. */
    void copy2d(
            long destination,
            long destinationPitch,
            long source,
            long sourcePitch,
            long width,
            long rows,
            Route route,
            boolean engine,
            long stream);

    /** The longest pitch of {@link #copy2d}, bytes. */
    long maxPitch();

    /**
     * Sets elements of 1, 2 or 4 bytes.
     *
     * @param pitch bytes from row to row
     * @param columns elements of each row
     */
    void fill(long address, long pitch, int bits, int elementBytes, long columns, long rows, long stream);

    // Streams. The codes are the runtime's own: 0 for success, else for isNotReady and failure.

    /** The default stream of the current device, which joins blocking streams; needs no releasing. */
    long defaultStream();

    /** A stream of the current device. */
    long createStream(boolean blocking, int priority);

    /** Releases a stream when its work is complete; returns at once. */
    void destroyStream(long stream);

    /** Waits for a stream. The code of the failure, 0 for none. */
    int synchronizeStream(long stream);

    /** Whether a stream's work is complete: 0 yes, {@link #isNotReady(int)} no, else the code of its failure. */
    int queryStream(long stream);

    /** Makes later work of a stream wait for an event's last record; an event that was never recorded holds nothing up. */
    void waitEvent(long stream, long event);

    /** Whether a code says that work is still going on. */
    boolean isNotReady(int code);

    /** The exception for a code of the functions that return one. Takes pending errors away. */
    AcceleratorException failure(String operation, int code);

    // Events.

    /** An event of the current device. */
    long createEvent(boolean timing);

    /** Releases an event. */
    void destroyEvent(long event);

    /** Records an event after a stream's work so far. */
    void record(long event, long stream);

    /** Whether an event's record is complete: 0 yes, {@link #isNotReady(int)} no, else a code. */
    int queryEvent(long event);

    /** Waits for an event's record. The code of the failure, 0 for none. */
    int synchronizeEvent(long event);

    /** Whether events carry time stamps. */
    boolean hasTiming();

    /** Milliseconds from one complete record to another on the same device. */
    float elapsedMillis(long start, long end);

    // Graphs.

    /** Capture of streams into graphs; empty where the library has none. */
    Optional<GraphCapture> graphs();
}
