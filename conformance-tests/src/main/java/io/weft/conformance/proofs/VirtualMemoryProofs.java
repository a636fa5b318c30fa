// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.api.Stream;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.RuleBroken;
import io.weft.spi.DeviceMemory;
import io.weft.spi.VirtualMemoryDriver;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Virtual memory: address ranges whose pages are mapped on demand. Only the ends of pages are looked at, since pages are large. */
final class VirtualMemoryProofs {
    private static final int SPOT = 64;

    /** A range with its page size. */
    private record Range(Bench bench, VirtualMemoryDriver driver, Buffer buffer, long page) {
        DeviceMemory memory() {
            return buffer.memory();
        }

        void map(long firstPage, long pages) {
            driver.map(memory(), firstPage * page, pages * page);
        }

        void unmap(long firstPage, long pages) {
            driver.unmap(memory(), firstPage * page, pages * page);
        }

        /** Bytes at the start and at the end of a page. */
        byte[] mark(long number) {
            byte[] data = bench.randomBytes(2 * SPOT);
            buffer.write(number * page, MemorySegment.ofArray(Arrays.copyOf(data, SPOT)));
            buffer.write((number + 1) * page - SPOT, MemorySegment.ofArray(Arrays.copyOfRange(data, SPOT, 2 * SPOT)));
            return data;
        }

        void holds(String what, long number, byte[] mark) {
            byte[] first = new byte[SPOT];
            byte[] last = new byte[SPOT];
            buffer.read(MemorySegment.ofArray(first), number * page);
            buffer.read(MemorySegment.ofArray(last), (number + 1) * page - SPOT);
            bench.sameBytes("the start of " + what, Arrays.copyOf(mark, SPOT), first);
            bench.sameBytes("the end of " + what, Arrays.copyOfRange(mark, SPOT, 2 * SPOT), last);
        }

        long free() {
            return buffer.device().memoryInfo().freeBytes();
        }
    }

    private static Range reserve(Bench bench, int pages) {
        VirtualMemoryDriver driver = bench.extension(VirtualMemoryDriver.class);
        long page = driver.pageBytes();
        DeviceMemory memory = driver.reserve(bench.device().driver(), pages * page);
        return new Range(bench, driver, bench.adopted(bench.device(), memory), page);
    }

    @Proves("SYM-021")
    void pagesAreAPowerOfTwo(Bench bench) {
        long page = bench.extension(VirtualMemoryDriver.class).pageBytes();
        bench.that(page > 0 && Long.bitCount(page) == 1, "a power of two as page size", "it is " + page);
        bench.raw(bench.device(), MemoryKind.DEVICE, 1);
        for (int i = 0; i < 3; i++) {
            Range range = reserve(bench, 1);
            bench.that(
                    range.buffer().address() % page == 0,
                    "a range that starts at a multiple of " + page,
                    "it starts at 0x" + Long.toHexString(range.buffer().address()));
        }
    }

    @Proves("SYM-022")
    void aRangeTakesNoMemory(Bench bench) {
        long before = bench.device().memoryInfo().freeBytes();
        Range range = reserve(bench, 8);
        bench.equal("the free bytes after a reservation", before, range.free());
        bench.equal("the size of the range", 8 * range.page(), range.buffer().bytes());
    }

    @Proves("SYM-023")
    void mappingTakesAndUnmappingGives(Bench bench) {
        Range range = reserve(bench, 4);
        long before = range.free();
        range.map(0, 1);
        bench.equal("the free bytes with one page mapped", before - range.page(), range.free());
        range.map(2, 2);
        bench.equal("the free bytes with three pages mapped", before - 3 * range.page(), range.free());
        range.unmap(2, 1);
        bench.equal("the free bytes with two pages mapped", before - 2 * range.page(), range.free());
        range.unmap(0, 1);
        range.unmap(3, 1);
        bench.equal("the free bytes with no page mapped", before, range.free());
    }

