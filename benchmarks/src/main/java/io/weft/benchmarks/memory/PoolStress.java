// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.Stream;
import io.weft.memory.DevicePool;
import io.weft.memory.PoolOptions;
import io.weft.memory.PoolStatistics;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Random allocations, uses on other streams, and frees on any stream, on the simulator's memory: each buffer is filled with a pattern of its own in the order of its
 * stream, and each use copies a piece of it to where the host looks later. Memory that is given out while a stream still uses it then shows as another buffer's
 * pattern.
 */
public final class PoolStress implements AutoCloseable {
    private static final int STREAMS = 5;
    private static final int MOST_OUT = 150;
    /** Bytes of a buffer's head, middle and tail that carry the pattern; buffers up to three times it are full of it. */
    private static final int GUARD = 512;

    private static final int PIECE = 64;
    private static final int CHECKS = 2048;

    /** A buffer that is out. */
    private record Out(Buffer buffer, int home, byte pattern) {}

    private final Platform platform;
    private final SplittableRandom random;
    private final DevicePool pool;
    private final List<Stream> streams = new ArrayList<>();
    private final Event order;
    private final List<Out> out = new ArrayList<>();
    private final Buffer sink;
    private final byte[] expected = new byte[CHECKS];
    private final int[] lengths = new int[CHECKS];
    private final long[] when = new long[CHECKS];
    private int checks;
    private long made;
    private long operations;

    /**
     * @param platform one that holds data
     * @param options of the pool
     */
    public PoolStress(Platform platform, PoolOptions options, long seed) {
        this.platform = platform;
        this.random = new SplittableRandom(seed);
        Device device = platform.device(0);
        this.pool = DevicePool.open(device, options);
        this.order = device.createEvent(EventOptions.untimed());
        this.sink = device.allocate((long) CHECKS * PIECE);
        for (int i = 0; i < STREAMS; i++) {
            streams.add(device.createStream());
        }
    }

    /** Operations so far. */
    public long operations() {
        return operations;
    }

    /** The pool's figures. */
    public PoolStatistics statistics() {
        return pool.statistics();
    }

    /** Does so many operations more and returns what was found, or null for nothing. */
    public String run(long count) {
        try {
            for (long end = operations + count; operations < end; operations++) {
                String fault = step();
                if (fault != null) {
                    return fault;
                }
            }
            return look();
        } catch (AcceleratorException failed) {
            if (failed.code() != ErrorCode.STREAM_FAILED) {
                throw failed;
            }
            return "up to operation " + operations + ": memory was taken back too early: " + failed.detail();
        }
    }

    private String step() {
        int dice = random.nextInt(1000);
        if (dice < 450 && out.size() < MOST_OUT) {
            allocate();
        } else if (dice < 550 && !out.isEmpty()) {
            Out used = out.get(random.nextInt(out.size()));
            int stream = random.nextInt(STREAMS);
            follow(stream, used.home);
            pool.recordUse(used.buffer, streams.get(stream));
            check(used, stream);
        } else if (dice < 950 && !out.isEmpty()) {
            free();
        } else if (dice < 970) {
            streams.get(random.nextInt(STREAMS)).synchronize();
        } else if (dice < 973) {
            pool.nextIteration();
        } else if (dice == 973 && random.nextInt(50) == 0) {
            pool.trim();
        }
        return checks > CHECKS - 2 ? look() : null;
    }

    private void allocate() {
        int home = random.nextInt(STREAMS);
        long bytes = random.nextInt(10) < 8
                ? 1 + (long) Math.pow(2, random.nextDouble() * 18)
                : (1 << 20) + random.nextInt(2 << 20);
        Out fresh = new Out(pool.allocate(bytes, streams.get(home)), home, (byte) (1 + made++ % 251));
        Stream stream = streams.get(home);
        if (bytes <= 3 * GUARD) {
            stream.fill(part(fresh.buffer, 0, bytes), fresh.pattern);
        } else {
            stream.fill(part(fresh.buffer, 0, GUARD), fresh.pattern);
            stream.fill(part(fresh.buffer, (bytes - GUARD) / 2, GUARD), fresh.pattern);
            stream.fill(part(fresh.buffer, bytes - GUARD, GUARD), fresh.pattern);
        }
        out.add(fresh);
    }

