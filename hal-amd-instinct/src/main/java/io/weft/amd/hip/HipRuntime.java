// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import io.weft.api.AcceleratorException;
import io.weft.nativehal.driver.DeviceRuntime;
import io.weft.nativehal.driver.GraphCapture;
import io.weft.nativehal.driver.MemoryPools;
import io.weft.nativehal.driver.PageDriver;
import io.weft.nativehal.driver.Route;
import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.ffi.Scratch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The HIP runtime, libamdhip64. Handles and addresses are numbers. Functions act on the calling thread's current device where the vendor's do. Every failure is an {@link AcceleratorException}.
 *
 * <p>Source of signatures and numbers: hip_runtime_api.h of HIP 5.2 to 6.4, in which the functions used are the same; what differs is told by the version. HIP 7 no longer looks whether a stream is alive, so callers never pass one that is not.
 */
final class HipRuntime implements DeviceRuntime, GraphCapture, MemoryPools, PageDriver {
    /** File names, the newest first. */
    static final List<String> NAMES =
            List.of("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so");

    /** {@code hipErrorNotReady}. */
    private static final int NOT_READY = 600;
    /** {@code hipErrorPeerAccessAlreadyEnabled}. */
    private static final int ALREADY_ENABLED = 704;
    /** {@code hipErrorInvalidMemcpyDirection}. */
    private static final int INVALID_DIRECTION = 21;
    /** {@code hipMemcpyDeviceToDeviceNoCU}: a copy engine and no compute units; from HIP 6 on. */
    private static final int DEVICE_TO_DEVICE_NO_CU = 1024;

    private static final int DEVICE_TO_DEVICE = 3;
    /** The null stream, which joins blocking streams. */
    private static final long NULL_STREAM = 0;

    private final NativeLibrary library;
    private final MemorySegment getErrorName;
    private final MemorySegment getErrorString;
    private final MemorySegment getLastError;
    private final MemorySegment init;
    private final MemorySegment runtimeGetVersion;
    private final MemorySegment driverGetVersion;
    private final MemorySegment getDeviceCount;
    private final MemorySegment setDevice;
    private final MemorySegment getPropertiesR0600;
    private final MemorySegment getProperties;
    private final MemorySegment deviceGetAttribute;
    private final MemorySegment deviceGetPciBusId;
    private final MemorySegment getStreamPriorityRange;
    private final MemorySegment canAccessPeer;
    private final MemorySegment enablePeerAccess;
    private final MemorySegment getLinkTypeAndHopCount;
    private final MemorySegment malloc;
    private final MemorySegment free;
    private final MemorySegment hostMalloc;
    private final MemorySegment hostFree;
    private final MemorySegment memGetInfo;
    private final MemorySegment memcpyAsync;
    private final MemorySegment memcpy2dAsync;
    private final MemorySegment memsetD8;
    private final MemorySegment memsetD16;
    private final MemorySegment memsetD32;
    private final MemorySegment memset2d;
    private final MemorySegment streamCreate;
    private final MemorySegment streamDestroy;
    private final MemorySegment streamSynchronize;
    private final MemorySegment streamQuery;
    private final MemorySegment streamWaitEvent;
    private final MemorySegment streamBeginCapture;
    private final MemorySegment streamEndCapture;
    private final MemorySegment eventCreate;
    private final MemorySegment eventDestroy;
    private final MemorySegment eventRecord;
    private final MemorySegment eventRecordWithFlags;
    private final MemorySegment eventQuery;
    private final MemorySegment eventSynchronize;
    private final MemorySegment eventElapsedTime;
    private final MemorySegment graphInstantiate;
    private final MemorySegment graphExecUpdate;
    private final MemorySegment graphLaunch;
    private final MemorySegment graphExecDestroy;
    private final MemorySegment graphDestroy;
    private final MemorySegment memPoolCreate;
    private final MemorySegment memPoolDestroy;
    private final MemorySegment memPoolSetAccess;
    private final MemorySegment memPoolSetAttribute;
    private final MemorySegment mallocFromPoolAsync;
    private final MemorySegment freeAsync;
    private final MemorySegment memGetAllocationGranularity;
    private final MemorySegment memCreate;
    private final MemorySegment memRelease;
    private final MemorySegment memAddressReserve;
    private final MemorySegment memAddressFree;
    private final MemorySegment memMap;
    private final MemorySegment memUnmap;
    private final MemorySegment memSetAccess;
    private final MemorySegment moduleLoadData;
    private final MemorySegment moduleUnload;
    private final MemorySegment moduleGetFunction;
    private final MemorySegment moduleLaunchKernel;
    private final int version;
    private volatile boolean copiesWithoutUnits;