    @Proves("SYM-024")
    void mappedPagesAreUsable(Bench bench) {
        Range range = reserve(bench, 3);
        range.map(0, 1);
        range.map(1, 1);
        Device device = bench.device();
        Stream stream = bench.stream(device);
        int bytes = 8192;
        long across = range.page() - 4096;
        byte[] data = bench.randomBytes(bytes);
        Buffer source = bench.upload(device, data);
        Buffer back = bench.buffer(device, bytes);
        bench.step("copies into two mapped pages and out of them, across their border");
        stream.copy(BufferView.vector(range.buffer(), across, bytes, ElementType.INT8), Bench.bytes(source));
        stream.copy(Bench.bytes(back), BufferView.vector(range.buffer(), across, bytes, ElementType.INT8));
        stream.synchronize();
        bench.holds("what was copied out of the pages", data, back);
        byte[] host = new byte[bytes];
        range.buffer().read(MemorySegment.ofArray(host), across);
        bench.sameBytes("what the host reads", data, host);
    }

    @Proves("SYM-025")
    void otherPagesStay(Bench bench) {
        Range range = reserve(bench, 5);
        range.map(1, 3);
        byte[] first = range.mark(1);
        byte[] third = range.mark(3);
        range.unmap(2, 1);
        range.holds("page 1 after page 2 was unmapped", 1, first);
        range.holds("page 3 after page 2 was unmapped", 3, third);
        range.map(0, 1);
        range.map(4, 1);
        range.holds("page 1 after others were mapped", 1, first);
        range.holds("page 3 after others were mapped", 3, third);
    }

    @Proves("SYM-026")
    void aPageIsUsableAgain(Bench bench) {
        Range range = reserve(bench, 2);
        range.map(0, 2);
        range.mark(1);
        byte[] neighbour = range.mark(0);
        for (int round = 0; round < 3; round++) {
            range.unmap(1, 1);
            range.map(1, 1);
            byte[] mark = range.mark(1);
            range.holds("page 1 after remapping", 1, mark);
            Buffer copy = bench.buffer(bench.device(), SPOT);
            Stream stream = bench.stream(bench.device());
            stream.copy(Bench.bytes(copy), BufferView.vector(range.buffer(), range.page(), SPOT, ElementType.INT8));
            stream.synchronize();
            bench.holds("a copy out of the remapped page", Arrays.copyOf(mark, SPOT), copy);
        }
        range.holds("page 0 beside the remapped one", 0, neighbour);
    }

    @Proves("SYM-027")
    void aMappedPageIsNotMappedAgain(Bench bench) {
        Range range = reserve(bench, 3);
        range.map(1, 1);
        bench.refuses("mapping a mapped page", () -> range.map(1, 1), ErrorCode.INVALID_STATE);
        bench.refuses("mapping three pages of which one is mapped", () -> range.map(0, 3), ErrorCode.INVALID_STATE);
    }

    @Proves("SYM-028")
    void anUnmappedPageIsNotUnmapped(Bench bench) {
        Range range = reserve(bench, 3);
        bench.refuses("unmapping a page that was never mapped", () -> range.unmap(0, 1), ErrorCode.INVALID_STATE);
        range.map(0, 2);
        bench.refuses(
                "unmapping three pages of which two are mapped", () -> range.unmap(0, 3), ErrorCode.INVALID_STATE);
        range.unmap(0, 2);
        bench.refuses("unmapping a page twice", () -> range.unmap(0, 1), ErrorCode.INVALID_STATE);
    }

    @Proves("SYM-029")
    void crookedRangesAreRefused(Bench bench) {
        Range range = reserve(bench, 2);
        long half = range.page() / 2;
        bench.refuses(
                "mapping from the middle of a page",
                () -> range.driver().map(range.memory(), half, range.page()),
                ErrorCode.MISALIGNED);
        bench.refuses("mapping half a page", () -> range.driver().map(range.memory(), 0, half), ErrorCode.MISALIGNED);
        range.map(0, 1);
        bench.refuses(
                "unmapping half a page", () -> range.driver().unmap(range.memory(), 0, half), ErrorCode.MISALIGNED);
    }

