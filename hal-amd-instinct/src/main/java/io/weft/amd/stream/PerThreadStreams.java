// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.stream;

import io.weft.api.Device;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * hipStreamPerThread of a device: each thread has a default stream of its own, which joins the null stream as any blocking stream does, and no other thread's. Safe for any
 * thread; closing it closes the streams of all.
 */
public final class PerThreadStreams implements AutoCloseable {
    private final Device device;
    private final List<Stream> made = new ArrayList<>();
    private final ThreadLocal<Stream> mine = ThreadLocal.withInitial(this::make);

    /** For a device, which outlives it. */
    public PerThreadStreams(Device device) {
        this.device = device;
    }

    private Stream make() {
        Stream stream = device.createStream(StreamOptions.defaults()
                .withBlocking(true)
                .withName("of " + Thread.currentThread().getName()));
        synchronized (made) {
            made.add(stream);
        }
        return stream;
    }

    /** The stream of the calling thread, made when it first asks. */
    public Stream stream() {
        return mine.get();
    }

    @Override
    public void close() {
        synchronized (made) {
            made.forEach(Stream::close);
            made.clear();
        }
    }
}
