// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.MemoryInfo;
import io.weft.api.StreamOptions;
import io.weft.spi.DeviceDriver;
import io.weft.spi.StreamDriver;
import java.util.HashMap;
import java.util.Map;

/**
 * No mutant: a backend that keeps some memory of each device's first streams for later ones, as CUDA's driver does (22 MiB with 40 streams opened and closed, driver 580.159 on
 * H200). The rules allow it.
 */
public final class KeptMemory extends Mutation {
    private static final int CHANNELS = 11;
    private static final long BYTES_EACH = 2L << 20;

    private final Map<DeviceDriver, Integer> channels = new HashMap<>();

    @Override
    StreamDriver createStream(DeviceDriver device, StreamOptions options) {
        channels.merge(device, 1, (now, more) -> Math.min(CHANNELS, now + more));
        return device.createStream(options);
    }

    @Override
    MemoryInfo memoryInfo(DeviceDriver device) {
        MemoryInfo now = device.memoryInfo();
        long kept = channels.getOrDefault(device, 0) * BYTES_EACH;
        return new MemoryInfo(now.totalBytes(), Math.max(0, now.freeBytes() - kept));
    }
}
