// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda.ffi;

import io.weft.api.AcceleratorException;
import io.weft.nativehal.driver.DeviceRuntime;
import io.weft.nativehal.driver.GraphCapture;
import io.weft.nativehal.driver.MemoryPools;
import io.weft.nativehal.driver.Route;
import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.ffi.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;

/**
 * The CUDA runtime, libcudart. Handles and addresses are numbers. Functions act on the calling thread's current device where the vendor's do. Every failure is an
 * {@link AcceleratorException}.
 *
 * <p>Source of signatures and numbers: cuda_runtime_api.h and driver_types.h of CUDA 13.0; none of the functions used differs from CUDA 12.
 */
public final class CudaRuntime implements DeviceRuntime, GraphCapture, MemoryPools {
    /** File names, the newest first. */
    public static final List<String> NAMES =
            List.of("libcudart.so.13", "libcudart.so.12", "libcudart.so", "libcudart.so.14");

    /** {@code cudaErrorNotReady}. */
    private static final int NOT_READY = 600;
    /** {@code cudaErrorPeerAccessAlreadyEnabled}. */
    private static final int ALREADY_ENABLED = 704;
    /** {@code cudaMemcpyDefault}: the direction follows from the addresses. */
    private static final int COPY_DEFAULT = 4;
    /** {@code cudaStreamLegacy}: the default stream that joins blocking streams. */
    private static final long DEFAULT_STREAM = 1;

    /** Attributes of a device: driver_types.h, enum cudaDeviceAttr. */
    public enum Attribute {
        CLOCK_KHZ(13),
        COMPUTE_UNITS(16),
        INTEGRATED(18),
        ECC(32),
        MEMORY_CLOCK_KHZ(36),
        MEMORY_BUS_BITS(37),
        L2_BYTES(38),
        COPY_ENGINES(40),
        UNIFIED_ADDRESSING(41),
        CAPABILITY_MAJOR(75),
        CAPABILITY_MINOR(76),
        STREAM_PRIORITIES(78),
        SHARED_BYTES_PER_UNIT(81),
        MEMORY_POOLS(115),
        HOST_NUMA(134);

        private final int code;

        Attribute(int code) {
            this.code = code;
        }
    }

    private final NativeLibrary library;
    private final CudaDriverApi driver;
    private final MemorySegment getErrorName;
    private final MemorySegment getErrorString;
    private final MemorySegment getLastError;
    private final MemorySegment runtimeGetVersion;
    private final MemorySegment driverGetVersion;
    private final MemorySegment getDeviceCount;
    private final MemorySegment setDevice;
    private final MemorySegment deviceGetAttribute;
    private final MemorySegment deviceGetPciBusId;
    private final MemorySegment deviceSynchronize;
    private final MemorySegment getStreamPriorityRange;
    private final MemorySegment canAccessPeer;
    private final MemorySegment enablePeerAccess;
    private final MemorySegment malloc;
    private final MemorySegment free;
    private final MemorySegment hostAlloc;
    private final MemorySegment freeHost;
    private final MemorySegment memGetInfo;
    private final MemorySegment memcpyAsync;
    private final MemorySegment memcpy2dAsync;
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
    private final MemorySegment graphGetNodes;
    private final MemorySegment memPoolCreate;
    private final MemorySegment memPoolDestroy;
    private final MemorySegment memPoolSetAccess;
    private final MemorySegment memPoolSetAttribute;
    private final MemorySegment mallocFromPoolAsync;
    private final MemorySegment freeAsync;

