// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
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
    }

    private static Range reserve(Bench bench, int pages) {
        VirtualMemoryDriver driver = bench.extension(VirtualMemoryDriver.class);
        long page = driver.pageBytes();
        DeviceMemory memory = driver.reserve(bench.device().driver(), pages * page);
        return new Range(bench, driver, bench.adopted(bench.device(), memory), page);
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
