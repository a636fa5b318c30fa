// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.api.Stream;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.spi.DeviceMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Proofs of the rules about memory. */
final class MemoryProofs {
    /** Beyond the megabyte and a page in which some drivers stage host transfers. */
    private static final int BEYOND_STAGING = (1 << 20) + 4096 + 77;

    private static final int[] SIZES = {1, 2, 3, 5, 8, 127, 128, 129, 255, 256, 257, 4095, 4096, 65_537};

    @Proves("MEM-002")
    void hostReadsWhatTheHostWrote(Bench bench) {
        for (Device device : bench.platform().devices()) {
            Buffer buffer = bench.raw(device, MemoryKind.DEVICE, 1000);
            byte[] data = bench.randomBytes(1000);
            buffer.write(0, MemorySegment.ofArray(data));
            bench.holds("the bytes of " + device, data, buffer);
        }
    }

    @Proves("MEM-003")
    void aHostWriteLeavesItsNeighboursAlone(Bench bench) {
        byte[] data = bench.randomBytes(600);
        Buffer buffer = bench.raw(bench.device(), MemoryKind.DEVICE, 600);
        buffer.write(0, MemorySegment.ofArray(data));
        byte[] part = bench.randomBytes(256);
        buffer.write(128, MemorySegment.ofArray(part));
        System.arraycopy(part, 0, data, 128, part.length);
        bench.holds("a buffer after a write into its middle", data, buffer);
    }

    @Proves("MEM-004")
    void tinyAllocationsHoldData(Bench bench) {
        for (int size = 1; size <= 8; size++) {
            bench.step("allocating " + size + " bytes");
            Buffer buffer = bench.raw(bench.device(), MemoryKind.DEVICE, size);
            byte[] data = bench.randomBytes(size);
            buffer.write(0, MemorySegment.ofArray(data));
            bench.holds(size + " bytes", data, buffer);
        }
    }

    @Proves("MEM-005")
    void allocationsAreAligned(Bench bench) {
        for (MemoryKind kind : MemoryKind.values()) {
            for (int size : SIZES) {
                Buffer buffer = bench.raw(bench.device(), kind, size);
                long alignment = bench.device().properties().allocationAlignment();
                bench.that(
                        buffer.memory().address() % alignment == 0,
                        size + " bytes of " + kind + " memory at a multiple of " + alignment,
                        "they are at 0x" + Long.toHexString(buffer.memory().address()));
            }
        }
    }

    @Proves("MEM-006")
    void liveAllocationsDoNotOverlap(Bench bench) {
        List<Buffer> live = new ArrayList<>();
        for (int round = 0; round < 6; round++) {
            for (int size : SIZES) {
                Buffer buffer = bench.raw(bench.device(), MemoryKind.DEVICE, size);
                for (Buffer other : live) {
                    boolean apart = buffer.address() + buffer.bytes() <= other.address()
                            || other.address() + other.bytes() <= buffer.address();
                    bench.that(
                            apart,
                            "live allocations apart from each other",
                            size + " bytes at 0x" + Long.toHexString(buffer.address()) + " overlap " + other.bytes()
                                    + " at 0x" + Long.toHexString(other.address()));
                }
                live.add(buffer);
            }
            // Holes of several sizes, to be filled by the next round.
            for (int i = live.size() - 1; i >= 0; i -= 3) {
                live.remove(i).close();
            }
        }
    }

    @Proves("MEM-007")
    void anAllocationHasTheSizeAndTheDeviceAskedFor(Bench bench) {
        for (Device device : bench.platform().devices()) {
            for (MemoryKind kind : MemoryKind.values()) {
                for (int size : new int[] {1, 333, 4097}) {
                    DeviceMemory memory = bench.raw(device, kind, size).memory();
                    bench.equal("the size of " + kind + " memory", (long) size, memory.bytes());
                    bench.equal(
                            "the device of memory of " + device,
                            device.ordinal(),
                            memory.device().properties().ordinal());
                }
            }
        }
    }

    @Proves("MEM-008")
    void anAllocationIsOfTheKindAskedFor(Bench bench) {
        for (MemoryKind kind : MemoryKind.values()) {
            bench.equal(
                    "the kind",
                    kind,
                    bench.raw(bench.device(), kind, 64).memory().kind());
        }
    }

