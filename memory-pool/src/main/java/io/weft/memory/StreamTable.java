// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Device;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Stream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Numbers the streams of a device for a pool's core, and keeps the events that tell how far they are. Events are of this device only and are used again. A closed
 * stream has completed everything, so its number goes to the next new stream and nothing of it is kept.
 */
final class StreamTable implements StreamOrder {
    private record Recorded(int mark, Event event) {}

    private final Device device;
    private final Map<Stream, Integer> numbers = new ConcurrentHashMap<>();
    private final List<Stream> streams = new ArrayList<>();
    private final List<ArrayDeque<Recorded>> pending = new ArrayList<>();
    private final List<Integer> passed = new ArrayList<>();
    private final ArrayDeque<Event> spare = new ArrayDeque<>();

    StreamTable(Device device) {
        this.device = device;
    }

    /** The stream's number; a new one where it has none yet. */
    int number(Stream stream) {
        Integer known = numbers.get(stream);
        return known != null ? known : add(stream);
    }

    private synchronized int add(Stream stream) {
        Integer known = numbers.get(stream);
        if (known != null) {
            return known;
        }
        for (int number = 0; number < streams.size(); number++) {
            Stream old = streams.get(number);
            if (old.isClosed()) {
                // Its close may be under way in another thread.
                device.synchronize();
                numbers.remove(old);
                streams.set(number, stream);
                numbers.put(stream, number);
                return number;
            }
        }
        streams.add(stream);
        pending.add(new ArrayDeque<>());
        passed.add(0);
        numbers.put(stream, streams.size() - 1);
        return streams.size() - 1;
    }

    @Override
    public synchronized void record(int stream, int mark) {
        Stream on = streams.get(stream);
        if (on.isClosed()) {
            device.synchronize();
            drain(stream);
            passed.set(stream, mark);
            return;
        }
        Event event = spare.poll();
        if (event == null) {
            event = device.createEvent(EventOptions.untimed());
        }
        try {
            on.record(event);
        } catch (AcceleratorException failed) {
            // A failed stream passes nothing any more: what was freed on it stays out of others' reach, and the
            // caller's own calls say why.
            spare.push(event);
            return;
        }
        pending.get(stream).add(new Recorded(mark, event));
    }

    @Override
    public synchronized int passed(int stream) {
        ArrayDeque<Recorded> queue = pending.get(stream);
        while (!queue.isEmpty() && isComplete(queue.peek().event())) {
            Recorded done = queue.poll();
            passed.set(stream, done.mark());
            spare.push(done.event());
        }
        return passed.get(stream);
    }

    private static boolean isComplete(Event event) {
        try {
            return event.query();
        } catch (AcceleratorException failed) {
            return false;
        }
    }

    private void drain(int stream) {
        ArrayDeque<Recorded> queue = pending.get(stream);
        while (!queue.isEmpty()) {
            spare.push(queue.poll().event());
        }
    }

    @Override
    public synchronized void await(int stream, int other, int mark) {
        for (Recorded recorded : pending.get(other)) {
            if (recorded.mark() - mark >= 0) {
                streams.get(stream).waitFor(recorded.event());
                return;
            }
        }
        if (passed.get(other) - mark < 0) {
            // The other stream failed before the mark; the device knows when its work is over.
            device.synchronize();
        }
    }

    @Override
    public void synchronize() {
        try {
            device.synchronize();
        } catch (AcceleratorException failed) {
            // Another stream's failure is not this allocation's; what that stream holds stays held.
            return;
        }
    }

    synchronized void close() {
        for (int stream = 0; stream < pending.size(); stream++) {
            drain(stream);
        }
        spare.forEach(Event::close);
        spare.clear();
        numbers.clear();
        streams.clear();
    }
}
