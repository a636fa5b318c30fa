// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.ErrorCode;
import io.weft.api.Figures;
import io.weft.api.PlatformProperties;
import io.weft.api.PlatformUri;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.cuda.ffi.CudaLibraries;
import io.weft.cuda.ffi.CudaRuntime;
import io.weft.cuda.ffi.Nvml;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.GraphDriver;
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

/** The GPUs of this machine. Safe for any thread. */
final class CudaPlatform implements PlatformDriver {
    private final PlatformUri uri;
    private final CudaOptions options;
    private final CudaLibraries libraries;
    private final List<CudaDevice> devices;
    private final PlatformProperties properties;
    private final Topology topology;
    private final Set<Capability> capabilities;
    private final Map<Class<?>, Object> extensions = new LinkedHashMap<>();
    private final OpenCalls openCalls = new OpenCalls();
    private final IssueOrder issueOrder = new IssueOrder(openCalls);
    private final AtomicBoolean closed = new AtomicBoolean();

    private CudaPlatform(PlatformUri uri, CudaOptions options, CudaLibraries libraries, List<Integer> ordinals) {
        this.uri = uri;
        this.options = options;
        this.libraries = libraries;
        Machine machine;
        try (Nvml nvml = libraries.openNvml().orElse(null)) {
            machine = Machine.read(libraries, nvml, ordinals);
        }
        List<CudaDevice> opened = new ArrayList<>();
        try {
            for (int i = 0; i < ordinals.size(); i++) {
                opened.add(
                        new CudaDevice(this, ordinals.get(i), machine.devices().get(i)));
            }
            this.devices = List.copyOf(opened);
            devices.forEach(device -> device.join(devices));
        } catch (AcceleratorException refused) {
            opened.forEach(CudaDevice::close);
            throw refused;
        }
        this.topology = machine.topology();
        this.properties =
                new PlatformProperties(machine.name(), "NVIDIA", Figures.MEASURED, versions(machine.driverVersion()));
        this.capabilities = findCapabilities();
    }

    /**
     * Opens the platform.
     *
     * @throws AcceleratorException UNAVAILABLE saying what is missing; NOT_FOUND for a device that is not there
     */
    static CudaPlatform open(PlatformUri uri) {
        CudaOptions options = CudaOptions.of(uri);
        CudaLibraries libraries = CudaLibraries.open(options.libraries());
        int code = libraries.driver().start();
        if (code != 0) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "open " + uri,
                    "the driver does not start: " + libraries.driver().explain(code),
                    "check that nvidia-smi works here",
                    null,
                    null);
        }
        CudaRuntime runtime = libraries.runtime();
        int major = runtime.runtimeVersion() / 1000;
        if (major < 12) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "open " + uri,
                    runtime.library().name() + " is version " + version(runtime.runtimeVersion())
                            + "; CUDA 12 or newer is needed",
                    "name the folder of a newer one in " + CudaLibraries.ENVIRONMENT,
                    null,
                    null);
        }
        int count;
        try {
            count = runtime.deviceCount();
        } catch (AcceleratorException none) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "open " + uri,
                    "no device: " + none.detail(),
                    none.nextStep(),
                    none.vendorError().orElse(null),
                    none);
        }
        if (count == 0) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "open " + uri,
                    "the driver lists no device",
                    "check CUDA_VISIBLE_DEVICES and nvidia-smi",
                    null,
                    null);
        }
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
        return new CudaPlatform(uri, options, libraries, ordinals);
    }

    private Map<String, String> versions(String driverVersion) {
        Map<String, String> versions = new LinkedHashMap<>();
        if (!driverVersion.isEmpty()) {
            versions.put("driver", driverVersion);
        }
        versions.put("driver CUDA", version(libraries.runtime().driverVersion()));
        versions.put("runtime", version(libraries.runtime().runtimeVersion()));
        libraries
                .cublas()
                .ifPresent(cublas -> versions.put(
                        "cuBLASLt",
                        cublas.version() / 10000 + "." + cublas.version() / 100 % 100 + "." + cublas.version() % 100));
        libraries
                .nccl()
                .ifPresent(nccl -> versions.put(
                        "NCCL",
                        nccl.version() / 10000 + "." + nccl.version() / 100 % 100 + "." + nccl.version() % 100));
        return versions;
    }

    private static String version(int number) {
        return number / 1000 + "." + number % 1000 / 10;
    }

    private Set<Capability> findCapabilities() {
        Set<Capability> found = EnumSet.of(Capability.STORAGE, Capability.COPY_ENGINES);
        CudaRuntime runtime = libraries.runtime();
        boolean copyable = false;
        boolean addressable = false;
        boolean allAddressable = true;
        boolean priorities = true;
        for (CudaDevice device : devices) {
            priorities &= device.properties().priorities() > 1;
            if (device.properties().copyEngines() < 1) {
                found.remove(Capability.COPY_ENGINES);
            }
            for (CudaDevice peer : devices) {
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
        if (runtime.hasGraphs()) {
            found.add(Capability.DEVICE_GRAPHS);
            extensions.put(GraphDriver.class, new CudaGraphDriver(this));
        }
        if (libraries.nccl().isPresent()) {
            found.add(Capability.COLLECTIVES);
            extensions.put(
                    CollectiveDriver.class,
                    new CudaCollectives(this, libraries.nccl().get()));
        }
        if (libraries.driver().hasVirtualMemory()) {
            found.add(Capability.VIRTUAL_MEMORY);
            extensions.put(VirtualMemoryDriver.class, new CudaVirtualMemory(this));
        }
        if (allAddressable) {
            found.add(Capability.SYMMETRIC_MEMORY);
            extensions.put(SymmetricMemoryDriver.class, new CudaSymmetricMemory(this));
        }
        if (libraries.cublas().isPresent()) {
            extensions.put(io.weft.spi.GemmTuningDriver.class, new CudaGemmTuning(this));
        }
        return Set.copyOf(found);
    }

    PlatformUri uri() {
        return uri;
    }

    CudaOptions options() {
        return options;
    }

    CudaLibraries libraries() {
        return libraries;
    }

    OpenCalls openCalls() {
        return openCalls;
    }

    IssueOrder issueOrder() {
        return issueOrder;
    }

    /** A driver as this platform's own device. */
    CudaDevice own(String operation, DeviceDriver device) {
        if (device instanceof CudaDevice own && own.platform() == this) {
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
        long deadline = System.nanoTime() + options.stallNanos();
        while (true) {
            int code = query.getAsInt();
            if (!CudaRuntime.isNotReady(code)) {
                return code;
            }
            if (openCalls.isEmpty()) {
                return blocking.getAsInt();
            }
            if (System.nanoTime() - deadline > 0) {
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
    public List<CudaDevice> devices() {
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
                if (extension instanceof CudaCollectives collectives) {
                    collectives.close();
                }
                if (extension instanceof CudaGraphDriver graphs) {
                    graphs.close();
                }
            }
            devices.forEach(CudaDevice::close);
        }
    }
}
