// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.DeviceProperties;
import io.weft.api.ErrorCode;
import io.weft.api.EventOptions;
import io.weft.api.MemoryInfo;
import io.weft.api.MemoryKind;
import io.weft.api.Priority;
import io.weft.api.StreamOptions;
import io.weft.nativehal.driver.DeviceKernels;
import io.weft.nativehal.driver.DeviceRuntime;
import io.weft.nativehal.driver.MemoryPools;
import io.weft.nativehal.driver.PageDriver;
import io.weft.nativehal.driver.Route;
import io.weft.nativehal.driver.Vendor;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** One device. The platform's ordinal counts the devices that were opened, the runtime's those that are visible. */
final class NativeDevice implements DeviceDriver {
    /** Plain allocations of at least this size start at a page of the driver. */
    private static final long DRIVER_PAGE = 2L << 20;

    private final NativePlatform platform;
    private final DeviceRuntime runtime;
    private final MemoryPools pools; // null without
    private final int runtimeOrdinal;
    private final DeviceProperties properties;
    private final int lowest;
    private final int highest;
    private final long transfers;
    private final NativeStream defaultStream;
    private final long ticks;
    private final DeviceKernels kernels;
    private final GemmPlans gemms;
    private final CommandIssuer issuer;
    /** Peers into whose memory an application asked to be let. The hardware's access is on for all, which copies need to be fast. */
    private final BitSet access = new BitSet();

    private final Set<NativeMemory> memories = ConcurrentHashMap.newKeySet();
    private final Set<NativeStream> streams = ConcurrentHashMap.newKeySet();
    private final Set<NativeEvent> events = ConcurrentHashMap.newKeySet();
    private final ArrayDeque<Long> idleWorkspaces = new ArrayDeque<>();
    private final Object transferLock = new Object();
    private List<NativeDevice> reachable = List.of();
    private DeviceClock clock;
    private long pool;

    /** Makes the device ready: context, kernels, clock. */
    NativeDevice(NativePlatform platform, int runtimeOrdinal, DeviceProperties properties) {
        this.platform = platform;
        Vendor vendor = platform.vendor();
        this.runtime = vendor.runtime();
        this.pools = runtime.pools().orElse(null);
        this.runtimeOrdinal = runtimeOrdinal;
        this.properties = properties;
        makeCurrent();
        runtime.prepareDevice();
        int[] range = runtime.priorities();
        lowest = range[0];
        highest = range[1];
        transfers = runtime.createStream(false, lowest);
        defaultStream = new NativeStream(this, runtime.defaultStream(), true, Priority.NORMAL, "");
        ticks = runtime.hasTiming() ? runtime.createStream(false, highest) : 0;
        kernels = vendor.kernels().load(properties);
        gemms = new GemmPlans(vendor.gemms().orElse(null), platform.options().workspaceBytes());
        issuer = new CommandIssuer(this);
    }

    /** Learns which devices it reaches, lets itself into their memory, and sets its clock. Called once for each device in their order, when all devices are there. */
    void join(List<NativeDevice> all) {
        makeCurrent();
        List<NativeDevice> reached = new ArrayList<>();
        for (NativeDevice peer : all) {
            if (peer != this && runtime.canAccess(runtimeOrdinal, peer.runtimeOrdinal)) {
                runtime.enablePeerAccess(peer.runtimeOrdinal);
                reached.add(peer);
            }
        }
        reachable = List.copyOf(reached);
        if (ticks != 0) {
            // The first device comes first, which the others' clocks go by.
            clock = new DeviceClock(this, ticks, all.getFirst() == this ? null : all.getFirst().clock);
        }
        if (platform.options().pooled() && pools != null) {
            pool = pools.createPool(
                    runtimeOrdinal,
                    all.stream()
                            .filter(peer -> peer != this && runtime.canAccess(peer.runtimeOrdinal, runtimeOrdinal))
                            .map(NativeDevice::runtimeOrdinal)
                            .toList());
        }
    }

    NativePlatform platform() {
        return platform;
    }

    DeviceRuntime runtime() {
        return runtime;
    }

    PageDriver pages() {
        return platform.pages();
    }

    MemoryPools pools() {
        return pools;
    }

    int ordinal() {
        return properties.ordinal();
    }

    int runtimeOrdinal() {
        return runtimeOrdinal;
    }

    DeviceClock clock() {
        return clock;
    }

    DeviceKernels kernels() {
        return kernels;
    }

    GemmPlans gemms() {
        return gemms;
    }

    CommandIssuer issuer() {
        return issuer;
    }

    /** The runtime's stream for transfers of the host and pool traffic; it joins nothing. */
    long transferStream() {
        return transfers;
    }

    /** Makes this the calling thread's device, which the runtime's calls act on. */
    void makeCurrent() {
        runtime.device(runtimeOrdinal);
    }

    /** Runtime ordinals of this device and all that reach its memory. */
    List<Integer> visitors() {
        List<Integer> ordinals = new ArrayList<>();
        ordinals.add(runtimeOrdinal);
        for (NativeDevice other : platform.own()) {
            if (other != this && other.reachable.contains(this)) {
                ordinals.add(other.runtimeOrdinal);
            }
        }
        return ordinals;
    }