    /** Looks every function up; a missing one is only an error when it is called. Asks for the version, which no version refuses without a device. */
    HipRuntime(NativeLibrary library) {
        this.library = library;
        getErrorName = library.find("hipGetErrorName");
        getErrorString = library.find("hipGetErrorString");
        getLastError = library.find("hipGetLastError");
        init = library.find("hipInit");
        runtimeGetVersion = library.find("hipRuntimeGetVersion");
        driverGetVersion = library.find("hipDriverGetVersion");
        getDeviceCount = library.find("hipGetDeviceCount");
        setDevice = library.find("hipSetDevice");
        getPropertiesR0600 = library.find("hipGetDevicePropertiesR0600");
        getProperties = library.find("hipGetDeviceProperties");
        deviceGetAttribute = library.find("hipDeviceGetAttribute");
        deviceGetPciBusId = library.find("hipDeviceGetPCIBusId");
        getStreamPriorityRange = library.find("hipDeviceGetStreamPriorityRange");
        canAccessPeer = library.find("hipDeviceCanAccessPeer");
        enablePeerAccess = library.find("hipDeviceEnablePeerAccess");
        getLinkTypeAndHopCount = library.find("hipExtGetLinkTypeAndHopCount");
        malloc = library.find("hipMalloc");
        free = library.find("hipFree");
        hostMalloc = library.find("hipHostMalloc");
        hostFree = library.find("hipHostFree");
        memGetInfo = library.find("hipMemGetInfo");
        memcpyAsync = library.find("hipMemcpyAsync");
        memcpy2dAsync = library.find("hipMemcpy2DAsync");
        memsetD8 = library.find("hipMemsetD8Async");
        memsetD16 = library.find("hipMemsetD16Async");
        memsetD32 = library.find("hipMemsetD32Async");
        memset2d = library.find("hipMemset2DAsync");
        streamCreate = library.find("hipStreamCreateWithPriority");
        streamDestroy = library.find("hipStreamDestroy");
        streamSynchronize = library.find("hipStreamSynchronize");
        streamQuery = library.find("hipStreamQuery");
        streamWaitEvent = library.find("hipStreamWaitEvent");
        streamBeginCapture = library.find("hipStreamBeginCapture");
        streamEndCapture = library.find("hipStreamEndCapture");
        eventCreate = library.find("hipEventCreateWithFlags");
        eventDestroy = library.find("hipEventDestroy");
        eventRecord = library.find("hipEventRecord");
        eventRecordWithFlags = library.find("hipEventRecordWithFlags");
        eventQuery = library.find("hipEventQuery");
        eventSynchronize = library.find("hipEventSynchronize");
        eventElapsedTime = library.find("hipEventElapsedTime");
        graphInstantiate = library.find("hipGraphInstantiate");
        graphExecUpdate = library.find("hipGraphExecUpdate");
        graphLaunch = library.find("hipGraphLaunch");
        graphExecDestroy = library.find("hipGraphExecDestroy");
        graphDestroy = library.find("hipGraphDestroy");
        memPoolCreate = library.find("hipMemPoolCreate");
        memPoolDestroy = library.find("hipMemPoolDestroy");
        memPoolSetAccess = library.find("hipMemPoolSetAccess");
        memPoolSetAttribute = library.find("hipMemPoolSetAttribute");
        mallocFromPoolAsync = library.find("hipMallocFromPoolAsync");
        freeAsync = library.find("hipFreeAsync");
        memGetAllocationGranularity = library.find("hipMemGetAllocationGranularity");
        memCreate = library.find("hipMemCreate");
        memRelease = library.find("hipMemRelease");
        memAddressReserve = library.find("hipMemAddressReserve");
        memAddressFree = library.find("hipMemAddressFree");
        memMap = library.find("hipMemMap");
        memUnmap = library.find("hipMemUnmap");
        memSetAccess = library.find("hipMemSetAccess");
        moduleLoadData = library.find("hipModuleLoadData");
        moduleUnload = library.find("hipModuleUnload");
        moduleGetFunction = library.find("hipModuleGetFunction");
        moduleLaunchKernel = library.find("hipModuleLaunchKernel");
        version = version(runtimeGetVersion);
        copiesWithoutUnits = major() >= 6;
    }