    /**
     * Looks every function up; a missing one is only an error when it is called.
     *
     * @param driver fills, which the runtime has for bytes alone
     */
    public CudaRuntime(NativeLibrary library, CudaDriverApi driver) {
        this.library = library;
        this.driver = driver;
        getErrorName = library.find("cudaGetErrorName");
        getErrorString = library.find("cudaGetErrorString");
        getLastError = library.find("cudaGetLastError");
        runtimeGetVersion = library.find("cudaRuntimeGetVersion");
        driverGetVersion = library.find("cudaDriverGetVersion");
        getDeviceCount = library.find("cudaGetDeviceCount");
        setDevice = library.find("cudaSetDevice");
        deviceGetAttribute = library.find("cudaDeviceGetAttribute");
        deviceGetPciBusId = library.find("cudaDeviceGetPCIBusId");
        deviceSynchronize = library.find("cudaDeviceSynchronize");
        getStreamPriorityRange = library.find("cudaDeviceGetStreamPriorityRange");
        canAccessPeer = library.find("cudaDeviceCanAccessPeer");
        enablePeerAccess = library.find("cudaDeviceEnablePeerAccess");
        malloc = library.find("cudaMalloc");
        free = library.find("cudaFree");
        hostAlloc = library.find("cudaHostAlloc");
        freeHost = library.find("cudaFreeHost");
        memGetInfo = library.find("cudaMemGetInfo");
        memcpyAsync = library.find("cudaMemcpyAsync");
        memcpy2dAsync = library.find("cudaMemcpy2DAsync");
        streamCreate = library.find("cudaStreamCreateWithPriority");
        streamDestroy = library.find("cudaStreamDestroy");
        streamSynchronize = library.find("cudaStreamSynchronize");
        streamQuery = library.find("cudaStreamQuery");
        streamWaitEvent = library.find("cudaStreamWaitEvent");
        streamBeginCapture = library.find("cudaStreamBeginCapture");
        streamEndCapture = library.find("cudaStreamEndCapture");
        eventCreate = library.find("cudaEventCreateWithFlags");
        eventDestroy = library.find("cudaEventDestroy");
        eventRecord = library.find("cudaEventRecord");
        eventRecordWithFlags = library.find("cudaEventRecordWithFlags");
        eventQuery = library.find("cudaEventQuery");
        eventSynchronize = library.find("cudaEventSynchronize");
        eventElapsedTime = library.find("cudaEventElapsedTime");
        // cudaGraphInstantiate changed its parameters in CUDA 12; the variant with flags is the same in all versions.
        graphInstantiate = library.find("cudaGraphInstantiateWithFlags");
        graphExecUpdate = library.find("cudaGraphExecUpdate");
        graphLaunch = library.find("cudaGraphLaunch");
        graphExecDestroy = library.find("cudaGraphExecDestroy");
        graphDestroy = library.find("cudaGraphDestroy");
        graphGetNodes = library.find("cudaGraphGetNodes");
        memPoolCreate = library.find("cudaMemPoolCreate");
        memPoolDestroy = library.find("cudaMemPoolDestroy");
        memPoolSetAccess = library.find("cudaMemPoolSetAccess");
        memPoolSetAttribute = library.find("cudaMemPoolSetAttribute");
        mallocFromPoolAsync = library.find("cudaMallocFromPoolAsync");
        freeAsync = library.find("cudaFreeAsync");
    }

    /** The library behind it. */
    public NativeLibrary library() {
        return library;
    }

    /** Functions without which no platform can be opened, by name, that are not there. */
    public List<String> missingEssentials() {
        List<String> essentials = List.of(
                "cudaGetDeviceCount",
                "cudaSetDevice",
                "cudaDeviceGetAttribute",
                "cudaDeviceSynchronize",
                "cudaMalloc",
                "cudaFree",
                "cudaMemcpyAsync",
                "cudaStreamCreateWithPriority",
                "cudaStreamDestroy",
                "cudaStreamSynchronize",
                "cudaStreamQuery",
                "cudaStreamWaitEvent",
                "cudaEventCreateWithFlags",
                "cudaEventDestroy",
                "cudaEventRecord",
                "cudaEventQuery",
                "cudaEventSynchronize");
        return essentials.stream().filter(library.missing()::contains).toList();
    }

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
    public Optional<MemoryPools> pools() {
        boolean complete = memPoolCreate != null
                && memPoolDestroy != null
                && memPoolSetAccess != null
                && memPoolSetAttribute != null
                && mallocFromPoolAsync != null
                && freeAsync != null;
        return complete ? Optional.of(this) : Optional.empty();
    }

    /** Makes the context, which some versions put off. */
    @Override
    public void prepareDevice() {
        free(0);
    }

    @Override
    public long defaultStream() {
        return DEFAULT_STREAM;
    }

    /** cudaDevAttrMaxPitch on every device so far. */
    @Override
    public long maxPitch() {
        return Integer.MAX_VALUE;
    }

    @Override
    public void fill(long address, long pitch, int bits, int elementBytes, long columns, long rows, long stream) {
        driver.fill(address, pitch, bits, elementBytes, columns, rows, stream);
    }

    @Override
    public boolean hasTiming() {
        return eventElapsedTime != null;
    }

    private void check(String operation, int code) {
        if (code != 0) {
            throw failure(operation, code);
        }
    }

