// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryInfo;
import io.weft.api.MemoryKind;
import io.weft.api.graph.Command;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.Enqueue;
import io.weft.spi.StreamDriver;
import io.weft.spi.VirtualMemoryDriver;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Mutants that break a rule about memory. */
final class MemoryMutants {
    private static boolean is(DeviceMemory memory, long bytes) {
        return memory.bytes() == bytes;
    }

    /** Takes or gives free memory that nobody took or gave. */
    private abstract static class Books extends Mutation {
        private long missing;

        final void miss(long bytes) {
            missing += bytes;
        }

        @Override
        MemoryInfo memoryInfo(DeviceDriver device) {
            MemoryInfo now = device.memoryInfo();
            return new MemoryInfo(now.totalBytes(), Math.clamp(now.freeBytes() - missing, 0, now.totalBytes()));
        }
    }

    static final List<Mutant> ALL = List.of(
            Mutant.of("MEM-001", "a fill of 64 KiB writes one byte more", () -> new Mutation() {
                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (command instanceof Command.Fill fill
                            && fill.destination().bytes() == 1 << 16
                            && fill.destination().memory() instanceof Buffer buffer
                            && buffer.base() > 0) {
                        byte[] one = {(byte) fill.bits()};
                        stream.device()
                                .write(buffer.memory(), buffer.base() + buffer.bytes(), MemorySegment.ofArray(one));
                    }
                    return stream.enqueue(command);
                }
            }),
            Mutant.of("MEM-002", "a host write loses its last byte", () -> new Mutation() {
                @Override
                void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
                    device.write(destination, offset, source.asSlice(0, Math.max(0, source.byteSize() - 1)));
                }
            }),
            Mutant.of("MEM-003", "a host write clears the byte before it", () -> new Mutation() {
                @Override
                void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
                    if (offset > 0 && source.byteSize() == 256) {
                        device.write(destination, offset - 1, MemorySegment.ofArray(new byte[1]));
                    }
                    device.write(destination, offset, source);
                }
            }),
            Mutant.of("MEM-004", "allocations below 4 bytes are refused", () -> new Mutation() {
                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    if (bytes == 3) {
                        throw Refusal.of(ErrorCode.OUT_OF_MEMORY, "no block of that size");
                    }
                    return device.allocate(kind, bytes);
                }
            }),
            Mutant.of("MEM-005", "the alignment that is promised is twice the real one", () -> new Mutation() {
                @Override
                io.weft.api.DeviceProperties properties(DeviceDriver device) {
                    return Altered.alignment(
                            device.properties(), 2 * device.properties().allocationAlignment());
                }
            }),
            Mutant.of("MEM-006", "two live allocations get one block", () -> new Mutation() {
                private DeviceMemory first;

                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    if (bytes != 4_096) {
                        return device.allocate(kind, bytes);
                    }
                    if (first == null || kind != MemoryKind.DEVICE || first.kind() != kind) {
                        first = device.allocate(kind, bytes);
                    }
                    return first;
                }

                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    if (memory.equals(first)) {
                        first = null;
                    }
                    device.free(memory);
                }
            }),
            Mutant.of("MEM-007", "an allocation has one byte more than asked for", () -> new Mutation() {
                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    return device.allocate(kind, bytes == 333 ? bytes + 1 : bytes);
                }
            }),
            Mutant.of("MEM-008", "pinned memory is asked for and device memory given", () -> new Mutation() {
                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    return device.allocate(MemoryKind.DEVICE, bytes);
                }
            }),
            Mutant.of("MEM-009", "a fill of pinned memory writes nothing", () -> new Mutation() {
                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    return Refusal.isFill(command, 0x2B) && isPinned(((Command.Fill) command).destination())
                            ? Enqueue.ACCEPTED
                            : stream.enqueue(command);
                }
            }),
            Mutant.of("MEM-010", "pinned memory is booked on the device", () -> new Books() {
                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    DeviceMemory memory = device.allocate(kind, bytes);
                    miss(kind == MemoryKind.HOST_PINNED ? bytes : 0);
                    return memory;
                }

                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    miss(memory.kind() == MemoryKind.HOST_PINNED ? -memory.bytes() : 0);
                    device.free(memory);
                }
            }),
            Mutant.of("MEM-011", "allocations of 16 MiB and more are not booked", () -> new Books() {
                private final Map<DeviceMemory, Long> large = new HashMap<>();

                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    DeviceMemory memory = device.allocate(kind, bytes);
                    if (bytes >= 16 << 20) {
                        large.put(memory, bytes);
                        miss(-bytes);
                    }
                    return memory;
                }

                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    Long bytes = large.remove(memory);
                    miss(bytes == null ? 0 : bytes);
                    device.free(memory);
                }
            }),
            Mutant.of("MEM-012", "a host write to the second device lands on the first as well", () -> new Mutation() {
                private DeviceMemory first;

                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    DeviceMemory memory = device.allocate(kind, bytes);
                    if (bytes == 500 && Refusal.ordinal(device) == 0) {
                        first = memory;
                    }
                    return memory;
                }

                @Override
                void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
                    device.write(destination, offset, source);
                    if (is(destination, 500) && Refusal.ordinal(device) == 1 && first != null) {
                        first.device().write(first, offset, source);
                    }
                }

                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    first = memory.equals(first) ? null : first;
                    device.free(memory);
                }
            }),
            Mutant.of("MEM-013", "memory that is short is reported as a fault of the vendor", () -> new Mutation() {
                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    try {
                        return device.allocate(kind, bytes);
                    } catch (AcceleratorException refusal) {
                        throw refusal.code() == ErrorCode.OUT_OF_MEMORY
                                ? Refusal.of(ErrorCode.VENDOR, refusal.detail())
                                : refusal;
                    }
                }
            }),
            Mutant.of("MEM-014", "a refused allocation stays booked", () -> new Books() {
                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    try {
                        return device.allocate(kind, bytes);
                    } catch (AcceleratorException refusal) {
                        miss(4096);
                        throw refusal;
                    }
                }
            }),
            Mutant.of("MEM-015", "every hundredth free of one size after another is forgotten", () -> new Books() {
                private int frees;

                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    frees = memory.bytes() >= 100_000 && memory.bytes() < 100_200 ? frees + 1 : 0;
                    miss(frees == 100 ? 256 : 0);
                    device.free(memory);
                }
            }),
            Mutant.of(
                    "MEM-016",
                    "a block that is not the newest is freed only in the books of the device",
                    () -> new Books() {
                        private final List<DeviceMemory> live = new ArrayList<>();

                        @Override
                        DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                            DeviceMemory memory = device.allocate(kind, bytes);
                            if (bytes % 1000 == 0 && bytes <= 24_000) {
                                live.add(memory);
                            }
                            return memory;
                        }

                        @Override
                        void free(DeviceDriver device, DeviceMemory memory) {
                            int at = live.indexOf(memory);
                            miss(live.size() > 8 && at >= 0 && at < live.size() - 1 ? 256 : 0);
                            live.remove(memory);
                            device.free(memory);
                        }
                    }),
            Mutant.of("MEM-017", "a host read of 5 bytes at an odd offset is rounded down to 4", () -> new Mutation() {
                @Override
                void read(DeviceDriver device, MemorySegment destination, DeviceMemory source, long offset) {
                    boolean rounded = offset % 2 == 1 && destination.byteSize() == 5 && is(source, 64);
                    device.read(rounded ? destination.asSlice(0, 4) : destination, source, offset);
                }
            }),
            Mutant.of("MEM-018", "a host write of no bytes is refused", () -> new Mutation() {
                @Override
                void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
                    if (source.byteSize() == 0) {
                        throw Refusal.of(ErrorCode.INVALID_ARGUMENT, "the size is 0");
                    }
                    device.write(destination, offset, source);
                }
            }),
            Mutant.of("MEM-019", "a host read into native memory is refused", () -> new Mutation() {
                @Override
                void read(DeviceDriver device, MemorySegment destination, DeviceMemory source, long offset) {
                    if (destination.isNative()) {
                        throw new IllegalArgumentException("not a heap segment");
                    }
                    device.read(destination, source, offset);
                }
            }),
            Mutant.of("MEM-020", "a host write stops at the end of a staging buffer", () -> new Mutation() {
                @Override
                void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
                    device.write(destination, offset, source.asSlice(0, Math.min(source.byteSize(), (1 << 20) + 4096)));
                }
            }),
            Mutant.of("MEM-021", "a host write reads its source late", () -> new Mutation() {
                private Runnable pending = () -> {};

                private void flush() {
                    Runnable late = pending;
                    pending = () -> {};
                    late.run();
                }

                @Override
                void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
                    flush();
                    if (is(destination, 20_000)) {
                        pending = () -> device.write(destination, offset, source);
                    } else {
                        device.write(destination, offset, source);
                    }
                }

                @Override
                void read(DeviceDriver device, MemorySegment destination, DeviceMemory source, long offset) {
                    flush();
                    device.read(destination, source, offset);
                }
            }),
            Mutant.of("MEM-022", "a host write waits for the whole device", () -> new Mutation() {
                @Override
                void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
                    if (source.byteSize() == 250) {
                        device.synchronize();
                    }
                    device.write(destination, offset, source);
                }
            }),
            Mutant.of("MEM-023", "work writes once more after its memory was freed", () -> new Mutation() {
                private boolean late;

                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    late |= is(memory, 7_168);
                    device.free(memory);
                }

                @Override
                void read(DeviceDriver device, MemorySegment destination, DeviceMemory source, long offset) {
                    if (late && is(source, 7_168)) {
                        device.write(source, 512, MemorySegment.ofArray(new byte[] {0x11}));
                    }
                    device.read(destination, source, offset);
                }
            }),
            Mutant.of("MEM-024", "commands see a host write only after the next host read", () -> new Mutation() {
                private final Map<DeviceMemory, byte[]> unseen = new HashMap<>();
                private long at;

                @Override
                void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
                    if (source.byteSize() == 9_001 && unseen.put(destination, new byte[0]) != null) {
                        unseen.put(destination, source.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
                        at = offset;
                        return;
                    }
                    device.write(destination, offset, source);
                }

                @Override
                void read(DeviceDriver device, MemorySegment destination, DeviceMemory source, long offset) {
                    unseen.forEach((memory, late) -> {
                        if (late.length > 0 && memory.device().equals(device)) {
                            device.write(memory, at, MemorySegment.ofArray(late));
                        }
                    });
                    unseen.clear();
                    device.read(destination, source, offset);
                }
            }),
            Mutant.of("MEM-025", "the page size is no power of two", () -> new Mutation() {
                @Override
                long pageBytes(VirtualMemoryDriver virtual) {
                    return 3 * virtual.pageBytes();
                }
            }),
            Mutant.of("MEM-026", "reserving a range takes its size", () -> new Books() {
                private final Map<DeviceMemory, Long> ranges = new HashMap<>();

                @Override
                DeviceMemory reserve(VirtualMemoryDriver virtual, DeviceDriver device, long bytes) {
                    DeviceMemory range = virtual.reserve(device, bytes);
                    ranges.put(range, bytes);
                    miss(bytes);
                    return range;
                }

                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    Long bytes = ranges.remove(memory);
                    miss(bytes == null ? 0 : -bytes);
                    device.free(memory);
                }
            }),
            Mutant.of("MEM-027", "mapping pages is not booked", () -> new Books() {
                @Override
                void map(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    virtual.map(range, offset, bytes);
                    miss(offset == virtual.pageBytes() && bytes == 2 * virtual.pageBytes() ? -bytes : 0);
                }

                @Override
                void unmap(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    virtual.unmap(range, offset, bytes);
                    miss(offset == virtual.pageBytes() && bytes == 2 * virtual.pageBytes() ? bytes : 0);
                }
            }),
            Mutant.of("MEM-028", "the third page that is mapped shows the data of the first", () -> new Mutation() {
                private long pageBytes = Long.MAX_VALUE;
                private final Map<DeviceMemory, Integer> single = new HashMap<>();

                @Override
                void map(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    virtual.map(range, offset, bytes);
                    pageBytes = virtual.pageBytes();
                    if (bytes == pageBytes) {
                        single.merge(range, 1, Integer::sum);
                    }
                }

                @Override
                void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
                    boolean wrong = single.getOrDefault(destination, 0) == 3 && offset == pageBytes;
                    device.write(destination, wrong ? 0 : offset, source);
                }
            }),
            Mutant.of("MEM-029", "unmapping a page clears the next one", () -> new Mutation() {
                @Override
                void unmap(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    virtual.unmap(range, offset, bytes);
                    if (offset > 0 && bytes == virtual.pageBytes() && offset + bytes < range.bytes()) {
                        range.device().write(range, offset + bytes, MemorySegment.ofArray(new byte[64]));
                    }
                }
            }),
            Mutant.of("MEM-030", "mapping a page again is accepted", () -> new Mutation() {
                @Override
                void map(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    swallow(ErrorCode.INVALID_STATE, () -> virtual.map(range, offset, bytes));
                }
            }),
            Mutant.of("MEM-031", "unmapping a page that is not mapped is accepted", () -> new Mutation() {
                @Override
                void unmap(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    if (range.bytes() == 2 * virtual.pageBytes()) {
                        swallow(ErrorCode.INVALID_STATE, () -> virtual.unmap(range, offset, bytes));
                    } else {
                        virtual.unmap(range, offset, bytes);
                    }
                }
            }),
            Mutant.of("MEM-032", "half a page is rounded up instead of refused", () -> new Mutation() {
                @Override
                void map(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    long page = virtual.pageBytes();
                    virtual.map(range, offset, (bytes + page - 1) / page * page);
                }
            }),
            Mutant.of("MEM-033", "freeing a range forgets what is mapped in it", () -> new Books() {
                private final Map<DeviceMemory, Long> mapped = new HashMap<>();

                @Override
                void map(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    virtual.map(range, offset, bytes);
                    mapped.merge(range, bytes, Long::sum);
                }

                @Override
                void unmap(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    virtual.unmap(range, offset, bytes);
                    mapped.merge(range, -bytes, Long::sum);
                }

                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    Long bytes = mapped.remove(memory);
                    miss(bytes == null ? 0 : bytes);
                    device.free(memory);
                }
            }),
            Mutant.of("MEM-034", "a copy across pages stops at the border", () -> new Mutation() {
                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (command instanceof Command.Copy copy
                            && copy.destination().bytes() == 3000
                            && copy.destination().offset() % 256 != 0) {
                        return stream.enqueue(new Command.Copy(
                                copy.destination().columnRange(0, 1500),
                                copy.source().columnRange(0, 1500),
                                copy.method()));
                    }
                    return stream.enqueue(command);
                }
            }),
            Mutant.of("MEM-035", "mapping too much leaves the first page mapped", () -> new Mutation() {
                @Override
                void map(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    try {
                        virtual.map(range, offset, bytes);
                    } catch (AcceleratorException refusal) {
                        if (refusal.code() == ErrorCode.OUT_OF_MEMORY) {
                            virtual.map(range, offset, virtual.pageBytes());
                        }
                        throw refusal;
                    }
                }
            }),
            Mutant.of("MEM-036", "memory near a NUMA node is asked for and device memory given", () -> new Mutation() {
                @Override
                DeviceMemory allocateHost(DeviceDriver device, int numaNode, long bytes) {
                    return device.allocate(MemoryKind.DEVICE, bytes);
                }
            }));

    private static boolean isPinned(BufferView view) {
        return view.memory() instanceof Buffer buffer && buffer.kind() == MemoryKind.HOST_PINNED;
    }

    private static void swallow(ErrorCode code, Runnable call) {
        try {
            call.run();
        } catch (AcceleratorException refusal) {
            if (refusal.code() != code) {
                throw refusal;
            }
        }
    }

    private MemoryMutants() {}
}
