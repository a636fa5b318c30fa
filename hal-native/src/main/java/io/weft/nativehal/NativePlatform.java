// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.ErrorCode;
import io.weft.api.Figures;
import io.weft.api.PlatformProperties;
import io.weft.api.PlatformUri;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.nativehal.driver.DeviceRuntime;
import io.weft.nativehal.driver.NativeMachine;
import io.weft.nativehal.driver.PageDriver;
import io.weft.nativehal.driver.Vendor;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.GemmTuningDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.Patience;
import io.weft.spi.PlatformDriver;
import io.weft.spi.SymmetricMemoryDriver;
import io.weft.spi.VirtualMemoryDriver;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;

/** The devices of this machine, by what a vendor supplies. Safe for any thread. */
public final class NativePlatform implements PlatformDriver {
    private final PlatformUri uri;
    private final NativeOptions options;
    private final Vendor vendor;
    private final List<NativeDevice> devices;
    private final PlatformProperties properties;
    private final Topology topology;
    private final Set<Capability> capabilities;
    private final Map<Class<?>, Object> extensions = new LinkedHashMap<>();
    private final OpenCalls openCalls = new OpenCalls();
    private final IssueOrder issueOrder = new IssueOrder(openCalls);
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * Makes the devices ready. The vendor's libraries are started, and there is at least one device.
     *
     * @throws AcceleratorException what the first device said that cannot be used; nothing stays open then
     */
    public NativePlatform(PlatformUri uri, NativeOptions options, Vendor vendor, NativeMachine machine) {
        this.uri = uri;
        this.options = options;
        this.vendor = vendor;
        List<NativeDevice> opened = new ArrayList<>();
        try {
            for (int i = 0; i < machine.devices().size(); i++) {
                opened.add(new NativeDevice(
                        this, machine.ordinals().get(i), machine.devices().get(i)));
            }
            this.devices = List.copyOf(opened);
            devices.forEach(device -> device.join(devices));
        } catch (AcceleratorException refused) {
            opened.forEach(NativeDevice::close);
            throw refused;
        }
        this.topology = machine.topology();
        this.properties = new PlatformProperties(machine.name(), vendor.name(), Figures.MEASURED, vendor.versions());
        this.capabilities = findCapabilities();
    }

    /**
     * The runtime's ordinals that a platform uses.
     *
     * @param count devices that are visible
     * @throws AcceleratorException NOT_FOUND for a device that is not there
     */
    public static List<Integer> ordinals(PlatformUri uri, NativeOptions options, int count) {
        List<Integer> ordinals =
                options.devices().isEmpty() ? IntStream.range(0, count).boxed().toList() : options.devices();
        for (int ordinal : ordinals) {
            if (ordinal >= count) {
                throw new AcceleratorException(
                        ErrorCode.NOT_FOUND,
                        "open " + uri,
                        "device " + ordinal + " does not exist; devices 0.." + (count - 1) + " are visible");
            }
        }
        return ordinals;
    }