    /** The exception for a code. Takes the pending error away, which the vendor would report again for an unrelated call. */
    @Override
    public AcceleratorException failure(String operation, int code) {
        if (getLastError != null) {
            Native.call(getLastError);
        }
        return VendorFailure.cuda(
                library.name(),
                operation,
                code,
                getErrorName == null ? "cudaError " + code : Native.callText(getErrorName, code),
                getErrorString == null ? "" : Native.callText(getErrorString, code));
    }

    /** Version of the runtime, 1000 * major + 10 * minor; 0 when unknown. */
    public int runtimeVersion() {
        return version(runtimeGetVersion);
    }

    /** Version of CUDA that the driver speaks, 1000 * major + 10 * minor; 0 when there is no driver. */
    public int driverVersion() {
        return version(driverGetVersion);
    }

    private static int version(MemorySegment function) {
        Scratch out = Scratch.mine();
        out.integer(0, 0);
        return function == null || Native.call(function, out.address()) != 0 ? 0 : out.integer(0);
    }

    /** Visible devices. */
    public int deviceCount() {
        Scratch out = Scratch.mine();
        check("count devices", Native.call(getDeviceCount, out.address()));
        return out.integer(0);
    }

    @Override
    public void device(int ordinal) {
        int code = Native.call(setDevice, ordinal);
        if (code != 0) {
            throw failure("select device " + ordinal, code);
        }
    }

    /** An attribute; the fallback where the runtime does not know it. */
    public int attribute(Attribute attribute, int ordinal, int fallback) {
        Scratch out = Scratch.mine();
        if (Native.call(deviceGetAttribute, out.address(), attribute.code, ordinal) != 0) {
            if (getLastError != null) {
                Native.call(getLastError);
            }
            return fallback;
        }
        return out.integer(0);
    }

    /** PCI address such as {@code 0000:0C:00.0}; empty when unknown. */
    public String busId(int ordinal) {
        Scratch out = Scratch.mine();
        out.word(0, 0);
        if (deviceGetPciBusId == null || Native.call(deviceGetPciBusId, out.address(), 64, ordinal) != 0) {
            return "";
        }
        return Native.text(out.address());
    }

    /** Waits for everything issued to the current device. */
    public void synchronizeDevice() {
        check("synchronize device", Native.call(deviceSynchronize));
    }

    @Override
    public int[] priorities() {
        Scratch out = Scratch.mine();
        if (getStreamPriorityRange == null
                || Native.call(getStreamPriorityRange, out.address(), out.address() + 8) != 0) {
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
        int code = Native.call(library.need(enablePeerAccess, "cudaDeviceEnablePeerAccess", "peer access"), peer, 0);
        if (code == ALREADY_ENABLED) {
            if (getLastError != null) {
                Native.call(getLastError);
            }
            return;
        }
        check("enable peer access to device " + peer, code);
    }

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
        int portable = 1; // cudaHostAllocPortable
        check(
                "allocate " + bytes + " bytes of pinned host memory",
                Native.call(
                        library.need(hostAlloc, "cudaHostAlloc", "pinned host memory"),
                        out.address(),
                        bytes,
                        portable));
        return out.word(0);
    }

    @Override
    public void freeHost(long address) {
        check(
                "free pinned host memory",
                Native.call(library.need(freeHost, "cudaFreeHost", "pinned host memory"), address));
    }

    @Override
    public long[] memoryInfo() {
        Scratch out = Scratch.mine();
        check(
                "memory info",
                Native.call(
                        library.need(memGetInfo, "cudaMemGetInfo", "memory info"), out.address(), out.address() + 8));
        return new long[] {out.word(0), out.word(8)};
    }