    /** The library behind it. */
    NativeLibrary library() {
        return library;
    }

    /** Functions without which no platform can be opened, by name, that are not there. */
    List<String> missingEssentials() {
        return List.of(
                        "hipGetDeviceCount",
                        "hipSetDevice",
                        "hipMalloc",
                        "hipFree",
                        "hipHostMalloc",
                        "hipHostFree",
                        "hipMemGetInfo",
                        "hipMemcpyAsync",
                        "hipMemcpy2DAsync",
                        "hipMemsetD8Async",
                        "hipStreamCreateWithPriority",
                        "hipStreamDestroy",
                        "hipStreamSynchronize",
                        "hipStreamQuery",
                        "hipStreamWaitEvent",
                        "hipEventCreateWithFlags",
                        "hipEventDestroy",
                        "hipEventRecord",
                        "hipEventQuery",
                        "hipEventSynchronize")
                .stream()
                .filter(library.missing()::contains)
                .toList();
    }

    private void check(String operation, int code) {
        if (code != 0) {
            throw failure(operation, code);
        }
    }

    private static int version(MemorySegment function) {
        Scratch out = Scratch.mine();
        out.integer(0, 0);
        return function == null || Native.call(function, out.address()) != 0 ? 0 : out.integer(0);
    }

    /** Version of the runtime, 10000000 * major + 100000 * minor + patch; 0 when unknown. */
    int version() {
        return version;
    }

    /** Its first number. */
    int major() {
        return version / 10_000_000;
    }

    /** Version that the driver speaks; 0 when unknown. */
    int driverVersion() {
        return version(driverGetVersion);
    }

    /** A version for people. */
    static String text(int version) {
        return version / 10_000_000 + "." + version / 100_000 % 100 + "." + version % 100_000;
    }

    // Before anything else: whether there is a device.

    /**
     * Visible devices. The one call that is safe and telling in every version, so it comes before all others.
     *
     * @return empty when the runtime says that there is none, whichever of its codes it says it with
     */
    OptionalInt deviceCount() {
        Scratch out = Scratch.mine();
        out.integer(0, 0);
        int code = Native.call(getDeviceCount, out.address());
        int count = out.integer(0);
        if (code == 0 && count > 0) {
            return OptionalInt.of(count);
        }
        if (code == 0 || HipFailure.saysNoDevice(code)) {
            return OptionalInt.empty();
        }
        throw failure("count devices", code);
    }

    /** Starts the runtime; more than once is allowed. The code of the failure, 0 for none. */
    int start() {
        return init == null ? 0 : Native.call(init, 0);
    }

    // Devices.

    @Override
    public void device(int ordinal) {
        int code = Native.call(setDevice, ordinal);
        if (code != 0) {
            throw failure("select device " + ordinal, code);
        }
    }