    private Set<Capability> findCapabilities() {
        Set<Capability> found = EnumSet.of(Capability.STORAGE, Capability.COPY_ENGINES);
        DeviceRuntime runtime = vendor.runtime();
        boolean copyable = false;
        boolean addressable = false;
        boolean allAddressable = true;
        boolean priorities = true;
        for (NativeDevice device : devices) {
            priorities &= device.properties().priorities() > 1;
            if (device.properties().copyEngines() < 1) {
                found.remove(Capability.COPY_ENGINES);
            }
            for (NativeDevice peer : devices) {
                if (peer != device) {
                    copyable |= topology.link(device.ordinal(), peer.ordinal()).copyable();
                    addressable |= device.canAccess(peer);
                    allAddressable &= device.canAccess(peer);
                }
            }
        }
        if (copyable) {
            found.add(Capability.PEER_COPY);
        }
        if (addressable) {
            found.add(Capability.PEER_ACCESS);
        }
        if (priorities) {
            found.add(Capability.STREAM_PRIORITIES);
        }
        if (runtime.hasTiming()) {
            found.add(Capability.EVENT_TIMING);
        }
        runtime.graphs().ifPresent(capture -> {
            found.add(Capability.DEVICE_GRAPHS);
            extensions.put(GraphDriver.class, new NativeGraphDriver(this, capture));
        });
        vendor.collectives().ifPresent(library -> {
            found.add(Capability.COLLECTIVES);
            extensions.put(CollectiveDriver.class, new NativeCollectives(this, library));
        });
        vendor.pages().ifPresent(pages -> {
            found.add(Capability.VIRTUAL_MEMORY);
            extensions.put(VirtualMemoryDriver.class, new NativeVirtualMemory(this));
        });
        if (allAddressable) {
            found.add(Capability.SYMMETRIC_MEMORY);
            extensions.put(SymmetricMemoryDriver.class, new NativeSymmetricMemory(this));
        }
        if (vendor.gemms().isPresent()) {
            extensions.put(GemmTuningDriver.class, new NativeGemmTuning(this));
        }
        return Set.copyOf(found);
    }

    PlatformUri uri() {
        return uri;
    }

    NativeOptions options() {
        return options;
    }

    Vendor vendor() {
        return vendor;
    }

    /** The vendor's virtual memory; asked for only where it is there. */
    PageDriver pages() {
        return vendor.pages().orElseThrow();
    }

    OpenCalls openCalls() {
        return openCalls;
    }

    IssueOrder issueOrder() {
        return issueOrder;
    }

    /** A driver as this platform's own device. */
    NativeDevice own(String operation, DeviceDriver device) {
        if (device instanceof NativeDevice own && own.platform() == this) {
            return own;
        }
        throw new AcceleratorException(ErrorCode.WRONG_DEVICE, operation, "a device belongs to another platform");
    }

    /**
     * Waits for work of the device. As long as every collective has been issued by all ranks, the runtime waits; otherwise we ask again and again, so that a collective that can never end is reported and not waited
     * for without end.
     *
     * @param blocking waits in the runtime and gives its code
     * @param query asks the runtime, which says that it is not ready
     * @return the runtime's code, 0 for none
     * @throws AcceleratorException TIMEOUT naming the ranks that have not come
     */
    int await(String operation, IntSupplier blocking, IntSupplier query) {
        if (openCalls.isEmpty()) {
            return blocking.getAsInt();
        }
        Patience patience = new Patience(options.stallNanos());
        while (true) {
            int code = query.getAsInt();
            if (!vendor.runtime().isNotReady(code)) {
                return code;
            }
            if (openCalls.isEmpty()) {
                return blocking.getAsInt();
            }
            if (patience.isOver()) {
                throw new AcceleratorException(
                        ErrorCode.TIMEOUT,
                        operation,
                        openCalls.describe(),
                        "issue the missing parts, or abort the communicator",
                        null,
                        null);
            }
            Thread.onSpinWait();
            java.util.concurrent.locks.LockSupport.parkNanos(50_000);
        }
    }

    @Override
    public PlatformProperties properties() {
        return properties;
    }

    @Override
    public List<? extends DeviceDriver> devices() {
        return devices;
    }

    /** The same with what only we may know. */
    List<NativeDevice> own() {
        return devices;
    }

    @Override
    public Topology topology() {
        return topology;
    }

    /** Whether copies lead from one device to another. */
    boolean copyable(int from, int to) {
        return from == to || topology.link(from, to).kind() != LinkKind.NONE;
    }

    @Override
    public Set<Capability> capabilities() {
        return capabilities;
    }

    @Override
    public <T> Optional<T> extension(Class<T> type) {
        return Optional.ofNullable(type.cast(extensions.get(type)));
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            for (Object extension : extensions.values()) {
                if (extension instanceof NativeCollectives collectives) {
                    collectives.close();
                }
                if (extension instanceof NativeGraphDriver graphs) {
                    graphs.close();
                }
            }
            devices.forEach(NativeDevice::close);
        }
    }
}