    /** Copies a contiguous range; the direction follows from the addresses. Peer copies go this way too: the call made for them is refused while a graph is captured. */
    @Override
    public void copy(long destination, long source, long bytes, Route route, boolean engine, long stream) {
        int code = Native.call(memcpyAsync, destination, source, bytes, COPY_DEFAULT, stream);
        if (code != 0) {
            throw failure("copy of " + bytes + " bytes", code);
        }
    }

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
                library.need(memcpy2dAsync, "cudaMemcpy2DAsync", "strided copy"),
                destination,
                destinationPitch,
                source,
                sourcePitch,
                width,
                rows,
                COPY_DEFAULT,
                stream);
        if (code != 0) {
            throw failure("strided copy of " + rows + " rows of " + width + " bytes", code);
        }
    }

    @Override
    public long createStream(boolean blocking, int priority) {
        Scratch out = Scratch.mine();
        int nonBlocking = 1; // cudaStreamNonBlocking
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
    public boolean isNotReady(int code) {
        return code == NOT_READY;
    }

    @Override
    public void waitEvent(long stream, long event) {
        int code = Native.call(streamWaitEvent, stream, event, 0);
        if (code != 0) {
            throw failure("wait for event", code);
        }
    }

    @Override
    public void beginCapture(long stream) {
        int relaxed = 2; // cudaStreamCaptureModeRelaxed
        check(
                "begin capture",
                Native.call(library.need(streamBeginCapture, "cudaStreamBeginCapture", "graph"), stream, relaxed));
    }

    @Override
    public long endCapture(long stream) {
        Scratch out = Scratch.mine();
        out.word(0, 0);
        check(
                "end capture",
                Native.call(library.need(streamEndCapture, "cudaStreamEndCapture", "graph"), stream, out.address()));
        return out.word(0);
    }

    @Override
    public void dropCapture(long stream) {
        Scratch out = Scratch.mine();
        out.word(0, 0);
        Native.call(streamEndCapture, stream, out.address());
        long graph = out.word(0);
        if (getLastError != null) {
            Native.call(getLastError);
        }
        if (graph != 0) {
            Native.call(graphDestroy, graph);
        }
    }

    @Override
    public long createEvent(boolean timing) {
        Scratch out = Scratch.mine();
        int disableTiming = 2; // cudaEventDisableTiming
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
    public void recordAsNode(long event, long stream) {
        int external = 1; // cudaEventRecordExternal
        check(
                "record event",
                Native.call(
                        library.need(eventRecordWithFlags, "cudaEventRecordWithFlags", "timed graph"),
                        event,
                        stream,
                        external));
    }

    @Override
    public boolean hasTimedGraphs() {
        return eventRecordWithFlags != null && eventElapsedTime != null;
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
    public float elapsedMillis(long start, long end) {
        Scratch out = Scratch.mine();
        check(
                "event time",
                Native.call(
                        library.need(eventElapsedTime, "cudaEventElapsedTime", "event time"),
                        out.address(),
                        start,
                        end));
        return out.real(0);
    }

    @Override
    public long instantiate(long graph) {
        Scratch out = Scratch.mine();
        check("instantiate graph", Native.call(graphInstantiate, out.address(), graph, 0));
        return out.word(0);
    }

    @Override
    public boolean update(long executable, long graph) {
        if (graphExecUpdate == null) {
            return false;
        }
        Scratch out = Scratch.mine();
        // CUDA 12 and 13: a result structure of 24 bytes. A runtime of CUDA 11 is not accepted.
        boolean done = Native.call(graphExecUpdate, executable, graph, out.address()) == 0;
        if (!done && getLastError != null) {
            Native.call(getLastError);
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

    /** Number of nodes of a captured graph; -1 when the runtime cannot tell. */
    public long nodes(long graph) {
        Scratch out = Scratch.mine();
        return graphGetNodes == null || Native.call(graphGetNodes, graph, 0, out.address()) != 0 ? -1 : out.word(0);
    }

    @Override
    public long createPool(int ordinal, List<Integer> peers) {
        Scratch out = Scratch.mine();
        MemorySegment memory = out.memory();
        memory.asSlice(0, 160).fill((byte) 0);
        // cudaMemPoolProps: allocType pinned (1), handleTypes none (0), location {device (1), id}; the rest zero, 88
        // bytes.
        long properties = 64;
        memory.set(ValueLayout.JAVA_INT, properties, 1);
        memory.set(ValueLayout.JAVA_INT, properties + 8, 1);
        memory.set(ValueLayout.JAVA_INT, properties + 12, ordinal);
        check(
                "create memory pool",
                Native.call(
                        library.need(memPoolCreate, "cudaMemPoolCreate", "memory pool"),
                        out.address(),
                        out.address() + properties));
        long pool = out.word(0);
        // cudaMemPoolAttrReleaseThreshold (4): keep everything.
        out.word(0, Long.MAX_VALUE);
        check("set up memory pool", Native.call(memPoolSetAttribute, pool, 4, out.address()));
        for (int peer : peers) {
            // cudaMemAccessDesc: location {device (1), id}, flags read and write (3).
            memory.set(ValueLayout.JAVA_INT, 0, 1);
            memory.set(ValueLayout.JAVA_INT, 4, peer);
            memory.set(ValueLayout.JAVA_INT, 8, 3);
            check("open memory pool to device " + peer, Native.call(memPoolSetAccess, pool, out.address(), 1));
        }
        return pool;
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
}