    /** The runtime makes what it needs by itself; this finds out whether it can. */
    @Override
    public void prepareDevice() {
        check("prepare device", Native.call(free, 0));
    }

    /** What the device is. The plain function fills the layout of before HIP 6 in every version; see {@link HipProperties}. */
    HipProperties properties(int ordinal) {
        try (Arena arena = Arena.ofConfined()) {
            if (getPropertiesR0600 != null) {
                MemorySegment out = arena.allocate(HipProperties.R0600_BYTES, 8);
                check("read properties", Native.call(getPropertiesR0600, out.address(), ordinal));
                return HipProperties.ofR0600(out);
            }
            MemorySegment out = arena.allocate(HipProperties.R0000_BYTES, 8);
            check(
                    "read properties",
                    Native.call(
                            library.need(getProperties, "hipGetDeviceProperties", "read properties"),
                            out.address(),
                            ordinal));
            return HipProperties.ofR0000(out);
        }
    }

    /** {@code hipDeviceAttributeAsyncEngineCount}; -1 when unknown. */
    int copyEngines(int ordinal) {
        Scratch out = Scratch.mine();
        int asyncEngineCount = 2;
        if (deviceGetAttribute == null
                || Native.call(deviceGetAttribute, out.address(), asyncEngineCount, ordinal) != 0) {
            forgetError();
            return -1;
        }
        return out.integer(0);
    }

    /** PCI address such as {@code 0000:0c:00.0}; empty when unknown. */
    String busId(int ordinal) {
        Scratch out = Scratch.mine();
        out.word(0, 0);
        if (deviceGetPciBusId == null || Native.call(deviceGetPciBusId, out.address(), 64, ordinal) != 0) {
            forgetError();
            return "";
        }
        return Native.text(out.address());
    }

    /** How two devices are joined, as HSA numbers it, and the hops between them; empty when unknown. */
    Optional<Joint> joint(int from, int to) {
        Scratch out = Scratch.mine();
        if (getLinkTypeAndHopCount == null
                || Native.call(getLinkTypeAndHopCount, from, to, out.address(), out.address() + 8) != 0) {
            forgetError();
            return Optional.empty();
        }
        return Optional.of(new Joint(out.integer(0), out.integer(8)));
    }

    /**
     * The answer of {@code hipExtGetLinkTypeAndHopCount}.
     *
     * @param hsaType {@code hsa_amd_link_info_type_t}
     * @param hops as the runtime counts them
     */
    record Joint(int hsaType, int hops) {}

    @Override
    public int[] priorities() {
        Scratch out = Scratch.mine();
        if (getStreamPriorityRange == null
                || Native.call(getStreamPriorityRange, out.address(), out.address() + 8) != 0) {
            forgetError();
            return new int[2];
        }
        return new int[] {out.integer(0), out.integer(8)};
    }

    @Override
    public boolean canAccess(int ordinal, int peer) {
        Scratch out = Scratch.mine();
        return canAccessPeer != null
                && enablePeerAccess != null
                && Native.call(canAccessPeer, out.address(), ordinal, peer) == 0
                && out.integer(0) != 0;
    }

    @Override
    public void enablePeerAccess(int peer) {
        int code = Native.call(library.need(enablePeerAccess, "hipDeviceEnablePeerAccess", "peer access"), peer, 0);
        if (code == ALREADY_ENABLED) {
            forgetError();
            return;
        }
        check("enable peer access to device " + peer, code);
    }

    // Memory.

    @Override
    public long allocate(long bytes) {
        Scratch out = Scratch.mine();
        check("allocate " + bytes + " bytes", Native.call(malloc, out.address(), bytes));
        return out.word(0);
    }

    @Override
    public void free(long address) {
        check("free", Native.call(free, address));
    }

