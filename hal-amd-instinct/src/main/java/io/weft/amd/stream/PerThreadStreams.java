// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.stream;

import io.weft.api.Device;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * hipStreamPerThread of a device: each thread has a default stream of its own, which joins the null stream as any blocking stream does, and no other thread's. Safe for any
 * thread; closing it closes the streams of all.
 */
public final class PerThreadStreams implements AutoCloseable {
    private final Device device;
    private final Map<Thread, Stream> made = new ConcurrentHashMap<>();

    /** For a device, which outlives it. */
    public PerThreadStreams(Device device) {
        this.device = device;
    }

    /** The stream of the calling thread, made when it first asks. */
    public Stream stream() {
        return made.computeIfAbsent(
                Thread.currentThread(),
                thread -> device.createStream(
                        StreamOptions.defaults().withBlocking(true).withName("of " + thread.getName())));
    }

    @Override
    public void close() {
        made.values().forEach(Stream::close);
        made.clear();
    }
}
