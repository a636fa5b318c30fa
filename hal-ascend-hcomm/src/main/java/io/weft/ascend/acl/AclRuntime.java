// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.AcceleratorException;
import io.weft.nativehal.driver.DeviceRuntime;
import io.weft.nativehal.driver.GraphCapture;
import io.weft.nativehal.driver.MemoryPools;
import io.weft.nativehal.driver.Route;
import io.weft.nativehal.ffi.Scratch;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * The vendor's runtime as the shared layer wants it. What differs is put straight here: calls are made by the device's own thread; waits are questions asked again and again, so that no wait holds that thread; event states, which say the opposite of
 * stream states; streams that join the default stream, which the vendor's do not.
 *
 * <p>Time stamps are left out: the vendor compares only events of one stream.
 */
final class AclRuntime implements DeviceRuntime {
    /** Our own code for work that is still going on; the vendor says it with a status instead. */
    private static final int NOT_READY = -1;

    private static final int HUGE_FIRST = 0;
    private static final int HBM = 1;
    private static final int FAST_LAUNCH_AND_SYNC = 0x3;
    private static final int EVENT_SYNC = 0x1;
    /** What every allocation is aligned to; the vendor promises 64 bytes, devices of this library at least 128. */
    static final long ALIGNMENT = 512;

    private static final long PAGE = 2L << 20;
    private static final long POLL_NANOS = 20_000;

    private final AclCalls calls;
    private final Map<Long, Long> blocks = new ConcurrentHashMap<>();
    /** The device of every stream and event. */
    private final Map<Long, Integer> homes = new ConcurrentHashMap<>();

    private final Set<Long> recorded = ConcurrentHashMap.newKeySet();
    private final Map<Integer, DefaultStream> defaults = new ConcurrentHashMap<>();
    private final Map<Long, DefaultStream> blocking = new ConcurrentHashMap<>();
    private final Map<Integer, FillPatterns> patterns = new ConcurrentHashMap<>();
    private final StreamScratch scratch = new StreamScratch(this);

    AclRuntime(AclCalls calls) {
        this.calls = calls;
    }

    AclCalls calls() {
        return calls;
    }

    /** Device memory that belongs to streams. */
    StreamScratch scratch() {
        return scratch;
    }

    /** Clears memory, on a stream that is joined already. */
    void clear(long address, long bytes, long stream) {
        calls.check("clear", AclFunction.MEMSET_ASYNC, address, bytes, 0, bytes, stream);
    }

    /** Calls a function on the current device's thread with a place for one 64-bit result first or last; gives the result. */
    private long result(String operation, AclFunction function, boolean first, long... rest) {
        return calls.on(() -> {
            Scratch out = Scratch.mine();
            out.word(0, 0);
            long[] arguments = new long[rest.length + 1];
            System.arraycopy(rest, 0, arguments, first ? 1 : 0, rest.length);
            arguments[first ? 0 : rest.length] = out.address();
            int code = AclCalls.invoke(calls.libraries().address(operation, function), arguments);
            if (code != 0) {
                throw failure(operation, code);
            }
            return out.word(0);
        });
    }

    // Devices.

    @Override
    public void device(int ordinal) {
        calls.device(ordinal);
    }

    @Override
    public void prepareDevice() {
        calls.check("prepare device", AclFunction.SYNCHRONIZE_DEVICE);
        defaults.computeIfAbsent(calls.device(), ignored -> new DefaultStream(this, newStream()));
    }

    /** The vendor documents priorities as reserved. */
    @Override
    public int[] priorities() {
        return new int[] {0, 0};
    }

    @Override
    public boolean canAccess(int ordinal, int peer) {
        return calls.libraries().find(AclFunction.CAN_ACCESS_PEER).isPresent()
                && (int) result("ask for peer access", AclFunction.CAN_ACCESS_PEER, true, ordinal, peer) != 0;
    }

    /** One way: lets the current device in. */
    @Override
    public void enablePeerAccess(int peer) {
        calls.check("enable peer access", AclFunction.ENABLE_PEER_ACCESS, peer, 0);
    }