    @Override
    public long allocateHost(long bytes) {
        Scratch out = Scratch.mine();
        int portable = 1; // hipHostMallocPortable
        check(
                "allocate " + bytes + " bytes of pinned host memory",
                Native.call(hostMalloc, out.address(), bytes, portable));
        return out.word(0);
    }

    @Override
    public void freeHost(long address) {
        check("free pinned host memory", Native.call(hostFree, address));
    }

    @Override
    public long[] memoryInfo() {
        Scratch out = Scratch.mine();
        check("memory info", Native.call(memGetInfo, out.address(), out.address() + 8));
        return new long[] {out.word(0), out.word(8)};
    }

    // Data.

    /** {@code hipMemcpyKind}. Without a wish the runtime chooses between engine and kernel by size (ROC_P2P_SDMA_SIZE); with one, from HIP 6 on, no compute units are used. */
    private int kind(Route route, boolean engine) {
        return switch (route) {
            case HOST_TO_HOST -> 0;
            case HOST_TO_DEVICE -> 1;
            case DEVICE_TO_HOST -> 2;
            case WITHIN_DEVICE, BETWEEN_DEVICES ->
                engine && copiesWithoutUnits ? DEVICE_TO_DEVICE_NO_CU : DEVICE_TO_DEVICE;
        };
    }

    @Override
    public void copy(long destination, long source, long bytes, Route route, boolean engine, long stream) {
        int kind = kind(route, engine);
        int code = Native.call(memcpyAsync, destination, source, bytes, kind, stream);
        if (code == INVALID_DIRECTION && kind == DEVICE_TO_DEVICE_NO_CU) {
            copiesWithoutUnits = false;
            forgetError();
            code = Native.call(memcpyAsync, destination, source, bytes, DEVICE_TO_DEVICE, stream);
        }
        if (code != 0) {
            throw failure("copy of " + bytes + " bytes", code);
        }
    }

    /** Rectangles know no kind without compute units. */
    @Override
    public void copy2d(
            long destination,
            long destinationPitch,
            long source,
            long sourcePitch,
            long width,
            long rows,
            Route route,
            boolean engine,
            long stream) {
        int code = Native.call(
                memcpy2dAsync,
                destination,
                destinationPitch,
                source,
                sourcePitch,
                width,
                rows,
                kind(route, false),
                stream);
        if (code != 0) {
            throw failure("strided copy of " + rows + " rows of " + width + " bytes", code);
        }
    }

    /** hipDeviceProp_t.memPitch is INT_MAX on every device so far. */
    @Override
    public long maxPitch() {
        return Integer.MAX_VALUE;
    }

    /** Rows of wide elements whose bytes differ are set one by one: no version up to 6.4 has a call for them. */
    @Override
    public void fill(long address, long pitch, int bits, int elementBytes, long columns, long rows, long stream) {
        int low = bits & 0xFF;
        boolean sameBytes = elementBytes == 1
                || (elementBytes == 2 && (bits & 0xFFFF) == low * 0x101)
                || (elementBytes == 4 && bits == low * 0x01010101);
        int code;
        if (rows > 1 && sameBytes && memset2d != null) {
            code = Native.call(memset2d, address, pitch, low, columns * elementBytes, rows, stream);
            if (code != 0) {
                throw failure("fill", code);
            }
            return;
        }
        MemorySegment function = elementBytes == 1 ? memsetD8 : elementBytes == 2 ? memsetD16 : memsetD32;
        if (function == null) {
            library.need(null, "hipMemsetD" + 8 * elementBytes + "Async", "fill");
        }
        for (long row = 0; row < rows; row++) {
            code = Native.call(function, address + row * pitch, bits, columns, stream);
            if (code != 0) {
                throw failure("fill", code);
            }
        }
    }

    // Streams and events.

    @Override
    public long defaultStream() {
        return NULL_STREAM;
    }

