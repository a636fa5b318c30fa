// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.api.topology.Topology;
import io.weft.spi.PlatformDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An open platform: devices, the paths between them, and a clock. Opened by {@link Accelerators#open(String)}. Closing it releases everything under it; later
 * calls are refused with {@link ErrorCode#CLOSED}. Safe for any thread.
 */
public final class Platform implements AutoCloseable {
    private final PlatformUri uri;
    private final PlatformDriver driver;
    private final PlatformProperties properties;
    private final Set<Capability> capabilities;
    private final Topology topology;
    private final List<Device> devices;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Wraps an open driver and owns it. Applications use {@link Accelerators}; the conformance suite and decorators start here. */
    public Platform(PlatformUri uri, PlatformDriver driver) {
        this.uri = uri;
        this.driver = driver;
        this.properties = driver.properties();
        this.capabilities = Set.copyOf(driver.capabilities());
        this.topology = driver.topology();
        List<Device> all = new ArrayList<>();
        driver.devices().forEach(device -> all.add(new Device(this, device)));
        this.devices = List.copyOf(all);
    }

    /** By what it was opened. */
    public PlatformUri uri() {
        return uri;
    }

    /** What it is. */
    public PlatformProperties properties() {
        return properties;
    }

    /** Whether its times are predicted or measured. */
    public Figures figures() {
        return properties.figures();
    }

    /** Its devices, by ordinal. */
    public List<Device> devices() {
        return devices;
    }

    /**
     * One device.
     *
     * @throws AcceleratorException {@link ErrorCode#NOT_FOUND}
     */
    public Device device(int ordinal) {
        if (ordinal < 0 || ordinal >= devices.size()) {
            throw new AcceleratorException(
                    ErrorCode.NOT_FOUND,
                    "device",
                    "device " + ordinal + " does not exist; " + uri + " has devices 0.." + (devices.size() - 1));
        }
        return devices.get(ordinal);
    }

    /** How the devices reach one another. */
    public Topology topology() {
        return topology;
    }

    /** What it can do beyond the core. */
    public Set<Capability> capabilities() {
        return capabilities;
    }

    /** Whether it has a capability. */
    public boolean has(Capability capability) {
        return capabilities.contains(capability);
    }

    /**
     * Checks for a capability.
     *
     * @throws AcceleratorException {@link ErrorCode#UNSUPPORTED}
     */
    public void require(Capability capability, String operation) {
        requireOpen(operation);
        if (!has(capability)) {
            throw AcceleratorException.unsupported(operation, capability, uri.toString());
        }
    }

    /** An optional power, such as {@link io.weft.spi.PerformanceModel}; empty when the platform lacks it. */
    public <T> Optional<T> extension(Class<T> type) {
        requireOpen("extension");
        return driver.extension(type);
    }

    /** The backend's side. For plugins, decorators and the conformance suite. */
    public PlatformDriver driver() {
        return driver;
    }

    /** The platform's clock, ns: virtual on a model. */
    public long nanoTime() {
        return driver.nanoTime();
    }

    /** Waits until everything issued to all devices is complete. */
    public void synchronize() {
        devices.forEach(Device::synchronize);
    }

    /**
     * Checks that it is open.
     *
     * @throws AcceleratorException {@link ErrorCode#CLOSED}
     */
    public void requireOpen(String operation) {
        if (closed.get()) {
            throw new AcceleratorException(ErrorCode.CLOSED, operation, "platform " + uri + " was closed before");
        }
    }

    /** Releases everything. Closing twice is allowed. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            driver.close();
        }
    }

    @Override
    public String toString() {
        return uri.toString();
    }
}