    @Proves("MEM-009")
    void pinnedMemoryIsTheHostsToo(Bench bench) {
        int bytes = 4099;
        Stream stream = bench.stream(bench.device());
        Buffer pinned = bench.buffer(bench.device(), MemoryKind.HOST_PINNED, bytes);
        Buffer buffer = bench.buffer(bench.device(), bytes);
        MemorySegment direct = pinned.memory()
                .hostSegment()
                .map(whole -> whole.asSlice(pinned.base(), bytes))
                .orElse(null);
        bench.that(direct != null, "pinned memory to have a host segment", "it has none");
        byte[] data = bench.randomBytes(bytes);
        direct.copyFrom(MemorySegment.ofArray(data));
        stream.copy(Bench.bytes(buffer), Bench.bytes(pinned));
        stream.synchronize();
        bench.holds("a copy of what the host wrote directly", data, buffer);
        stream.fill(Bench.bytes(pinned), 0x2B);
        stream.synchronize();
        bench.sameBytes(
                "what the host reads directly after a fill",
                Bench.filled(bytes, 0x2B),
                direct.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
    }

    @Proves("MEM-010")
    void pinnedMemoryIsNotDeviceMemory(Bench bench) {
        long before = bench.device().memoryInfo().freeBytes();
        bench.raw(bench.device(), MemoryKind.HOST_PINNED, 1 << 20);
        bench.equal("free device memory", before, bench.device().memoryInfo().freeBytes());
    }

    @Proves("MEM-036")
    void pinnedMemoryNamesTheNodeThatWasAskedFor(Bench bench) {
        for (Device device : bench.platform().devices()) {
            int node = device.properties().numaNode();
            Buffer pinned = bench.held(device.allocateHost(4099, node));
            bench.equal("the kind", MemoryKind.HOST_PINNED, pinned.memory().kind());
            bench.equal("the size", 4099L, pinned.memory().bytes());
            bench.that(
                    pinned.numaNode() == node || pinned.numaNode() == -1,
                    "memory of node " + node + " or of an unknown one",
                    "it names node " + pinned.numaNode());
        }
    }

    @Proves("MEM-011")
    void anAllocationTakesItsSize(Bench bench) {
        long bytes = 16 << 20;
        long before = bench.device().memoryInfo().freeBytes();
        bench.raw(bench.device(), MemoryKind.DEVICE, bytes);
        long after = bench.device().memoryInfo().freeBytes();
        bench.that(before - after >= bytes, bytes + " bytes less free", "it is " + (before - after) + " less");
    }

    @Proves("MEM-012")
    void devicesHaveMemoryOfTheirOwn(Bench bench) {
        int bytes = 500;
        List<Device> devices = bench.devices(2);
        List<Buffer> buffers = new ArrayList<>();
        List<byte[]> data = new ArrayList<>();
        for (Device device : devices) {
            buffers.add(bench.raw(device, MemoryKind.DEVICE, bytes));
            data.add(bench.randomBytes(bytes));
        }
        for (int i = 0; i < buffers.size(); i++) {
            buffers.get(i).write(0, MemorySegment.ofArray(data.get(i)));
        }
        for (int i = 0; i < buffers.size(); i++) {
            bench.holds("the memory of " + devices.get(i), data.get(i), buffers.get(i));
        }
    }

    @Proves("MEM-013")
    void tooMuchMemoryIsRefused(Bench bench) {
        long more = bench.device().memoryInfo().totalBytes() + 1;
        bench.refuses("an allocation of " + more + " bytes", () -> refused(bench, more), ErrorCode.OUT_OF_MEMORY);
    }

    @Proves("MEM-014")
    void aRefusedAllocationChangesNothing(Bench bench) {
        long before = bench.device().memoryInfo().freeBytes();
        long more = bench.device().memoryInfo().totalBytes() + 1;
        for (int i = 0; i < 3; i++) {
            bench.refuses("too much", () -> refused(bench, more), ErrorCode.OUT_OF_MEMORY);
        }
        bench.equal(
                "free memory after three refusals",
                before,
                bench.device().memoryInfo().freeBytes());
        bench.step("allocating after a refusal");
        bench.raw(bench.device(), MemoryKind.DEVICE, 4096);
    }

    private static void refused(Bench bench, long bytes) {
        bench.raw(bench.device(), MemoryKind.DEVICE, bytes);
    }

    @Proves("MEM-015")
    void memoryIsNotUsedUp(Bench bench) {
        Device device = bench.device();
        long before = device.memoryInfo().freeBytes();
        for (int i = 0; i < 200; i++) {
            bench.step("allocation " + i);
            device.allocate(100_000 + i).close();
        }
        bench.equal(
                "free memory after 200 allocations and frees",
                before,
                device.memoryInfo().freeBytes());
    }

    @Proves("MEM-016")
    void memoryComesBackInAnyOrder(Bench bench) {
        Device device = bench.device();
        long before = device.memoryInfo().freeBytes();
        List<Buffer> buffers = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            buffers.add(bench.raw(device, MemoryKind.DEVICE, 1000L * (i + 1)));
        }
        while (!buffers.isEmpty()) {
            buffers.remove(bench.random().nextInt(buffers.size())).close();
        }
        bench.equal(
                "free memory after frees in a random order",
                before,
                device.memoryInfo().freeBytes());
    }

