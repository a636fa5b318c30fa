// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.json;

import io.weft.memory.PoolStatistics;
import io.weft.memory.PoolUse;
import io.weft.runtime.memory.DeviceUse;
import java.util.List;

/** The memory section of reports. */
public final class MemoryJson {
    private MemoryJson() {}

    /** Writes the member {@code memory}. */
    public static void write(JsonWriter json, List<DeviceUse> devices) {
        json.array(
                "memory",
                devices,
                use -> json.object(() ->
                        json.member("device", use.device()).array("pools", use.pools(), pool -> pool(json, pool))));
    }

    private static void pool(JsonWriter json, PoolUse pool) {
        PoolStatistics now = pool.statistics();
        json.object(() -> json.member("pool", pool.pool())
                .member("peakAllocatedBytes", now.peakAllocatedBytes())
                .member("peakReservedBytes", now.peakReservedBytes())
                .member("fragmentation", now.fragmentation())
                .member("allocations", now.allocations())
                .member("deviceCalls", now.deviceAllocations() + now.deviceFrees())
                .member("outOfMemoryRetries", now.retries()));
    }
}
