// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.api.Figures;
import io.weft.api.Stream;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Memory of one device in stream order: allocate and free are ordered like work on their stream. What was freed on a stream is reusable on that stream at once,
 * and on any other only once the freeing stream has passed that point.
 *
 * <p>Closing a buffer frees it on the stream it was allocated on; {@link #free} names another one, which the caller has ordered behind the buffer's uses, and
 * {@link #recordUse} tells of a use on another one that nothing orders. A double free and a foreign free are errors which name the buffer, always; guard bytes,
 * use after free and the place of an allocation belong to {@link PoolOptions#checking()}.
 *
 * <p>Idle memory goes back to the device after {@link PoolOptions#idleNanos()} of the platform's clock: on a measured platform by a timer of its own, on a model
 * when the pool is used, since virtual time stands still otherwise.
 *
 * <p>Safe for any thread. Close it before its platform.
 */
public final class DevicePool implements AutoCloseable {
    /** Calls between two looks at the clock. */
    private static final int UPKEEP_CALLS = 64;

    private final Device device;
    private final SegmentSource source;
    private final PoolOptions options;
    private final StreamTable streams;
    private final PoolCore core;
    private final PoolChecks checks;
    private final ScheduledExecutorService trimmer;
    private volatile PoolRecording.Source recording;
    private volatile PoolRecording iterations;
    private volatile PressureHook pressure;
    private volatile PoolLevel.Band lastBand = PoolLevel.Band.BELOW;
    private volatile boolean closed;
    /** Not exact under contention, which does not matter. */
    private int calls;

    private long lastUpkeep;

    private DevicePool(Device device, SegmentSource source, PoolOptions options) {
        this.device = device;
        this.source = source;
        this.options = options;
        this.streams = new StreamTable(device);
        this.core =
                new PoolCore(new RecordedPages(source, () -> recording, device.platform()::nanoTime), streams, options);
        this.checks = options.checking() ? new PoolChecks(device, source, core, options) : null;
        this.lastUpkeep = device.platform().nanoTime();
        this.trimmer = device.platform().figures() == Figures.MEASURED ? startTrimmer() : null;
    }

    private ScheduledExecutorService startTrimmer() {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform()
                .daemon()
                .name("weft-pool-trimmer-" + options.name())
                .factory());
        long every = Math.max(10_000_000L, options.idleNanos() / 3);
        var _ = timer.scheduleWithFixedDelay(this::upkeep, every, every, TimeUnit.NANOSECONDS);
        return timer;
    }

    /** A pool of the device's own memory: in pages behind one address range where the platform can, in segments otherwise. */
    public static DevicePool open(Device device, PoolOptions options) {
        return open(device, SegmentSource.best(device), options);
    }

    /** A pool over a source, which it owns from now on. */
    public static DevicePool open(Device device, SegmentSource source, PoolOptions options) {
        return new DevicePool(
                Objects.requireNonNull(device), Objects.requireNonNull(source), Objects.requireNonNull(options));
    }

    /** Its device. */
    public Device device() {
        return device;
    }

    /** How it behaves. */
    public PoolOptions options() {
        return options;
    }

    /**
     * Memory for use on a stream, not zeroed.
     *
     * @param bytes 1 or more
     * @throws AcceleratorException {@link ErrorCode#OUT_OF_MEMORY} with the largest holders; {@link ErrorCode#INVALID_ARGUMENT}; {@link ErrorCode#WRONG_DEVICE}
     */
    public Buffer allocate(long bytes, Stream stream) {
        PoolResult result = tryAllocate(bytes, stream);
        if (result.isAllocated()) {
            return result.buffer();
        }
        PoolStatistics now = core.statistics();
        StringBuilder holders = new StringBuilder();
        for (PoolCore.Live live : core.live(5)) {
            holders.append(holders.isEmpty() ? "; the largest hold " : ", ")
                    .append(live.bytes())
                    .append(" bytes");
            if (checks != null) {
                holders.append(checks.siteOf(live.address()));
            }
        }
        throw new AcceleratorException(
                ErrorCode.OUT_OF_MEMORY,
                "allocate",
                "pool " + options.name() + " of " + device + " cannot give " + bytes + " bytes ("
                        + (result.code() == PoolResult.Code.LIMIT_REACHED
                                ? "its limit is " + options.hardLimit() + " bytes"
                                : source.refusal()
                                        .map(AcceleratorException::detail)
                                        .orElse("the device has no more"))
                        + "): " + now.allocatedBytes() + " bytes in " + now.liveBuffers() + " buffers are out, "
                        + now.reservedBytes() + " reserved" + holders,
                "free buffers or raise the limit",
                null,
                source.refusal().orElse(null));
    }

    /** The same with a result code instead of an exception where memory is exhausted. */
    public PoolResult tryAllocate(long bytes, Stream stream) {
        requireOpen("allocate");
        requireDevice("allocate", stream);
        if (stream.isClosed()) {
            throw new AcceleratorException(ErrorCode.CLOSED, "allocate", "the stream was closed before");
        }
        if (++calls % UPKEEP_CALLS == 0 && trimmer == null) {
            upkeep();
        }
        PoolResult result = tryOnce(bytes, stream);
        PressureHook hook = pressure;
        for (int attempt = 1; !result.isAllocated() && hook != null && hook.makeRoom(bytes, attempt); attempt++) {
            requireOpen("allocate");
            result = tryOnce(bytes, stream);
        }
        return result;
    }

    private PoolResult tryOnce(long bytes, Stream stream) {
        int number = streams.number(stream);
        if (checks != null) {
            return checks.allocate(this, bytes, number, stream);
        }
        long address = core.allocate(bytes, number);
        if (address < 0) {
            return refusal(address);
        }
        Buffer buffer = source.buffer(address, bytes, new PooledBlock(this, address, number, null));
        PoolRecording.Source to = recording;
        if (to != null) {
            to.allocate(address, bytes, number, device.platform().nanoTime());
        }
        return PoolResult.of(buffer);
    }

    static PoolResult refusal(long code) {
        return code == PoolCore.LIMIT_REACHED ? PoolResult.LIMIT_REACHED : PoolResult.DEVICE_EXHAUSTED;
    }

    /**
     * Frees a buffer in the order of a stream, and closes it.
     *
     * @param stream the one behind whose work issued so far the memory is free; other streams' uses are ordered before that by the caller
     * @throws AcceleratorException {@link ErrorCode#CLOSED} for a double free, {@link ErrorCode#INVALID_ARGUMENT} for a buffer that is not this pool's
     */
    public void free(Buffer buffer, Stream stream) {
        requireOpen("free");
        requireDevice("free", stream);
        PooledBlock block = own("free", buffer);
        if (!buffer.isClosed()) {
            block.stream = streams.number(stream);
        }
        buffer.close();
    }

    void release(PooledBlock block, Buffer buffer) {
        if (closed) {
            return;
        }
        PoolRecording.Source to = recording;
        if (to != null) {
            to.free(block.address, block.stream, device.platform().nanoTime());
        }
        if (checks != null) {
            checks.release(block, buffer);
            return;
        }
        core.free(block.address, block.stream);
    }

    /**
     * Tells that work issued to another stream uses a buffer: once freed, its memory is not reused before everything that was issued to that stream until the free
     * is done, too.
     */
    public void recordUse(Buffer buffer, Stream stream) {
        requireOpen("record use");
        buffer.requireOpen("record use");
        requireDevice("record use", stream);
        PooledBlock block = own("record use", buffer);
        int number = streams.number(stream);
        core.recordUse(block.address, number);
        PoolRecording.Source to = recording;
        if (to != null) {
            to.use(block.address, number, device.platform().nanoTime());
        }
    }

    /** Tells that an iteration (a training step, a request batch) has ended: the pool learns its layout, and judges idle memory by it. */
    public void nextIteration() {
        requireOpen("next iteration");
        long now = device.platform().nanoTime();
        lastUpkeep = now;
        core.nextIteration(now);
        PoolRecording to = iterations;
        if (to != null) {
            to.nextIteration(now);
        }
        PressureHook hook = pressure;
        if (hook != null) {
            PoolLevel level = level();
            if (level.band() != lastBand) {
                lastBand = level.band();
                hook.levelChanged(level);
            }
        }
    }

    /** Tells a hook of refusals before they are made, and of the level's band at the end of iterations; null for no hook. */
    public void onPressure(PressureHook hook) {
        pressure = hook;
        lastBand = PoolLevel.Band.BELOW;
    }

    /** How full the pool is: what is out over its soft limit, or over the device's memory where that is less. Walks the pool, so not for hot paths. */
    public PoolLevel level() {
        long capacity = Math.min(options.softLimit(), device.properties().memoryBytes());
        return PoolLevel.of(core.statistics().allocatedBytes(), Math.max(1, capacity));
    }

    private void upkeep() {
        if (closed || !isDue()) {
            return;
        }
        try {
            core.giveBackIdle(lastUpkeep);
        } catch (AcceleratorException atClose) {
            // The platform was closed under the timer; the pool's own close says what there is to say.
            return;
        }
    }

    private boolean isDue() {
        long now = device.platform().nanoTime();
        if (now - lastUpkeep < options.idleNanos() / 3) {
            return false;
        }
        lastUpkeep = now;
        return true;
    }

    /**
     * Hands everything back that is idle and that every stream has passed, whatever its tier.
     *
     * @return bytes handed back
     */
    public long trim() {
        requireOpen("trim");
        if (checks != null) {
            checks.emptyQuarantine();
        }
        return core.trim();
    }

    /** Figures now. Walks the pool, so not for hot paths. */
    public PoolStatistics statistics() {
        return core.statistics();
    }

    /** The same with the pool's name, for reports. */
    public PoolUse use() {
        return new PoolUse(options.name(), options.role(), core.statistics());
    }

    /** The pool's range in address order, for drawings. */
    public List<PoolCore.Piece> snapshot() {
        return core.snapshot();
    }

    /**
     * Writes every call from now on to a recording, which the caller closes after {@link #stopRecording}. What the pool holds by now is told first; which buffers are
     * out is not.
     */
    public void startRecording(PoolRecording to) {
        PoolRecording.Source calls = to.source();
        long held = core.reservedBytes();
        if (held > 0) {
            calls.obtained(held, device.platform().nanoTime());
        }
        recording = calls;
        iterations = to;
    }

    /** Ends a recording. */
    public void stopRecording() {
        recording = null;
        iterations = null;
    }

    /**
     * Waits for the device and hands everything back. Closing twice is allowed.
     *
     * @throws AcceleratorException {@link ErrorCode#INVALID_STATE} naming buffers that are still out (they stay usable no longer; the memory is handed back all the
     *     same)
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        if (trimmer != null) {
            trimmer.shutdownNow();
        }
        streams.synchronize();
        if (checks != null) {
            checks.emptyQuarantine();
        }
        List<PoolCore.Live> leaks = core.live(5);
        long out = core.statistics().liveBuffers();
        streams.close();
        source.close();
        if (!leaks.isEmpty()) {
            StringBuilder names = new StringBuilder();
            for (PoolCore.Live leak : leaks) {
                names.append(names.isEmpty() ? "" : ", ")
                        .append(leak.bytes())
                        .append(" bytes at pool offset 0x")
                        .append(Long.toHexString(leak.address()));
                if (checks != null) {
                    names.append(checks.siteOf(leak.address()));
                }
            }
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE,
                    "close",
                    "pool " + options.name() + " of " + device + " was closed with " + out
                            + " buffers still out (leak): " + names,
                    checks == null ? "open the pool with checking to see where they were allocated" : "",
                    null,
                    null);
        }
    }

    /** A second buffer over the memory of one, for tests of what checking finds. */
    Buffer overrun(Buffer buffer, long offset, long bytes) {
        long address = ((PooledBlock) buffer.owner()).address + PoolChecks.guard(options);
        return source.buffer(address + offset, bytes, unowned -> {});
    }

    private PooledBlock own(String operation, Buffer buffer) {
        if (buffer.owner() instanceof PooledBlock block) {
            if (block.pool == this) {
                return block;
            }
            throw AcceleratorException.invalid(
                    operation,
                    buffer + " belongs to pool " + block.pool.options.name() + " and not to pool " + options.name()
                            + " (foreign free)");
        }
        throw AcceleratorException.invalid(
                operation, buffer + " does not belong to pool " + options.name() + " of " + device + " (foreign free)");
    }

    private void requireDevice(String operation, Stream stream) {
        if (!stream.device().equals(device)) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE,
                    operation,
                    "the stream belongs to " + stream.device() + " and pool " + options.name() + " to " + device);
        }
    }

    private void requireOpen(String operation) {
        if (closed) {
            throw new AcceleratorException(
                    ErrorCode.CLOSED, operation, "pool " + options.name() + " of " + device + " was closed before");
        }
    }
}
