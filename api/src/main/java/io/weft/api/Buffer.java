// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.spi.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Device or pinned host memory. Made by {@link Device#allocate(long)} or by a pool; closing it gives the memory back to where it came from. Closing twice is an
 * error which names the buffer, since the second close of a pooled buffer would free somebody else's memory.
 *
 * <p>Not zeroed. Issue and close may come from any thread.
 */
public final class Buffer implements Memory, AutoCloseable {
    /** Where the memory goes when a buffer is closed. */
    @FunctionalInterface
    public interface Owner {
        /** Takes the memory back. Called once for each buffer. */
        void release(Buffer buffer);
    }

    private final Device device;
    private final DeviceMemory memory;
    private final long base;
    private final long bytes;
    private final Owner owner;
    private final AtomicBoolean closed = new AtomicBoolean();

    Buffer(Device device, DeviceMemory memory, long base, long bytes, Owner owner) {
        this.device = device;
        this.memory = memory;
        this.base = base;
        this.bytes = bytes;
        this.owner = owner;
    }

    /** Its device. */
    public Device device() {
        return device;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    /** Where it lives. */
    public MemoryKind kind() {
        return memory.kind();
    }

    /** NUMA node of the host on which pinned host memory lies; -1 when that is not known, and for device memory. */
    public int numaNode() {
        return memory.numaNode();
    }

    /** The driver's allocation; this buffer starts {@link #base()} bytes into it. For plugins. */
    public DeviceMemory memory() {
        return memory;
    }

    /** Bytes from the start of the driver's allocation to this buffer. */
    public long base() {
        return base;
    }

    /** Who takes the memory back when it is closed; pools know their own buffers by it. */
    public Owner owner() {
        return owner;
    }

    /** The device address of its first byte. */
    public long address() {
        return memory.address() + base;
    }

    /** Whether it was closed. */
    public boolean isClosed() {
        return closed.get();
    }

    /**
     * A part of this buffer with an owner of its own, as pools hand out. The part may outlive no longer than this buffer.
     *
     * @param offset bytes from the start of this buffer
     * @param length bytes
     * @param partOwner takes the part back when it is closed
     */
    public Buffer suballocate(long offset, long length, Owner partOwner) {
        requireOpen("suballocate");
        if (offset < 0 || length < 0 || offset + length > bytes) {
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_BOUNDS,
                    "suballocate",
                    length + " bytes at " + offset + " do not fit a buffer of " + bytes + " bytes");
        }
        return new Buffer(device, memory, base + offset, length, partOwner);
    }

    /** A row-major matrix that starts at the first byte. */
    public BufferView matrix(long rows, long columns, ElementType type) {
        return BufferView.matrix(this, 0, rows, columns, type);
    }

    /** A vector that starts at the first byte. */
    public BufferView vector(long elements, ElementType type) {
        return BufferView.vector(this, 0, elements, type);
    }

    /** The memory itself where the host may read and write it directly (pinned host memory). */
    public MemorySegment segment() {
        requireOpen("segment");
        return memory.hostSegment()
                .orElseThrow(() -> new AcceleratorException(
                        ErrorCode.UNSUPPORTED,
                        "segment",
                        "the host cannot address this memory",
                        "copy it with read and write",
                        null,
                        null))
                .asSlice(base, bytes);
    }

    /**
     * Copies host bytes in and returns when they are there. Waits for no stream.
     *
     * @param offset bytes from the start of this buffer
     */
    public void write(long offset, MemorySegment source) {
        requireRange("write", offset, source.byteSize());
        requireStorage("write");
        device.driver().write(memory, base + offset, source);
    }

    /**
     * Copies bytes out to host memory and returns when they are there. Waits for no stream.
     *
     * @param offset bytes from the start of this buffer
     */
    public void read(MemorySegment destination, long offset) {
        requireRange("read", offset, destination.byteSize());
        requireStorage("read");
        device.driver().read(destination, memory, base + offset);
    }

    /** Converts values to an element type and copies them in, from the first byte on. */
    public void write(ElementType type, float... values) {
        byte[] data = new byte[Math.multiplyExact(values.length, type.bytes())];
        MemorySegment host = MemorySegment.ofArray(data);
        for (int i = 0; i < values.length; i++) {
            put(host, type, i, type.encode(values[i]));
        }
        write(0, host);
    }

    /** Copies elements out from the first byte on and converts them to floats. */
    public float[] read(ElementType type, int count) {
        byte[] data = new byte[Math.multiplyExact(count, type.bytes())];
        MemorySegment host = MemorySegment.ofArray(data);
        read(host, 0);
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = type.decode(get(host, type, i));
        }
        return values;
    }

    private static void put(MemorySegment host, ElementType type, long index, int bits) {
        switch (type.bytes()) {
            case 1 -> host.set(ValueLayout.JAVA_BYTE, index, (byte) bits);
            case 2 -> host.set(ValueLayout.JAVA_SHORT_UNALIGNED, index * 2, (short) bits);
            default -> host.set(ValueLayout.JAVA_INT_UNALIGNED, index * 4, bits);
        }
    }

    private static int get(MemorySegment host, ElementType type, long index) {
        return switch (type.bytes()) {
            case 1 -> host.get(ValueLayout.JAVA_BYTE, index);
            case 2 -> host.get(ValueLayout.JAVA_SHORT_UNALIGNED, index * 2);
            default -> host.get(ValueLayout.JAVA_INT_UNALIGNED, index * 4);
        };
    }

    private void requireRange(String operation, long offset, long length) {
        requireOpen(operation);
        if (offset < 0 || length > bytes - offset) {
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_BOUNDS,
                    operation,
                    length + " bytes at " + offset + " do not fit a buffer of " + bytes + " bytes");
        }
    }

    private void requireStorage(String operation) {
        device.platform().require(Capability.STORAGE, operation);
    }

    /**
     * Checks that it can still be used.
     *
     * @throws AcceleratorException {@link ErrorCode#CLOSED}
     */
    public void requireOpen(String operation) {
        if (closed.get()) {
            throw new AcceleratorException(ErrorCode.CLOSED, operation, this + " was closed before");
        }
        device.platform().requireOpen(operation);
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            throw new AcceleratorException(ErrorCode.CLOSED, "close", this + " was closed before (double free)");
        }
        owner.release(this);
    }

    @Override
    public String toString() {
        return "buffer of " + bytes + " bytes at 0x" + Long.toHexString(address()) + " on device " + device.ordinal();
    }
}