    @Override
    public long createStream(boolean blocking, int priority) {
        Scratch out = Scratch.mine();
        int nonBlocking = 1; // hipStreamNonBlocking
        check("create stream", Native.call(streamCreate, out.address(), blocking ? 0 : nonBlocking, priority));
        return out.word(0);
    }

    @Override
    public void destroyStream(long stream) {
        check("close stream", Native.call(streamDestroy, stream));
    }

    @Override
    public int synchronizeStream(long stream) {
        return Native.call(streamSynchronize, stream);
    }

    @Override
    public int queryStream(long stream) {
        return Native.call(streamQuery, stream);
    }

    @Override
    public void waitEvent(long stream, long event) {
        int code = Native.call(streamWaitEvent, stream, event, 0);
        if (code != 0) {
            throw failure("wait for event", code);
        }
    }

    @Override
    public boolean isNotReady(int code) {
        return code == NOT_READY;
    }

    /** Takes the pending error away, which HIP before 7 would report again for an unrelated call. */
    @Override
    public AcceleratorException failure(String operation, int code) {
        forgetError();
        return HipFailure.hip(library.name(), operation, code, errorName(code), errorText(code));
    }

    /** The vendor's name of a code. */
    String errorName(int code) {
        return getErrorName == null ? "hipError " + code : Native.callText(getErrorName, code);
    }

    private String errorText(int code) {
        return getErrorString == null ? "" : Native.callText(getErrorString, code);
    }

    private void forgetError() {
        if (getLastError != null) {
            Native.call(getLastError);
        }
    }

    @Override
    public long createEvent(boolean timing) {
        Scratch out = Scratch.mine();
        int disableTiming = 2; // hipEventDisableTiming
        check("create event", Native.call(eventCreate, out.address(), timing ? 0 : disableTiming));
        return out.word(0);
    }

    @Override
    public void destroyEvent(long event) {
        check("close event", Native.call(eventDestroy, event));
    }

    @Override
    public void record(long event, long stream) {
        int code = Native.call(eventRecord, event, stream);
        if (code != 0) {
            throw failure("record event", code);
        }
    }

    @Override
    public int queryEvent(long event) {
        return Native.call(eventQuery, event);
    }

    @Override
    public int synchronizeEvent(long event) {
        return Native.call(eventSynchronize, event);
    }

    @Override
    public boolean hasTiming() {
        return eventElapsedTime != null;
    }

    @Override
    public float elapsedMillis(long start, long end) {
        Scratch out = Scratch.mine();
        check(
                "event time",
                Native.call(
                        library.need(eventElapsedTime, "hipEventElapsedTime", "event time"),
                        out.address(),
                        start,
                        end));
        return out.real(0);
    }

    // Graphs.

    @Override
    public Optional<GraphCapture> graphs() {
        boolean complete = streamBeginCapture != null
                && streamEndCapture != null
                && graphInstantiate != null
                && graphLaunch != null
                && graphExecDestroy != null
                && graphDestroy != null;
        return complete ? Optional.of(this) : Optional.empty();
    }

    @Override
    public void beginCapture(long stream) {
        int relaxed = 2; // hipStreamCaptureModeRelaxed
        check("begin capture", Native.call(streamBeginCapture, stream, relaxed));
    }

    @Override
    public long endCapture(long stream) {
        Scratch out = Scratch.mine();
        out.word(0, 0);
        check("end capture", Native.call(streamEndCapture, stream, out.address()));
        return out.word(0);
    }

    @Override
    public void dropCapture(long stream) {
        Scratch out = Scratch.mine();
        out.word(0, 0);
        Native.call(streamEndCapture, stream, out.address());
        long graph = out.word(0);
        forgetError();
        if (graph != 0) {
            Native.call(graphDestroy, graph);
        }
    }

    @Override
    public boolean hasTimedGraphs() {
        return eventRecordWithFlags != null && eventElapsedTime != null;
    }

    @Override
    public void recordAsNode(long event, long stream) {
        int external = 1; // hipEventRecordExternal
        check("record event", Native.call(eventRecordWithFlags, event, stream, external));
    }