    private void free() {
        int pick = random.nextInt(out.size());
        Out gone = out.get(pick);
        out.set(pick, out.getLast());
        out.removeLast();
        int stream = random.nextInt(4) == 0 ? random.nextInt(STREAMS) : gone.home;
        // Freed elsewhere, the program orders that stream behind the home stream first, as it must.
        follow(stream, gone.home);
        check(gone, stream);
        pool.free(gone.buffer, streams.get(stream));
    }

    private void follow(int stream, int other) {
        if (stream != other) {
            streams.get(other).record(order);
            streams.get(stream).waitFor(order);
        }
    }

    private static BufferView part(Buffer buffer, long offset, long bytes) {
        return BufferView.vector(buffer, offset, bytes, ElementType.INT8);
    }

    /** Copies a piece that carries the pattern, in the order of a stream. */
    private void check(Out used, int stream) {
        long bytes = used.buffer.bytes();
        int length = (int) Math.min(PIECE, bytes);
        long last = bytes - length;
        long at = bytes <= 3 * GUARD
                ? random.nextLong(last + 1)
                : switch (random.nextInt(3)) {
                    case 0 -> random.nextInt(GUARD - PIECE + 1);
                    case 1 -> (bytes - GUARD) / 2 + random.nextInt(GUARD - PIECE + 1);
                    default -> last - random.nextInt(GUARD - PIECE + 1);
                };
        streams.get(stream).copy(part(sink, (long) checks * PIECE, length), part(used.buffer, at, length));
        expected[checks] = used.pattern;
        lengths[checks] = length;
        when[checks++] = operations;
    }

    /** Waits for everything and looks at all copies. */
    private String look() {
        platform.device(0).synchronize();
        byte[] found = new byte[checks * PIECE];
        if (checks > 0) {
            sink.read(MemorySegment.ofArray(found), 0);
        }
        int count = checks;
        checks = 0;
        for (int i = 0; i < count; i++) {
            for (int at = i * PIECE; at < i * PIECE + lengths[i]; at++) {
                if (found[at] != expected[i]) {
                    return "operation " + when[i] + " read byte " + found[at] + " of a buffer that holds " + expected[i]
                            + ": memory was given out too early";
                }
            }
        }
        return null;
    }

    /** Frees what is out and closes the pool, which complains of what is left. */
    @Override
    public void close() {
        out.forEach(each -> each.buffer.close());
        pool.close();
        streams.forEach(Stream::close);
        order.close();
        sink.close();
    }

    /** Options under which a pool of this stress meets everything: small segments, and memory that goes back soon. */
    static PoolOptions options() {
        return PoolOptions.defaults()
                .withName("stress")
                .withSegmentBytes(PoolOptions.SEGMENT_STEP)
                .withIdleNanos(1_000_000);
    }

    /** Runs so many operations, then the same on a platform whose events lie, until that is found. */
    static void print(long count) {
        long seed = 20261130;
        for (boolean waits : new boolean[] {false, true}) {
            long start = System.nanoTime();
            try (Platform platform = LaggingMachine.open();
                    PoolStress stress = new PoolStress(platform, options().withWaitAcrossStreams(waits), seed)) {
                String fault = stress.run(count);
                PoolStatistics now = stress.statistics();
                System.out.printf(
                        "%s, inserted waits %s: %d operations in %.1f s (%.3f s of virtual time), %d events, %d waits, %d"
                                + " deferred frees, %d device calls: %s%n",
                        platform.uri(),
                        waits ? "on" : "off",
                        stress.operations(),
                        (System.nanoTime() - start) / 1e9,
                        platform.nanoTime() / 1e9,
                        now.eventsRecorded(),
                        now.waitsInserted(),
                        now.deferredFrees(),
                        now.deviceAllocations() + now.deviceFrees(),
                        fault == null ? "no premature reuse" : fault);
            }
        }
        for (int i = 0; i < 3; i++) {
            long start = System.nanoTime();
            Platform platform = LaggingMachine.openWithLyingEvents();
            PoolStress stress = new PoolStress(platform, options(), seed + i);
            String fault = stress.run(count);
            System.out.printf(
                    "without the event check, seed %d: %s, found after %d operations and %.2f s%n",
                    seed + i,
                    fault == null ? "NOTHING FOUND" : fault,
                    stress.operations(),
                    (System.nanoTime() - start) / 1e9);
            platform.close();
        }
    }
}