    // Memory.

    @Override
    public long allocate(long bytes) {
        // Large blocks may become windows, which start at a page.
        long alignment = bytes >= PAGE ? PAGE : ALIGNMENT;
        AclFunction function =
                calls.libraries().find(AclFunction.MALLOC_ALIGN_32).isPresent()
                        ? AclFunction.MALLOC_ALIGN_32
                        : AclFunction.MALLOC;
        long block = result("allocate", function, true, bytes + alignment, HUGE_FIRST);
        long address = (block + alignment - 1) & -alignment;
        blocks.put(address, block);
        return address;
    }

    @Override
    public void free(long address) {
        Long block = blocks.remove(address);
        if (block != null) {
            calls.check("free", AclFunction.FREE, block);
        }
    }

    @Override
    public long allocateHost(long bytes) {
        long block = result("allocate", AclFunction.MALLOC_HOST, true, bytes + ALIGNMENT);
        long address = (block + ALIGNMENT - 1) & -ALIGNMENT;
        blocks.put(address, block);
        return address;
    }

    @Override
    public void freeHost(long address) {
        Long block = blocks.remove(address);
        if (block != null) {
            calls.check("free", AclFunction.FREE_HOST, block);
        }
    }

    @Override
    public long[] memoryInfo() {
        return calls.on(() -> {
            Scratch out = Scratch.mine();
            int code = AclCalls.invoke(
                    calls.libraries().address("read memory", AclFunction.GET_MEM_INFO),
                    HBM,
                    out.address(),
                    out.address() + 8);
            if (code != 0) {
                throw failure("read memory", code);
            }
            return new long[] {out.word(0), out.word(8)};
        });
    }

    @Override
    public Optional<MemoryPools> pools() {
        return Optional.empty();
    }

    // Data.

    private static int kind(Route route) {
        return switch (route) {
            case HOST_TO_HOST -> 0;
            case HOST_TO_DEVICE -> 1;
            case DEVICE_TO_HOST -> 2;
            case WITHIN_DEVICE, BETWEEN_DEVICES -> 3;
        };
    }

    @Override
    public void copy(long destination, long source, long bytes, Route route, boolean engine, long stream) {
        join(stream);
        move(destination, source, bytes, route, stream);
    }

    /** A copy on a stream that is joined already. */
    void move(long destination, long source, long bytes, Route route, long stream) {
        calls.check("copy", AclFunction.MEMCPY_ASYNC, destination, bytes, source, bytes, kind(route), stream);
    }