    @Proves("MEM-017")
    void hostTransfersWorkAtAnyOffsetAndLength(Bench bench) {
        int bytes = 64;
        Buffer buffer = bench.raw(bench.device(), MemoryKind.DEVICE, bytes);
        byte[] data = bench.randomBytes(bytes);
        buffer.write(0, MemorySegment.ofArray(data));
        for (int offset = 0; offset < 9; offset++) {
            for (int length = 1; length < 20; length++) {
                byte[] part = bench.randomBytes(length);
                buffer.write(offset, MemorySegment.ofArray(part));
                System.arraycopy(part, 0, data, offset, length);
                byte[] back = new byte[length];
                buffer.read(MemorySegment.ofArray(back), offset);
                bench.sameBytes(length + " bytes at offset " + offset, part, back);
            }
        }
        bench.holds("the whole buffer", data, buffer);
    }

    @Proves("MEM-018")
    void transfersOfNothingDoNothing(Bench bench) {
        byte[] data = bench.randomBytes(40);
        Buffer buffer = bench.upload(bench.device(), data);
        MemorySegment nothing = MemorySegment.ofArray(new byte[0]);
        bench.step("writing no bytes");
        bench.device().driver().write(buffer.memory(), buffer.base() + 8, nothing);
        bench.step("reading no bytes");
        bench.device().driver().read(nothing, buffer.memory(), buffer.base() + 8);
        bench.holds("the buffer", data, buffer);
    }

    @Proves("MEM-019")
    void anySegmentWillDo(Bench bench) {
        int bytes = 1000;
        Buffer buffer = bench.buffer(bench.device(), bytes);
        byte[] data = bench.randomBytes(bytes);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment outside = arena.allocate(bytes, 64);
            outside.copyFrom(MemorySegment.ofArray(data));
            bench.step("writing from a read-only segment outside of the heap");
            buffer.write(0, outside.asReadOnly());
            outside.fill((byte) 0);
            bench.step("reading into a segment outside of the heap");
            buffer.read(outside, 0);
            bench.sameBytes(
                    "bytes read outside of the heap", data, outside.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
        }
        int[] words = new int[bytes / 4];
        bench.step("reading into an array of another type, from its second element on");
        buffer.read(MemorySegment.ofArray(words).asSlice(4), 4);
        bench.step("writing from a read-only segment on the heap");
        buffer.write(4, MemorySegment.ofArray(words).asSlice(4).asReadOnly());
        bench.holds("bytes that went through an array of another type", data, buffer);
    }

    @Proves("MEM-020")
    void longTransfersCarryEveryByte(Bench bench) {
        byte[] data = bench.randomBytes(BEYOND_STAGING);
        Buffer buffer = bench.raw(bench.device(), MemoryKind.DEVICE, data.length);
        buffer.write(0, MemorySegment.ofArray(data));
        bench.holds("the long transfer", data, buffer);
    }

    @Proves("MEM-021")
    void aWriteThatReturnedIsOver(Bench bench) {
        byte[] data = bench.randomBytes(20_000);
        byte[] source = data.clone();
        Buffer buffer = bench.raw(bench.device(), MemoryKind.DEVICE, data.length);
        buffer.write(0, MemorySegment.ofArray(source));
        Arrays.fill(source, (byte) 0);
        bench.holds("what was written before the source was overwritten", data, buffer);
    }

