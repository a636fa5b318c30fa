// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Capability;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.spi.DeviceMemory;
import io.weft.spi.SymmetricMemoryDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Equal memory on every rank, handed out so that the same offset names corresponding bytes on each: a peer's address is its base plus the offset, though virtual
 * addresses may differ.
 *
 * <p>{@link Rank#allocate}, {@link Rank#free}, {@link Rank#window} and {@link Rank#barrier} are collective: every rank makes the same calls in the same order. Each
 * has a round number. Ranks that disagree in kind or arguments, lag beyond the timeout, or are gone get every rank an error which names the round and the rank;
 * nobody hangs, and the heap refuses further calls, since its ranks are no longer in step.
 *
 * <p>Each rank is used by one thread at a time; ranks may be threads of this process, as {@link #open} makes them, or be elsewhere behind a {@link
 * SymmetricExchange}.
 */
public final class SymmetricHeap implements AutoCloseable {
    private static final long ALLOCATE = 1;
    private static final long FREE = 2;
    private static final long WINDOW = 3;
    private static final long BARRIER = 4;
    /** Bytes to which every block is aligned at least. */
    public static final long MIN_ALIGNMENT = 512;

    private final List<Device> devices;
    private final List<Buffer> bases;
    private final long bytes;
    private final long windowAlignment;
    private final SymmetricExchange exchange;
    private final List<Rank> ranks = new ArrayList<>();

    private SymmetricHeap(List<Device> devices, long bytes, long windowAlignment, Supplier<Duration> timeout) {
        Device first = devices.getFirst();
        SymmetricMemoryDriver driver = first.platform()
                .extension(SymmetricMemoryDriver.class)
                .orElseThrow(() -> AcceleratorException.unsupported(
                        "symmetric heap",
                        Capability.SYMMETRIC_MEMORY,
                        first.platform().toString()));
        this.devices = List.copyOf(devices);
        this.windowAlignment = Math.max(windowAlignment, driver.windowAlignment());
        if (bytes < 1 || bytes % this.windowAlignment != 0) {
            throw new AcceleratorException(
                    ErrorCode.MISALIGNED,
                    "symmetric heap",
                    "size " + bytes + " must be a positive multiple of " + this.windowAlignment
                            + " bytes, the alignment of windows");
        }
        this.bytes = bytes;
        List<? extends DeviceMemory> memory =
                driver.reserve(devices.stream().map(Device::driver).toList(), bytes);
        this.bases = new ArrayList<>();
        for (int rank = 0; rank < devices.size(); rank++) {
            DeviceMemory own = memory.get(rank);
            Device device = devices.get(rank);
            bases.add(device.adopt(own, buffer -> device.driver().free(own)));
        }
        this.exchange = new LocalExchange(devices.size(), timeout);
        for (int rank = 0; rank < devices.size(); rank++) {
            ranks.add(new Rank(rank));
        }
    }

    /**
     * Reserves a heap whose ranks are threads of this process, rank {@code i} on {@code devices.get(i)}.
     *
     * @param bytes of each rank, a multiple of the window alignment
     * @param timeout how long a rank waits for the others in one round, in real time
     * @throws AcceleratorException {@link ErrorCode#UNSUPPORTED}, {@link ErrorCode#OUT_OF_MEMORY}, {@link ErrorCode#MISALIGNED}
     */
    public static SymmetricHeap open(List<Device> devices, long bytes, Duration timeout) {
        return open(devices, bytes, 1, timeout);
    }

    /**
     * The same with a window alignment of its own.
     *
     * @param windowAlignment a power of two; the backend's own is taken when it is greater
     */
    public static SymmetricHeap open(List<Device> devices, long bytes, long windowAlignment, Duration timeout) {
        if (devices.isEmpty()) {
            throw AcceleratorException.invalid("symmetric heap", "there must be at least one rank");
        }
        if (windowAlignment < 1 || Long.bitCount(windowAlignment) != 1) {
            throw AcceleratorException.invalid(
                    "symmetric heap", "window alignment " + windowAlignment + " must be a power of two");
        }
        return new SymmetricHeap(devices, bytes, windowAlignment, () -> timeout);
    }

    /** The same with a time limit that may change, asked for at the start of each rank's wait. */
    static SymmetricHeap open(List<Device> devices, long bytes, Supplier<Duration> timeout) {
        return new SymmetricHeap(devices, bytes, 1, timeout);
    }

    /** One rank's side, used by one thread at a time. */
    public Rank rank(int rank) {
        return ranks.get(rank);
    }

    /** Bytes of each rank. */
    public long bytes() {
        return bytes;
    }

    /** Bytes to which windows are aligned. */
    public long windowAlignment() {
        return windowAlignment;
    }

    /**
     * A part of the heap that the fabric has registered.
     *
     * @param offset bytes from the heap's start on every rank
     * @param bytes its length
     */
    public record Window(long offset, long bytes) {}

    /** The heap as one rank sees it. */
    public final class Rank {
        private final int number;
        private final OffsetAllocator offsets = new OffsetAllocator(bytes);
        private long round;

        private Rank(int number) {
            this.number = number;
        }

        /** Its number. */
        public int number() {
            return number;
        }

        /** Its device. */
        public Device device() {
            return devices.get(number);
        }

        /** The number of its last collective call, 0 before the first. */
        public long round() {
            return round;
        }

        /** Collective. Memory at the same offset on every rank, aligned to 512 bytes. */
        public long allocate(long size) {
            return allocate(size, MIN_ALIGNMENT);
        }

        /**
         * Collective. Memory at the same offset on every rank.
         *
         * @param size bytes, 1 or more
         * @param alignment a power of two
         * @return the offset
         * @throws AcceleratorException {@link ErrorCode#OUT_OF_MEMORY} on every rank alike; {@link ErrorCode#COLLECTIVE_MISMATCH}, {@link ErrorCode#TIMEOUT},
         *     {@link ErrorCode#ABORTED}
         */
        public long allocate(long size, long alignment) {
            if (size < 1 || alignment < 1 || Long.bitCount(alignment) != 1) {
                throw AcceleratorException.invalid(
                        "symmetric allocate",
                        "size " + size + " must be positive and alignment " + alignment + " a power of two");
            }
            agree(ALLOCATE, size, alignment);
            long offset = offsets.allocate(size, Math.max(alignment, MIN_ALIGNMENT));
            if (offset < 0) {
                throw new AcceleratorException(
                        ErrorCode.OUT_OF_MEMORY,
                        "symmetric allocate",
                        size + " bytes do not fit a heap of " + bytes + " bytes, whose largest gap is "
                                + offsets.largestFree() + " (round " + round + ")");
            }
            return offset;
        }

        /** Collective. Frees what {@link #allocate} gave. */
        public void free(long offset) {
            agree(FREE, offset, 0);
            if (!offsets.free(offset)) {
                throw AcceleratorException.invalid(
                        "symmetric free", "nothing is allocated at offset " + offset + " (round " + round + ")");
            }
        }

        /**
         * Collective. A window over allocated memory.
         *
         * @param offset a multiple of {@link SymmetricHeap#windowAlignment()}
         * @param length bytes, a multiple of it, too
         */
        public Window window(long offset, long length) {
            agree(WINDOW, offset, length);
            if (offset % windowAlignment != 0 || length % windowAlignment != 0 || length < 1) {
                throw new AcceleratorException(
                        ErrorCode.MISALIGNED,
                        "symmetric window",
                        "offset " + offset + " and length " + length + " must be multiples of " + windowAlignment
                                + " bytes");
            }
            if (!offsets.contains(offset, length)) {
                throw new AcceleratorException(
                        ErrorCode.OUT_OF_BOUNDS,
                        "symmetric window",
                        length + " bytes at offset " + offset + " do not lie in one allocation");
            }
            return new Window(offset, length);
        }

        /** Collective. Returns when every rank has come. */
        public void barrier() {
            agree(BARRIER, 0, 0);
        }

        /** Bytes to which windows are aligned. */
        long windowAlignment() {
            return windowAlignment;
        }

        /** A buffer over this rank's own bytes; closing it frees nothing. */
        public Buffer local(long offset, long length) {
            return peer(number, offset, length);
        }

        /**
         * Where a buffer lies in the heap: what {@link #peer} takes to reach the same bytes of another rank.
         *
         * @param buffer of this rank's part of the heap, from {@link #local} or from a pool over it
         * @throws AcceleratorException {@link ErrorCode#INVALID_ARGUMENT} for other memory
         */
        public long offsetOf(Buffer buffer) {
            if (!buffer.memory().equals(bases.get(number).memory())) {
                throw AcceleratorException.invalid(
                        "symmetric offset", buffer + " does not lie in the symmetric heap of rank " + number);
            }
            return buffer.base();
        }

        /** A buffer over another rank's bytes at the same offset; closing it frees nothing. */
        public Buffer peer(int rank, long offset, long length) {
            if (rank < 0 || rank >= bases.size()) {
                throw new AcceleratorException(
                        ErrorCode.NOT_FOUND,
                        "symmetric peer",
                        "rank " + rank + " does not exist; ranks are 0.." + (bases.size() - 1));
            }
            if (!offsets.contains(offset, length)) {
                throw new AcceleratorException(
                        ErrorCode.OUT_OF_BOUNDS,
                        "symmetric peer",
                        length + " bytes at offset " + offset + " do not lie in one allocation");
            }
            return bases.get(rank).suballocate(offset, length, unowned -> {});
        }

        /** Says that this rank is gone; the others' collective calls fail at once instead of after the timeout. */
        public void leave(String reason) {
            exchange.leave(number, reason);
        }

        private void agree(long kind, long first, long second) {
            round++;
            long[] own = {kind, first, second, bytes};
            long[][] all = exchange.exchange(number, round, own);
            // Every rank compares with rank 0, so every rank says the same.
            for (int rank = 1; rank < all.length; rank++) {
                if (!java.util.Arrays.equals(all[rank], all[0])) {
                    String difference = "round " + round + ": rank " + rank + " calls " + describe(all[rank])
                            + ", rank 0 calls " + describe(all[0]);
                    exchange.leave(rank, "it disagreed in round " + round);
                    throw new AcceleratorException(
                            ErrorCode.COLLECTIVE_MISMATCH,
                            "symmetric heap",
                            difference,
                            "every rank makes the same calls in the same order",
                            null,
                            null);
                }
            }
        }

        private String describe(long[] call) {
            return switch ((int) call[0]) {
                case (int) ALLOCATE -> "allocate(" + call[1] + " bytes, alignment " + call[2] + ")";
                case (int) FREE -> "free(offset " + call[1] + ")";
                case (int) WINDOW -> "window(offset " + call[1] + ", " + call[2] + " bytes)";
                default -> "barrier()";
            };
        }
    }

    /**
     * Hands the memory back. Not collective: the ranks are in one process.
     *
     * @throws AcceleratorException {@link ErrorCode#INVALID_STATE} when blocks are still allocated; the memory is handed back all the same
     */
    @Override
    public void close() {
        bases.forEach(Buffer::close);
        long left = ranks.getFirst().offsets.liveBlocks();
        if (left > 0) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE,
                    "close",
                    "the symmetric heap was closed with " + left + " allocations still out (leak)");
        }
    }
}
