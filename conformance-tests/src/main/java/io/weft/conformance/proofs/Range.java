// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.conformance.bench.Bench;
import io.weft.spi.DeviceMemory;
import io.weft.spi.VirtualMemoryDriver;
import java.lang.foreign.MemorySegment;

/**
 * A reserved address range of the first device, by pages.
 *
 * @param driver who maps
 * @param page bytes of a page
 * @param buffer the range
 */
record Range(VirtualMemoryDriver driver, long page, Buffer buffer) {
    static Range reserve(Bench bench, long pages) {
        VirtualMemoryDriver driver = bench.extension(VirtualMemoryDriver.class);
        long page = driver.pageBytes();
        DeviceMemory memory = driver.reserve(bench.device().driver(), pages * page);
        Buffer buffer =
                bench.device().adopt(memory, closed -> bench.device().driver().free(memory));
        return new Range(driver, page, bench.held(buffer));
    }

    void map(long first, long count) {
        driver.map(buffer.memory(), first * page, count * page);
    }

    void unmap(long first, long count) {
        driver.unmap(buffer.memory(), first * page, count * page);
    }

    void write(long at, byte[] data) {
        buffer.write(at * page, MemorySegment.ofArray(data));
    }

    byte[] read(long at, int bytes) {
        byte[] data = new byte[bytes];
        buffer.read(MemorySegment.ofArray(data), at * page);
        return data;
    }
}