    /** Row by row: the vendor's rectangles have narrow limits. */
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
        join(stream);
        for (long row = 0; row < rows; row++) {
            move(destination + row * destinationPitch, source + row * sourcePitch, width, route, stream);
        }
    }

    @Override
    public long maxPitch() {
        return Long.MAX_VALUE;
    }

    @Override
    public void fill(long address, long pitch, int bits, int elementBytes, long columns, long rows, long stream) {
        join(stream);
        long width = columns * elementBytes;
        int low = bits & 0xff;
        boolean oneByte = elementBytes == 1 || bits == low * (elementBytes == 2 ? 0x0101 : 0x0101_0101);
        for (long row = 0; row < rows; row++) {
            long at = address + row * pitch;
            if (oneByte) {
                calls.check("fill", AclFunction.MEMSET_ASYNC, at, width, low, width, stream);
            } else {
                patterns().fill(at, bits, elementBytes, width, stream);
            }
        }
    }

    private FillPatterns patterns() {
        return patterns.computeIfAbsent(calls.device(), ignored -> new FillPatterns(this));
    }

    // Streams.

    private long newStream() {
        return owned(result("create stream", AclFunction.CREATE_STREAM_WITH_CONFIG, true, 0, FAST_LAUNCH_AND_SYNC));
    }

    private long owned(long handle) {
        homes.put(handle, calls.device());
        return handle;
    }

    /** The order of work that is about to be issued: after the default stream, or after all that join it. */
    void join(long stream) {
        DefaultStream joins = blocking.get(stream);
        if (joins != null) {
            joins.beforeBlocking(stream);
            return;
        }
        DefaultStream own = defaults.get(calls.device());
        if (own != null && own.handle() == stream) {
            own.beforeDefault();
        }
    }

    @Override
    public long defaultStream() {
        return defaults.get(calls.device()).handle();
    }

    @Override
    public long createStream(boolean joinsDefault, int priority) {
        long stream = newStream();
        if (joinsDefault) {
            DefaultStream joined = defaults.get(calls.device());
            joined.add(stream);
            blocking.put(stream, joined);
        }
        return stream;
    }

    @Override
    public void destroyStream(long stream) {
        DefaultStream joined = blocking.remove(stream);
        if (joined != null) {
            joined.remove(stream);
        }
        calls.at(homes.remove(stream), () -> {
            scratch.release(stream);
            calls.check("close stream", AclFunction.DESTROY_STREAM, stream);
            return null;
        });
    }

    @Override
    public int synchronizeStream(long stream) {
        int code = queryStream(stream);
        while (code == NOT_READY) {
            LockSupport.parkNanos(POLL_NANOS);
            code = queryStream(stream);
        }
        return code;
    }

    @Override
    public int queryStream(long stream) {
        return status(AclFunction.STREAM_QUERY, stream, true);
    }

    private int status(AclFunction function, long handle, boolean isStream) {
        return calls.at(
                homes.get(handle),
                () -> calls.on(() -> {
                    Scratch out = Scratch.mine();
                    out.integer(0, 0);
                    int code = AclCalls.invoke(calls.libraries().address("query", function), handle, out.address());
                    if (code != 0) {
                        return code;
                    }
                    boolean complete = isStream
                            ? AclStatus.streamIsComplete(out.integer(0))
                            : AclStatus.eventIsRecorded(out.integer(0));
                    return complete ? 0 : NOT_READY;
                }));
    }

    @Override
    public void waitEvent(long stream, long event) {
        join(stream);
        if (recorded.contains(event)) {
            calls.check("wait", AclFunction.STREAM_WAIT_EVENT, stream, event);
        }
    }

    @Override
    public boolean isNotReady(int code) {
        return code == NOT_READY;
    }

    @Override
    public AcceleratorException failure(String operation, int code) {
        return calls.failure(operation, code);
    }

    // Events.

    @Override
    public long createEvent(boolean timing) {
        AclFunction function =
                calls.libraries().find(AclFunction.CREATE_EVENT_EX_WITH_FLAG).isPresent()
                        ? AclFunction.CREATE_EVENT_EX_WITH_FLAG
                        : AclFunction.CREATE_EVENT_WITH_FLAG;
        return owned(result("create event", function, true, EVENT_SYNC));
    }

    @Override
    public void destroyEvent(long event) {
        recorded.remove(event);
        calls.at(homes.remove(event), () -> {
            calls.check("close event", AclFunction.DESTROY_EVENT, event);
            return null;
        });
    }

    @Override
    public void record(long event, long stream) {
        join(stream);
        mark(event, stream);
    }

    /** A record on a stream that is joined already. */
    void mark(long event, long stream) {
        calls.check("record", AclFunction.RECORD_EVENT, event, stream);
        recorded.add(event);
    }

    @Override
    public int queryEvent(long event) {
        return recorded.contains(event) ? status(AclFunction.QUERY_EVENT_STATUS, event, false) : 0;
    }

    @Override
    public int synchronizeEvent(long event) {
        int code = queryEvent(event);
        while (code == NOT_READY) {
            LockSupport.parkNanos(POLL_NANOS);
            code = queryEvent(event);
        }
        return code;
    }

    @Override
    public boolean hasTiming() {
        return false;
    }

    @Override
    public float elapsedMillis(long start, long end) {
        throw new IllegalStateException("there are no time stamps");
    }

    @Override
    public Optional<GraphCapture> graphs() {
        return Optional.empty();
    }
}