    /** Whether a kernel of this device can touch both views: its own memory, a reachable peer's, or pinned host memory. */
    boolean canAddress(BufferView one, BufferView other) {
        return canAddress(one) && canAddress(other);
    }

    private boolean canAddress(BufferView view) {
        DeviceMemory memory = ((Buffer) view.memory()).memory();
        return memory.kind() == MemoryKind.HOST_PINNED
                || memory.device() == this
                || (memory.device() instanceof NativeDevice peer && reachable.contains(peer));
    }

    @Override
    public DeviceProperties properties() {
        return properties;
    }

    @Override
    public DeviceMemory allocate(MemoryKind kind, long bytes) {
        if (kind == MemoryKind.DEVICE && pool != 0) {
            makeCurrent();
            long address = refuse(bytes, () -> pools.allocateFromPool(pool, bytes, transfers));
            // In the order of a stream that no one else uses: ready once that stream is.
            check("allocate", runtime.synchronizeStream(transfers));
            return adopt(new NativeMemory(this, kind, address, bytes, true));
        }
        return allocatePlain(kind, bytes);
    }

    NativeMemory allocatePlain(MemoryKind kind, long bytes) {
        makeCurrent();
        long address = refuse(
                bytes, () -> kind == MemoryKind.HOST_PINNED ? runtime.allocateHost(bytes) : runtime.allocate(bytes));
        return adopt(new NativeMemory(this, kind, address, bytes, false));
    }

    /** Device memory that starts at a page of the driver and shares none. */
    NativeMemory allocateWindow(long bytes) {
        makeCurrent();
        long whole = Math.ceilDiv(bytes, DRIVER_PAGE) * DRIVER_PAGE;
        long address = refuse(bytes, () -> runtime.allocate(whole));
        return adopt(new NativeMemory(this, MemoryKind.DEVICE, address, bytes, false));
    }