    @Override
    public long instantiate(long graph) {
        Scratch out = Scratch.mine();
        check("instantiate graph", Native.call(graphInstantiate, out.address(), graph, 0, 0, 0));
        return out.word(0);
    }

    @Override
    public boolean update(long executable, long graph) {
        if (graphExecUpdate == null) {
            return false;
        }
        Scratch out = Scratch.mine();
        // The node that does not fit, and why.
        boolean done = Native.call(graphExecUpdate, executable, graph, out.address(), out.address() + 8) == 0;
        if (!done) {
            forgetError();
        }
        return done;
    }

    @Override
    public void launch(long executable, long stream) {
        int code = Native.call(graphLaunch, executable, stream);
        if (code != 0) {
            throw failure("launch graph", code);
        }
    }

    @Override
    public void destroyExecutable(long executable) {
        check("close graph", Native.call(graphExecDestroy, executable));
    }

    @Override
    public void destroyGraph(long graph) {
        check("close graph", Native.call(graphDestroy, graph));
    }

    // Pools.

    @Override
    public Optional<MemoryPools> pools() {
        boolean complete = memPoolCreate != null
                && memPoolDestroy != null
                && memPoolSetAccess != null
                && memPoolSetAttribute != null
                && mallocFromPoolAsync != null
                && freeAsync != null;
        return complete ? Optional.of(this) : Optional.empty();
    }

    @Override
    public long createPool(int ordinal, List<Integer> peers) {
        Scratch out = Scratch.mine();
        MemorySegment memory = out.memory();
        memory.asSlice(0, 160).fill((byte) 0);
        // hipMemPoolProps: allocType pinned (1)@0, handleTypes none (0)@4, location {device (1), id}@8; the rest zero,
        // 88 bytes.
        long properties = 64;
        memory.set(ValueLayout.JAVA_INT, properties, 1);
        memory.set(ValueLayout.JAVA_INT, properties + 8, 1);
        memory.set(ValueLayout.JAVA_INT, properties + 12, ordinal);
        check("create memory pool", Native.call(memPoolCreate, out.address(), out.address() + properties));
        long pool = out.word(0);
        // hipMemPoolAttrReleaseThreshold (4): keep everything; the vendor's own default keeps nothing.
        out.word(0, Long.MAX_VALUE);
        check("set up memory pool", Native.call(memPoolSetAttribute, pool, 4, out.address()));
        for (int peer : peers) {
            writeAccess(memory, 0, peer);
            check("open memory pool to device " + peer, Native.call(memPoolSetAccess, pool, out.address(), 1));
        }
        return pool;
    }

    /** hipMemAccessDesc, 12 bytes: location {device (1), id}, flags read and write (3). */
    private static void writeAccess(MemorySegment memory, long at, int device) {
        memory.set(ValueLayout.JAVA_INT, at, 1);
        memory.set(ValueLayout.JAVA_INT, at + 4, device);
        memory.set(ValueLayout.JAVA_INT, at + 8, 3);
    }

    @Override
    public void destroyPool(long pool) {
        check("close memory pool", Native.call(memPoolDestroy, pool));
    }

    @Override
    public long allocateFromPool(long pool, long bytes, long stream) {
        Scratch out = Scratch.mine();
        check(
                "allocate " + bytes + " bytes from a pool",
                Native.call(mallocFromPoolAsync, out.address(), bytes, pool, stream));
        return out.word(0);
    }

    @Override
    public void freeInOrder(long address, long stream) {
        check("free to a pool", Native.call(freeAsync, address, stream));
    }

    // Virtual memory.

    /** Virtual memory, where every function is there. */
    Optional<PageDriver> pages() {
        boolean complete = memGetAllocationGranularity != null
                && memCreate != null
                && memRelease != null
                && memAddressReserve != null
                && memAddressFree != null
                && memMap != null
                && memUnmap != null
                && memSetAccess != null;
        return complete ? Optional.of(this) : Optional.empty();
    }