    @Proves("MEM-022")
    void hostTransfersWaitForNoStream(Bench bench) {
        byte[] data = bench.randomBytes(250);
        Buffer buffer = bench.upload(bench.device(), data);
        Stream stream = bench.stream(bench.device());
        Gate gate = Gate.on(bench, stream);
        bench.step("writing and reading while a stream is held up");
        byte[] other = bench.randomBytes(250);
        buffer.write(0, MemorySegment.ofArray(other));
        bench.holds("what was written while a stream is held up", other, buffer);
        gate.open();
        stream.synchronize();
    }

    @Proves("MEM-023")
    void oldWorkDoesNotWriteIntoNewMemory(Bench bench) {
        int bytes = 7_168;
        Stream before = bench.stream(bench.device());
        Stream after = bench.stream(bench.device());
        for (int round = 0; round < 4; round++) {
            Buffer old = bench.raw(bench.device(), MemoryKind.DEVICE, bytes);
            before.fill(Bench.bytes(old), 0x11);
            before.synchronize();
            old.close();
            Buffer fresh = bench.raw(bench.device(), MemoryKind.DEVICE, bytes);
            after.fill(Bench.bytes(fresh), 0x2F);
            after.synchronize();
            before.synchronize();
            bench.holds("the new owner's memory", Bench.filled(bytes, 0x2F), fresh);
            fresh.close();
        }
    }

    @Proves("MEM-024")
    void commandsSeeWhatTheHostWrote(Bench bench) {
        byte[] data = bench.randomBytes(9_001);
        Buffer to = bench.buffer(bench.device(), data.length);
        Stream stream = bench.stream(bench.device());
        Buffer from = bench.buffer(bench.device(), data.length);
        from.write(0, MemorySegment.ofArray(data));
        stream.copy(Bench.bytes(to), Bench.bytes(from));
        stream.synchronize();
        bench.holds("a copy of what the host wrote", data, to);
        byte[] second = bench.randomBytes(data.length);
        from.write(0, MemorySegment.ofArray(second));
        stream.copy(Bench.bytes(to), Bench.bytes(from));
        stream.synchronize();
        bench.holds("a copy of what the host wrote the second time", second, to);
    }

    // Address ranges.

    @Proves("MEM-025")
    void pagesAreAPowerOfTwo(Bench bench) {
        Range range = Range.reserve(bench, 2);
        bench.that(
                range.page() >= 1 && Long.bitCount(range.page()) == 1,
                "a page size that is a power of two",
                "it is " + range.page());
        bench.that(
                range.buffer().address() % range.page() == 0,
                "a range that starts at a multiple of " + range.page(),
                "it starts at 0x" + Long.toHexString(range.buffer().address()));
    }

    @Proves("MEM-026")
    void reservingTakesNoMemory(Bench bench) {
        long before = bench.device().memoryInfo().freeBytes();
        Range.reserve(bench, 8);
        bench.equal("free memory", before, bench.device().memoryInfo().freeBytes());
    }

    @Proves("MEM-027")
    void mappingTakesMemoryAndUnmappingGivesItBack(Bench bench) {
        Range range = Range.reserve(bench, 4);
        long before = bench.device().memoryInfo().freeBytes();
        range.map(1, 2);
        long mapped = bench.device().memoryInfo().freeBytes();
        bench.that(
                before - mapped >= 2 * range.page(),
                "2 pages of " + range.page() + " bytes less free",
                "it is " + (before - mapped) + " bytes less");
        range.unmap(1, 2);
        bench.equal(
                "free memory after unmapping",
                before,
                bench.device().memoryInfo().freeBytes());
    }

    @Proves("MEM-028")
    void everyPageHoldsItsOwnData(Bench bench) {
        Range range = Range.reserve(bench, 3);
        for (int page : new int[] {2, 0, 1}) {
            range.map(page, 1);
        }
        for (int page = 0; page < 3; page++) {
            range.write(page, Bench.filled(64, 0x31 + page));
        }
        for (int page = 0; page < 3; page++) {
            bench.sameBytes("page " + page, Bench.filled(64, 0x31 + page), range.read(page, 64));
        }
    }

