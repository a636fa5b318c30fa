// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.Device;
import io.weft.api.Priority;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The streams that lanes run on, made when first needed and shared by all plans of an engine, as those run one after the other. Not for several threads at once. */
final class LaneStreams implements AutoCloseable {
    private record Key(int rank, int lane, Priority priority) {}

    private final List<Device> devices;
    private final Map<Key, Stream> streams = new HashMap<>();

    LaneStreams(List<Device> devices) {
        this.devices = List.copyOf(devices);
    }

    /** The stream of a lane. */
    Stream of(int rank, int lane, Priority priority) {
        return streams.computeIfAbsent(
                new Key(rank, lane, priority),
                key -> devices.get(rank)
                        .createStream(new StreamOptions(priority, false, "overlap rank " + rank + " lane " + lane)));
    }

    @Override
    public void close() {
        new ArrayList<>(streams.values()).forEach(Stream::close);
        streams.clear();
    }
}
