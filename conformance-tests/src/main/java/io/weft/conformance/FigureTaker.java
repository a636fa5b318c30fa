// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Capability;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.MemoryKind;
import io.weft.api.Platform;
import io.weft.api.Stream;
import java.util.LinkedHashMap;
import java.util.Map;

/** A few performance figures, by the platform's own clock. They are told and never judged. */
final class FigureTaker {
    private static final long COPY_BYTES = 4 << 20;
    private static final int LAUNCHES = 64;
    private static final int COPIES = 4;

    private FigureTaker() {}

    /** Takes them; what a platform cannot do is left out. */
    static Map<String, Double> take(Platform platform) {
        Map<String, Double> figures = new LinkedHashMap<>();
        Device device = platform.devices().getFirst();
        try (Stream stream = device.createStream();
                Buffer from = device.allocate(COPY_BYTES);
                Buffer to = device.allocate(COPY_BYTES)) {
            var small = from.vector(64, ElementType.INT8);
            long begin = platform.nanoTime();
            for (int i = 0; i < LAUNCHES; i++) {
                stream.fill(small, 1);
            }
            stream.synchronize();
            figures.put("small command, ns each", (platform.nanoTime() - begin) / (double) LAUNCHES);
            figures.put("copy within a device, GB/s", copy(platform, stream, to, from));
            try (Buffer host = device.allocate(MemoryKind.HOST_PINNED, COPY_BYTES)) {
                figures.put("copy from pinned host memory, GB/s", copy(platform, stream, to, host));
                figures.put("copy to pinned host memory, GB/s", copy(platform, stream, host, from));
            }
            if (platform.has(Capability.PEER_COPY) && platform.devices().size() > 1) {
                Device peer = platform.devices().get(1);
                if (platform.topology().link(0, 1).copyable()) {
                    try (Buffer remote = peer.allocate(COPY_BYTES)) {
                        figures.put("copy from device 0 to device 1, GB/s", copy(platform, stream, remote, from));
                    }
                }
            }
        } catch (AcceleratorException refused) {
            return figures; // a run of a few rules may judge a backend that cannot do all this
        }
        return figures;
    }

    private static double copy(Platform platform, Stream stream, Buffer to, Buffer from) {
        var destination = to.vector(COPY_BYTES, ElementType.INT8);
        var source = from.vector(COPY_BYTES, ElementType.INT8);
        stream.synchronize();
        long begin = platform.nanoTime();
        for (int i = 0; i < COPIES; i++) {
            stream.copy(destination, source);
        }
        stream.synchronize();
        return COPIES * COPY_BYTES / (double) Math.max(1, platform.nanoTime() - begin);
    }
}
