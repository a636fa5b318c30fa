// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import io.weft.memory.replay.Trace;
import java.util.List;

/** Memory snapshots of PyTorch as {@code torch.cuda.memory._dump_snapshot} pickles them. */
final class SnapshotPickle {
    private static final String ACCEPTED =
            "accepted is a memory snapshot, a dictionary with 'segments' and 'device_traces' or a list of segments";

    private SnapshotPickle() {}

    static Trace read(TraceInput in, String place, String name, String device) {
        Object value = new DataUnpickler(in, place, Runtime.getRuntime().maxMemory() / 4 * 3).read();
        MemorySnapshot snapshot = new MemorySnapshot(place);
        switch (value) {
            case Fields fields -> dictionary(fields, snapshot, place);
            case List<?> segments -> {
                if (segments.isEmpty() || !(segments.getFirst() instanceof Fields first) || !first.has("blocks")) {
                    throw TraceFile.fault(place, "the pickle holds a list, but not of segments; " + ACCEPTED, null);
                }
                snapshot.segments();
                segments.forEach(snapshot::segment);
            }
            case null, default ->
                throw TraceFile.fault(place, "the pickle holds neither a dictionary nor a list; " + ACCEPTED, null);
        }
        return snapshot.trace(name, "pickle", device);
    }

    private static void dictionary(Fields fields, MemorySnapshot snapshot, String place) {
        List<?> segments = fields.list("segments");
        List<?> traces = fields.list("device_traces");
        if (segments == null && traces == null) {
            throw TraceFile.fault(
                    place, "the pickle holds a dictionary with the keys " + fields.names() + "; " + ACCEPTED, null);
        }
        if (segments != null) {
            snapshot.segments();
            segments.forEach(snapshot::segment);
        }
        for (int device = 0; traces != null && device < traces.size(); device++) {
            List<?> events = Fields.items(traces.get(device));
            if (events == null) {
                throw TraceFile.fault(place, "device_traces[" + device + "] is no list", null);
            }
            snapshot.events(device);
            for (Object event : events) {
                snapshot.event(device, event);
            }
        }
    }
}