    @Proves("MEM-029")
    void unmappingLeavesTheOthersAlone(Bench bench) {
        Range range = Range.reserve(bench, 3);
        range.map(0, 3);
        for (int page = 0; page < 3; page++) {
            range.write(page, Bench.filled(64, 0x41 + page));
        }
        range.unmap(1, 1);
        bench.sameBytes("the page before", Bench.filled(64, 0x41), range.read(0, 64));
        bench.sameBytes("the page after", Bench.filled(64, 0x43), range.read(2, 64));
        range.map(1, 1);
        range.write(1, Bench.filled(64, 0x4F));
        bench.sameBytes("the page before, after mapping again", Bench.filled(64, 0x41), range.read(0, 64));
        bench.sameBytes("the page mapped again", Bench.filled(64, 0x4F), range.read(1, 64));
        bench.sameBytes("the page after, after mapping again", Bench.filled(64, 0x43), range.read(2, 64));
    }

    @Proves("MEM-030")
    void aPageIsMappedOnce(Bench bench) {
        Range range = Range.reserve(bench, 3);
        range.map(0, 2);
        bench.refuses("mapping a page again", () -> range.map(1, 2), ErrorCode.INVALID_STATE);
        bench.step("mapping the page that the refused call named too");
        range.map(2, 1);
    }

    @Proves("MEM-031")
    void onlyMappedPagesAreUnmapped(Bench bench) {
        Range range = Range.reserve(bench, 2);
        bench.refuses("unmapping a page that is not mapped", () -> range.unmap(0, 1), ErrorCode.INVALID_STATE);
        range.map(0, 1);
        bench.refuses("unmapping one page too many", () -> range.unmap(0, 2), ErrorCode.INVALID_STATE);
        range.unmap(0, 1);
    }

    @Proves("MEM-032")
    void partsOfPagesAreRefused(Bench bench) {
        Range range = Range.reserve(bench, 3);
        range.map(2, 1);
        long page = range.page();
        var driver = range.driver();
        DeviceMemory memory = range.buffer().memory();
        bench.refuses("mapping half a page", () -> driver.map(memory, 0, page / 2), ErrorCode.MISALIGNED);
        bench.refuses("mapping at half a page", () -> driver.map(memory, page / 2, page), ErrorCode.MISALIGNED);
        bench.refuses("unmapping half a page", () -> driver.unmap(memory, 2 * page, page / 2), ErrorCode.MISALIGNED);
    }

    @Proves("MEM-033")
    void freeingARangeUnmapsIt(Bench bench) {
        long before = bench.device().memoryInfo().freeBytes();
        Range range = Range.reserve(bench, 4);
        range.map(0, 1);
        range.map(2, 2);
        range.buffer().close();
        bench.equal(
                "free memory after the range was freed",
                before,
                bench.device().memoryInfo().freeBytes());
    }

    @Proves("MEM-034")
    void commandsCrossPages(Bench bench) {
        int bytes = 3000;
        Range range = Range.reserve(bench, 2);
        range.map(0, 1);
        range.map(1, 1);
        byte[] data = bench.randomBytes(bytes);
        Buffer from = bench.upload(bench.device(), data);
        Buffer to = bench.buffer(bench.device(), bytes);
        BufferView across = BufferView.vector(range.buffer(), range.page() - bytes / 2, bytes, ElementType.INT8);
        Stream stream = bench.stream(bench.device());
        stream.copy(across, Bench.bytes(from));
        stream.copy(Bench.bytes(to), across);
        stream.synchronize();
        bench.holds("what went across the border of two pages", data, to);
    }

    @Proves("MEM-035")
    void mappingTooMuchMapsNothing(Bench bench) {
        long page = bench.extension(io.weft.spi.VirtualMemoryDriver.class).pageBytes();
        long before = bench.device().memoryInfo().freeBytes();
        long pages = bench.device().memoryInfo().totalBytes() / page + 2;
        Range range = Range.reserve(bench, pages);
        bench.refuses("mapping " + pages + " pages", () -> range.map(0, pages), ErrorCode.OUT_OF_MEMORY);
        bench.equal("free memory", before, bench.device().memoryInfo().freeBytes());
        bench.refuses("unmapping the first of them", () -> range.unmap(0, 1), ErrorCode.INVALID_STATE);
        bench.step("mapping the first of them alone");
        range.map(0, 1);
    }
}