    private long refuse(long bytes, java.util.function.LongSupplier allocation) {
        try {
            return allocation.getAsLong();
        } catch (AcceleratorException refused) {
            if (refused.code() != ErrorCode.OUT_OF_MEMORY) {
                throw refused;
            }
            long[] info = runtime.memoryInfo();
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_MEMORY,
                    "allocate",
                    "device " + ordinal() + " has no " + bytes + " bytes left; " + info[0] + " of " + info[1]
                            + " are free",
                    "free memory on the device or use smaller buffers",
                    refused.vendorError().orElse(null),
                    refused);
        }
    }

    /** Notes an allocation, which closing the platform gives back if nobody does before. */
    <T extends NativeMemory> T adopt(T memory) {
        memories.add(memory);
        return memory;
    }

    @Override
    public void free(DeviceMemory memory) {
        NativeMemory own = (NativeMemory) memory;
        if (memories.remove(own)) {
            own.markFreed();
            makeCurrent();
            own.release();
        }
    }

    @Override
    public MemoryInfo memoryInfo() {
        makeCurrent();
        long[] info = runtime.memoryInfo();
        synchronized (idleWorkspaces) {
            // Idle blocks are ours to give.
            long idle = idleWorkspaces.size() * platform.options().workspaceBytes();
            return new MemoryInfo(info[1], Math.min(info[1], info[0] + idle));
        }
    }

    /** A block for the products of one stream. */
    long takeWorkspace() {
        synchronized (idleWorkspaces) {
            Long idle = idleWorkspaces.poll();
            if (idle != null) {
                return idle;
            }
        }
        makeCurrent();
        long bytes = platform.options().workspaceBytes();
        return refuse(bytes, () -> runtime.allocate(bytes));
    }

    void returnWorkspace(long address) {
        synchronized (idleWorkspaces) {
            idleWorkspaces.push(address);
        }
    }

    @Override
    public NativeStream defaultStream() {
        return defaultStream;
    }

    @Override
    public NativeStream createStream(StreamOptions options) {
        makeCurrent();
        NativeStream stream = new NativeStream(
                this,
                runtime.createStream(options.blocking(), number(options.priority())),
                false,
                effective(options.priority()),
                options.name());
        streams.add(stream);
        return stream;
    }

    /** A stream of the runtime for a graph's lane. The caller destroys it. */
    long createLane(Priority priority) {
        makeCurrent();
        return runtime.createStream(false, number(priority));
    }

    /** The runtime's number for a priority: lower numbers are more urgent. NORMAL is the middle of the range. */
    private int number(Priority priority) {
        return switch (priority) {
            case LOW -> lowest;
            case NORMAL -> (lowest + highest) / 2;
            case HIGH -> highest;
        };
    }

    private Priority effective(Priority priority) {
        if (lowest == highest) {
            return Priority.NORMAL;
        }
        if (priority == Priority.NORMAL && number(Priority.NORMAL) == lowest) {
            return Priority.LOW;
        }
        return priority;
    }

    @Override
    public NativeEvent createEvent(EventOptions options) {
        makeCurrent();
        boolean timed = options.timing() && clock != null;
        NativeEvent event = new NativeEvent(this, runtime.createEvent(timed), timed);
        events.add(event);
        return event;
    }

    void forget(NativeStream stream) {
        streams.remove(stream);
    }

    void forget(NativeEvent event) {
        events.remove(event);
    }

    /** Streams that are open now, the default stream not counted. */
    Set<NativeStream> streams() {
        return streams;
    }

    @Override
    public void write(DeviceMemory destination, long offset, MemorySegment source) {
        ((NativeMemory) destination).requireUsable("write", offset, source.byteSize());
        transfer(
                "write",
                source,
                (host, at, bytes) -> runtime.copy(
                        destination.address() + offset + at,
                        host.address(),
                        bytes,
                        destination.kind() == MemoryKind.HOST_PINNED ? Route.HOST_TO_HOST : Route.HOST_TO_DEVICE,
                        false,
                        transfers),
                true);
    }

    @Override
    public void read(MemorySegment destination, DeviceMemory source, long offset) {
        ((NativeMemory) source).requireUsable("read", offset, destination.byteSize());
        transfer(
                "read",
                destination,
                (host, at, bytes) -> runtime.copy(
                        host.address(),
                        source.address() + offset + at,
                        bytes,
                        source.kind() == MemoryKind.HOST_PINNED ? Route.HOST_TO_HOST : Route.DEVICE_TO_HOST,
                        false,
                        transfers),
                false);
    }

    private interface Piece {
        void copy(MemorySegment host, long at, long bytes);
    }

    /** Host memory of the Java heap goes through a block of native memory, as the runtime cannot see it. */
    private void transfer(String operation, MemorySegment host, Piece piece, boolean toDevice) {
        long bytes = host.byteSize();
        if (bytes == 0) {
            return;
        }
        makeCurrent();
        synchronized (transferLock) {
            if (host.isNative()) {
                piece.copy(host, 0, bytes);
                check(operation, runtime.synchronizeStream(transfers));
                return;
            }
            long block = Math.min(bytes, 16L << 20);
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment staging = arena.allocate(block, 64);
                for (long at = 0; at < bytes; at += block) {
                    long size = Math.min(block, bytes - at);
                    if (toDevice) {
                        MemorySegment.copy(host, at, staging, 0, size);
                    }
                    piece.copy(staging, at, size);
                    check(operation, runtime.synchronizeStream(transfers));
                    if (!toDevice) {
                        MemorySegment.copy(staging, 0, host, at, size);
                    }
                }
            }
        }
    }

    private void check(String operation, int code) {
        if (code != 0) {
            throw runtime.failure(operation, code);
        }
    }

    @Override
    public boolean canAccess(DeviceDriver peer) {
        return peer instanceof NativeDevice other && reachable.contains(other);
    }

    @Override
    public void enablePeerAccess(DeviceDriver peer) {
        int other = ((NativeDevice) peer).ordinal();
        if (!canAccess(peer)) {
            throw new AcceleratorException(
                    ErrorCode.PEER_ACCESS,
                    "enable peer access",
                    "device " + ordinal() + " cannot address the memory of device " + other);
        }
        synchronized (access) {
            if (access.get(other)) {
                throw new AcceleratorException(
                        ErrorCode.INVALID_STATE,
                        "enable peer access",
                        "device " + ordinal() + " has access to device " + other + " already");
            }
            access.set(other);
        }
    }

    @Override
    public void disablePeerAccess(DeviceDriver peer) {
        int other = ((NativeDevice) peer).ordinal();
        synchronized (access) {
            if (!access.get(other)) {
                throw new AcceleratorException(
                        ErrorCode.INVALID_STATE,
                        "disable peer access",
                        "device " + ordinal() + " has no access to device " + other);
            }
            access.clear(other);
        }
    }

    @Override
    public void synchronize() {
        // One stream after the other, so that a failure is found at its stream, and a collective that cannot end is
        // noticed.
        AcceleratorException first = null;
        for (NativeStream stream : streams) {
            try {
                stream.synchronize();
            } catch (AcceleratorException failed) {
                first = first == null ? failed : first;
            }
        }
        try {
            defaultStream.synchronize();
        } catch (AcceleratorException failed) {
            first = first == null ? failed : first;
        }
        if (first != null) {
            throw first;
        }
    }

    /** Releases everything that is still open. */
    void close() {
        makeCurrent();
        for (NativeStream stream : List.copyOf(streams)) {
            stream.close();
        }
        for (NativeEvent event : List.copyOf(events)) {
            event.close();
        }
        for (NativeMemory memory : List.copyOf(memories)) {
            free(memory);
        }
        gemms.close();
        kernels.close();
        synchronized (idleWorkspaces) {
            for (long block : idleWorkspaces) {
                runtime.free(block);
            }
            idleWorkspaces.clear();
        }
        if (clock != null) {
            clock.close();
        }
        if (ticks != 0) {
            runtime.destroyStream(ticks);
        }
        if (pool != 0) {
            runtime.synchronizeStream(transfers);
            pools.destroyPool(pool);
            pool = 0;
        }
        runtime.destroyStream(transfers);
    }

    @Override
    public String toString() {
        return "device " + ordinal() + " of " + platform.uri();
    }
}