    /** Writes a hipMemAllocationProp for pinned memory of a device: 32 bytes. */
    private static long allocationProperties(Scratch out, int ordinal) {
        MemorySegment memory = out.memory();
        long at = 64;
        memory.asSlice(at, 32).fill((byte) 0);
        memory.set(ValueLayout.JAVA_INT, at, 1); // hipMemAllocationTypePinned
        memory.set(ValueLayout.JAVA_INT, at + 8, 1); // hipMemLocationTypeDevice
        memory.set(ValueLayout.JAVA_INT, at + 12, ordinal);
        return out.address() + at;
    }

    @Override
    public long pageBytes(int ordinal) {
        Scratch out = Scratch.mine();
        long properties = allocationProperties(out, ordinal);
        int recommended = 1; // hipMemAllocationGranularityRecommended
        check("page size", Native.call(memGetAllocationGranularity, out.address(), properties, recommended));
        return out.word(0);
    }

    @Override
    public long createPages(int ordinal, long bytes) {
        Scratch out = Scratch.mine();
        long properties = allocationProperties(out, ordinal);
        check("create " + bytes + " bytes of memory", Native.call(memCreate, out.address(), bytes, properties, 0));
        return out.word(0);
    }

    @Override
    public void releasePages(long handle) {
        check("release memory", Native.call(memRelease, handle));
    }

    @Override
    public long reserve(long bytes, long alignment) {
        Scratch out = Scratch.mine();
        check(
                "reserve " + bytes + " bytes of addresses",
                Native.call(memAddressReserve, out.address(), bytes, alignment, 0, 0));
        return out.word(0);
    }

    @Override
    public void release(long address, long bytes) {
        check("release addresses", Native.call(memAddressFree, address, bytes));
    }

    @Override
    public void map(long address, long bytes, long handle) {
        check("map", Native.call(memMap, address, bytes, 0, handle, 0));
    }

    @Override
    public void letIn(long address, long bytes, List<Integer> devices) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment access = arena.allocate(12L * devices.size(), 8);
            for (int i = 0; i < devices.size(); i++) {
                writeAccess(access, 12L * i, devices.get(i));
            }
            check(
                    "let devices " + devices + " into memory",
                    Native.call(memSetAccess, address, bytes, access.address(), devices.size()));
        }
    }

    @Override
    public void unmap(long address, long bytes) {
        check("unmap", Native.call(memUnmap, address, bytes));
    }

    // Kernels.

    /** Whether compiled code can be loaded and launched. */
    boolean hasModules() {
        return moduleLoadData != null && moduleGetFunction != null && moduleLaunchKernel != null;
    }

    /** Loads code for the current device. */
    long loadModule(MemorySegment code) {
        Scratch out = Scratch.mine();
        check("load kernels", Native.call(moduleLoadData, out.address(), code.address()));
        return out.word(0);
    }

    /** Unloads it. */
    void unloadModule(long module) {
        if (moduleUnload != null) {
            check("unload kernels", Native.call(moduleUnload, module));
        }
    }

    /** A kernel of a module. */
    long function(long module, MemorySegment name) {
        Scratch out = Scratch.mine();
        check("find kernel", Native.call(moduleGetFunction, out.address(), module, name.address()));
        return out.word(0);
    }

    /**
     * Launches a kernel.
     *
     * @param arguments address of an array of pointers to the arguments, read before the call returns
     */
    void launchKernel(
            long function, int gridX, int gridY, int gridZ, int blockX, int blockY, long stream, long arguments) {
        int code = Native.call(
                moduleLaunchKernel, function, gridX, gridY, gridZ, blockX, blockY, 1, 0, stream, arguments, 0);
        if (code != 0) {
            throw failure("launch kernel", code);
        }
    }
}
