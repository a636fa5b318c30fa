// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

/**
 * What a platform declares it can do beyond the core (allocate, copy, fill, GEMM, streams, events). A declared capability works; an
 * undeclared one is refused with {@link ErrorCode#UNSUPPORTED}.
 */
public enum Capability {
    /** Buffers hold data. A platform without it only keeps time: reads and writes of buffers are refused. */
    STORAGE,
    /** {@link Communicator}s. */
    COLLECTIVES,
    /** {@link CommunicatorOptions}, communicators that do not block, and {@link Communicator#finish()}. */
    COMMUNICATOR_OPTIONS,
    /** Equal offsets on every rank; {@code io.weft.spi.SymmetricMemoryDriver}. */
    SYMMETRIC_MEMORY,
    /** Reserve, map and unmap; {@code io.weft.spi.VirtualMemoryDriver}. */
    VIRTUAL_MEMORY,
    /** A whole command graph as one launch; {@code io.weft.spi.GraphDriver}. */
    DEVICE_GRAPHS,
    /** Predicts time; {@code io.weft.spi.PerformanceModel}. */
    PERFORMANCE_MODEL,
    /** Streams of different priority really differ. */
    STREAM_PRIORITIES,
    /** One device can copy to and from another. */
    PEER_COPY,
    /** One device's kernels can load and store in another's memory. */
    PEER_ACCESS,
    /** Copies run on engines of their own, beside compute. */
    COPY_ENGINES,
    /** Events carry time stamps. */
    EVENT_TIMING,
    /** Failures on demand, for tests; {@code io.weft.spi.FaultDriver}. */
    FAULT_INJECTION
}