    @Proves("SYM-030")
    void mappingBeyondTheEndIsRefused(Bench bench) {
        Range range = reserve(bench, 2);
        bench.refuses("mapping the page behind the range", () -> range.map(2, 1), ErrorCode.OUT_OF_BOUNDS);
        bench.refuses("mapping three pages of two", () -> range.map(0, 3), ErrorCode.OUT_OF_BOUNDS);
    }

    @Proves("SYM-031")
    void anUnmappedPageIsNotUsed(Bench bench) {
        Range range = reserve(bench, 2);
        range.map(0, 2);
        range.unmap(1, 1);
        byte[] spot = new byte[SPOT];
        failsToUse(
                bench,
                "a host read of an unmapped page",
                () -> range.buffer().read(MemorySegment.ofArray(spot), range.page()));
        failsToUse(
                bench,
                "a host write to an unmapped page",
                () -> range.buffer().write(range.page(), MemorySegment.ofArray(spot)));
        Stream stream = bench.stream(bench.device());
        Buffer to = bench.buffer(bench.device(), SPOT);
        failsToUse(bench, "a copy out of an unmapped page", () -> {
            stream.copy(Bench.bytes(to), BufferView.vector(range.buffer(), range.page(), SPOT, ElementType.INT8));
            stream.synchronize();
        });
    }

    private static void failsToUse(Bench bench, String what, Runnable use) {
        bench.step(what);
        try {
            use.run();
        } catch (AcceleratorException told) {
            return;
        }
        throw new RuleBroken(what + " to be an error", "it went through");
    }

    @Proves("SYM-032")
    void freeingARangeGivesItsPagesBack(Bench bench) {
        long before = bench.device().memoryInfo().freeBytes();
        Range range = reserve(bench, 4);
        range.map(0, 1);
        range.map(2, 2);
        range.buffer().close();
        bench.equal(
                "the free bytes after the range was freed",
                before,
                bench.device().memoryInfo().freeBytes());
    }

    @Proves("SYM-033")
    void oddSizesAreNotReserved(Bench bench) {
        VirtualMemoryDriver driver = bench.extension(VirtualMemoryDriver.class);
        long page = driver.pageBytes();
        for (long bytes : new long[] {0, 1, page / 2, page + 1}) {
            bench.refuses(
                    "a range of " + bytes + " bytes",
                    () -> bench.adopted(
                            bench.device(), driver.reserve(bench.device().driver(), bytes)),
                    ErrorCode.INVALID_ARGUMENT);
        }
    }

    @Proves("SYM-034")
    void aMappingThatDoesNotFitTakesNothing(Bench bench) {
        VirtualMemoryDriver driver = bench.extension(VirtualMemoryDriver.class);
        long page = driver.pageBytes();
        long pages = bench.device().memoryInfo().freeBytes() / page + 2;
        Buffer range =
                bench.adopted(bench.device(), driver.reserve(bench.device().driver(), pages * page));
        long before = bench.device().memoryInfo().freeBytes();
        bench.refuses(
                "mapping more than the device has",
                () -> driver.map(range.memory(), 0, pages * page),
                ErrorCode.OUT_OF_MEMORY);
        bench.equal(
                "the free bytes after a refused mapping",
                before,
                bench.device().memoryInfo().freeBytes());
        driver.map(range.memory(), 0, page);
        driver.unmap(range.memory(), 0, page);
    }

    @Proves("SYM-035")
    void anyPatternKeepsTheData(Bench bench) {
        int pages = 7;
        Range range = reserve(bench, pages);
        Map<Integer, byte[]> marks = new HashMap<>();
        for (int step = 0; step < 40; step++) {
            int page = bench.random().nextInt(pages);
            bench.step("step " + step + ": page " + page + (marks.containsKey(page) ? " is unmapped" : " is mapped"));
            if (marks.containsKey(page)) {
                range.holds("page " + page + " before it is unmapped", page, marks.remove(page));
                range.unmap(page, 1);
            } else {
                range.map(page, 1);
                marks.put(page, range.mark(page));
            }
        }
        marks.forEach((page, mark) -> range.holds("page " + page + " at the end", page, mark));
    }
}
