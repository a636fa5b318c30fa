// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Capability;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.api.Stream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Checking mode: guard bytes around each buffer, poison in new and freed memory, the place of each allocation, and a quarantine in which freed memory lies until
 * it is looked at for writes after the free. Waits for the device at every call, so it is slow and hides races of the program under test; it is for finding
 * overruns and stale buffers.
 */
final class PoolChecks {
    private static final byte GUARD = (byte) 0xA5;
    private static final byte FRESH = (byte) 0xCD;
    private static final byte FREED = (byte) 0xDD;
    private static final int QUARANTINED = 64;
    private static final int CHUNK = 1 << 20;

    private record Freed(PooledBlock block, long bytes, Throwable at) {}

    private final Device device;
    private final SegmentSource source;
    private final PoolCore core;
    private final PoolOptions options;
    private final boolean storage;
    private final int guard;
    private final Map<Long, Throwable> sites = new ConcurrentHashMap<>();
    private final ArrayDeque<Freed> quarantine = new ArrayDeque<>();

    PoolChecks(Device device, SegmentSource source, PoolCore core, PoolOptions options) {
        this.device = device;
        this.source = source;
        this.core = core;
        this.options = options;
        this.storage = device.platform().has(Capability.STORAGE);
        this.guard = guard(options);
    }

    /** Bytes of the guard on each side. */
    static int guard(PoolOptions options) {
        return (int) Math.max(512, options.alignment());
    }

    PoolResult allocate(DevicePool pool, long bytes, int number, Stream stream) {
        if (bytes < 1) {
            throw AcceleratorException.invalid("allocate", "size must be at least 1 byte, not " + bytes);
        }
        long address = core.allocate(bytes + 2L * guard, number);
        if (address < 0) {
            emptyQuarantine();
            address = core.allocate(bytes + 2L * guard, number);
            if (address < 0) {
                return DevicePool.refusal(address);
            }
        }
        Throwable site = new Throwable("allocated here");
        sites.put(address, site);
        if (storage) {
            stream.synchronize();
            fill(address, guard, GUARD);
            fill(address + guard, bytes, FRESH);
            fill(address + guard + bytes, guard, GUARD);
        }
        return PoolResult.of(source.buffer(address + guard, bytes, new PooledBlock(pool, address, number, site)));
    }

    void release(PooledBlock block, Buffer buffer) {
        long bytes = buffer.bytes();
        if (storage) {
            device.synchronize();
            long before = firstOther(block.address, guard, GUARD);
            long after = firstOther(block.address + guard + bytes, guard, GUARD);
            if (before >= 0 || after >= 0) {
                throw new AcceleratorException(
                        ErrorCode.OUT_OF_BOUNDS,
                        "free",
                        "something wrote "
                                + (before >= 0 ? (guard - before) + " bytes before" : after + " bytes behind")
                                + " the end of " + buffer + where(block.site),
                        "",
                        null,
                        block.site);
            }
            fill(block.address + guard, bytes, FREED);
        }
        Freed oldest;
        synchronized (quarantine) {
            quarantine.add(new Freed(block, bytes, new Throwable("freed here")));
            oldest = quarantine.size() > QUARANTINED ? quarantine.poll() : null;
        }
        if (oldest != null) {
            let(oldest);
        }
    }

    void emptyQuarantine() {
        while (true) {
            Freed next;
            synchronized (quarantine) {
                next = quarantine.poll();
            }
            if (next == null) {
                return;
            }
            let(next);
        }
    }

    private void let(Freed freed) {
        sites.remove(freed.block.address);
        long at = storage ? firstOther(freed.block.address + guard, freed.bytes, FREED) : -1;
        core.free(freed.block.address, freed.block.stream);
        if (at >= 0) {
            freed.at.addSuppressed(freed.block.site);
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE,
                    "free",
                    "something wrote to byte " + at + " of a buffer of " + freed.bytes + " bytes of pool "
                            + options.name() + " after it was freed (use after free)" + where(freed.block.site),
                    "",
                    null,
                    freed.at);
        }
    }

    /** Where the buffer at a core address was allocated, in words for a message. */
    String siteOf(long address) {
        Throwable site = sites.get(address);
        return site == null ? "" : where(site);
    }

    private static String where(Throwable site) {
        return Arrays.stream(site.getStackTrace())
                .filter(frame -> !frame.getClassName().equals(DevicePool.class.getName())
                        && !frame.getClassName().equals(PoolChecks.class.getName()))
                .findFirst()
                .map(frame -> " allocated at " + frame)
                .orElse("");
    }

    private void fill(long address, long bytes, byte value) {
        byte[] chunk = new byte[(int) Math.min(bytes, CHUNK)];
        Arrays.fill(chunk, value);
        Buffer raw = source.buffer(address, bytes, buffer -> {});
        for (long at = 0; at < bytes; at += chunk.length) {
            raw.write(at, MemorySegment.ofArray(chunk).asSlice(0, Math.min(chunk.length, bytes - at)));
        }
    }

    /** The first byte that is not of this value, or -1. */
    private long firstOther(long address, long bytes, byte value) {
        MemorySegment chunk = MemorySegment.ofArray(new byte[(int) Math.min(bytes, CHUNK)]);
        Buffer raw = source.buffer(address, bytes, buffer -> {});
        for (long at = 0; at < bytes; at += chunk.byteSize()) {
            MemorySegment part = chunk.asSlice(0, Math.min(chunk.byteSize(), bytes - at));
            raw.read(part, at);
            for (long i = 0; i < part.byteSize(); i++) {
                if (part.get(ValueLayout.JAVA_BYTE, i) != value) {
                    return at + i;
                }
            }
        }
        return -1;
    }
}
