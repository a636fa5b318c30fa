// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.memory.PoolStatistics;
import io.weft.memory.PoolUse;
import io.weft.runtime.memory.DeviceUse;
import java.io.PrintWriter;

/** What the pools of a device have done, for people. */
final class MemoryTable {
    private MemoryTable() {}

    /** Prints a blank line, a title, and a row for each pool that was used. */
    static void print(String title, DeviceUse use, PrintWriter out) {
        out.println();
        out.println(title);
        TextTable table = new TextTable("pool", ">most out", ">most held", ">allocations", ">device calls");
        for (PoolUse pool : use.pools()) {
            PoolStatistics now = pool.statistics();
            if (now.allocations() > 0) {
                table.row(
                        pool.pool(),
                        Figure.bytes((double) now.peakAllocatedBytes()),
                        Figure.bytes((double) now.peakReservedBytes()),
                        Long.toString(now.allocations()),
                        Long.toString(now.deviceAllocations() + now.deviceFrees()));
            }
        }
        table.print(out);
    }
}
