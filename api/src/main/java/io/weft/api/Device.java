// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import java.util.Objects;

/** One device of an open platform. Lives as long as the platform; safe for any thread. */
public final class Device {
    private final Platform platform;
    private final DeviceDriver driver;
    private final DeviceProperties properties;
    private final Stream defaultStream;

    Device(Platform platform, DeviceDriver driver) {
        this.platform = platform;
        this.driver = driver;
        this.properties = driver.properties();
        this.defaultStream = new Stream(this, driver.defaultStream(), true);
    }

    /** Its platform. */
    public Platform platform() {
        return platform;
    }

    /** Its index on the platform, from 0. */
    public int ordinal() {
        return properties.ordinal();
    }

    /** What it is. */
    public DeviceProperties properties() {
        return properties;
    }

    /** The backend's side. For plugins, decorators and the conformance suite. */
    public DeviceDriver driver() {
        return driver;
    }

    /** Device memory of this size, not zeroed. The caller closes it. */
    public Buffer allocate(long bytes) {
        return allocate(MemoryKind.DEVICE, bytes);
    }

    /**
     * Memory of this size, not zeroed. The caller closes it.
     *
     * @param bytes 1 or more
     * @throws AcceleratorException {@link ErrorCode#OUT_OF_MEMORY}, {@link ErrorCode#INVALID_ARGUMENT}
     */
    public Buffer allocate(MemoryKind kind, long bytes) {
        platform.requireOpen("allocate");
        Objects.requireNonNull(kind);
        if (bytes < 1) {
            throw AcceleratorException.invalid("allocate", "size must be at least 1 byte, not " + bytes);
        }
        return new Buffer(this, driver.allocate(kind, bytes), 0, bytes, buffer -> driver.free(buffer.memory()));
    }

    /**
     * Pinned host memory near a NUMA node of the host, not zeroed. The caller closes it. A backend that cannot choose ignores the node; {@link Buffer#numaNode()}
     * tells what came of it.
     *
     * @param bytes 1 or more
     * @param numaNode the node, -1 for the one of this device
     * @throws AcceleratorException {@link ErrorCode#OUT_OF_MEMORY}, {@link ErrorCode#INVALID_ARGUMENT}
     */
    public Buffer allocateHost(long bytes, int numaNode) {
        platform.requireOpen("allocate");
        if (bytes < 1) {
            throw AcceleratorException.invalid("allocate", "size must be at least 1 byte, not " + bytes);
        }
        if (numaNode < -1) {
            throw AcceleratorException.invalid("allocate", "NUMA node must be 0 or more, or -1, not " + numaNode);
        }
        DeviceMemory memory = driver.allocateHost(numaNode, bytes);
        return new Buffer(this, memory, 0, bytes, buffer -> driver.free(buffer.memory()));
    }

    /**
     * A buffer over the whole of an allocation that an SPI extension made (symmetric or virtual memory). For pools; applications allocate.
     *
     * @param owner takes the memory back when the buffer is closed
     * @throws AcceleratorException {@link ErrorCode#WRONG_DEVICE} when the memory belongs to another device
     */
    public Buffer adopt(DeviceMemory memory, Buffer.Owner owner) {
        platform.requireOpen("adopt");
        if (memory.device().properties().ordinal() != ordinal()) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE, "adopt", "the memory belongs to another device than " + this);
        }
        return new Buffer(this, memory, 0, memory.bytes(), Objects.requireNonNull(owner));
    }

    /** Memory now. */
    public MemoryInfo memoryInfo() {
        platform.requireOpen("memory info");
        return driver.memoryInfo();
    }

    /** The default stream, which joins every blocking stream of this device. It cannot be closed. */
    public Stream defaultStream() {
        return defaultStream;
    }

    /** A non-blocking stream of normal priority. The caller closes it. */
    public Stream createStream() {
        return createStream(StreamOptions.defaults());
    }

    /** A stream. The caller closes it. */
    public Stream createStream(StreamOptions options) {
        platform.requireOpen("create stream");
        return new Stream(this, driver.createStream(Objects.requireNonNull(options)), false);
    }

    /** An event, not recorded yet. The caller closes it. */
    public Event createEvent(EventOptions options) {
        platform.requireOpen("create event");
        return new Event(this, options, driver.createEvent(Objects.requireNonNull(options)));
    }

    /** Whether this device's kernels can load and store in the peer's memory once access is enabled; false for the device itself. */
    public boolean canAccess(Device peer) {
        return peer != this && driver.canAccess(samePlatform(peer, "peer access"));
    }

    /** Lets this device address the peer's memory; copies need no such step. */
    public void enablePeerAccess(Device peer) {
        if (!canAccess(peer)) {
            throw new AcceleratorException(
                    ErrorCode.PEER_ACCESS,
                    "enable peer access",
                    "device " + ordinal() + " cannot address the memory of device " + peer.ordinal());
        }
        driver.enablePeerAccess(peer.driver);
    }

    /** Takes the access back. */
    public void disablePeerAccess(Device peer) {
        driver.disablePeerAccess(samePlatform(peer, "disable peer access"));
    }

    /** Waits until everything issued to this device is complete. */
    public void synchronize() {
        platform.requireOpen("synchronize");
        driver.synchronize();
    }

    private DeviceDriver samePlatform(Device peer, String operation) {
        platform.requireOpen(operation);
        if (peer.platform != platform) {
            throw new AcceleratorException(ErrorCode.WRONG_DEVICE, operation, peer + " belongs to another platform");
        }
        return peer.driver;
    }

    @Override
    public String toString() {
        return "device " + ordinal() + " of " + platform.uri();
    }
}
