// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.ErrorCode;
import io.weft.api.EventOptions;
import io.weft.api.graph.Command;
import io.weft.spi.DeviceDriver;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Mutants that break a rule about events. */
final class EventMutants {
    /** Knows on which stream an event was recorded last. */
    private static class Recorded extends Mutation {
        final Map<EventDriver, StreamDriver> last = new HashMap<>();

        @Override
        void record(StreamDriver stream, EventDriver event) {
            stream.record(event);
            last.put(event, stream);
        }
    }

    static final List<Mutant> ALL = List.of(
            Mutant.of("EVT-001", "a fresh event is not complete", () -> new Recorded() {
                @Override
                boolean query(EventDriver event) {
                    return event.query() && last.containsKey(event);
                }
            }),
            Mutant.of("EVT-002", "a wait for a fresh event is refused", () -> new Recorded() {
                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    if (!last.containsKey(event)) {
                        throw Refusal.of(ErrorCode.INVALID_STATE, "the event was never recorded");
                    }
                    stream.waitFor(event);
                }
            }),
            Mutant.of("EVT-003", "an event always says complete", () -> new Mutation() {
                @Override
                boolean query(EventDriver event) {
                    event.query();
                    return true;
                }
            }),
            Mutant.of("EVT-004", "synchronizing an event returns at once", () -> new Mutation() {
                @Override
                void synchronize(EventDriver event) {
                    event.query();
                }
            }),
            Mutant.of("EVT-005", "synchronizing an event waits for its whole stream", () -> new Recorded() {
                @Override
                void synchronize(EventDriver event) {
                    event.synchronize();
                    if (last.containsKey(event)) {
                        last.get(event).synchronize();
                    }
                }
            }),
            Mutant.of("EVT-006", "an event that is complete stays so", () -> new Mutation() {
                private final Set<EventDriver> complete = new HashSet<>();

                @Override
                void synchronize(EventDriver event) {
                    event.synchronize();
                    complete.add(event);
                }

                @Override
                boolean query(EventDriver event) {
                    return event.query() || complete.contains(event);
                }
            }),
            Mutant.of("EVT-007", "a wait looks at the event when it runs", () -> new Mutation() {
                private final Map<EventDriver, StreamDriver> waiters = new HashMap<>();

                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    stream.waitFor(event);
                    waiters.put(event, stream);
                }

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    waiters.values().removeIf(waiter -> waiter.equals(stream));
                    return stream.enqueue(command);
                }

                @Override
                void record(StreamDriver stream, EventDriver event) {
                    stream.record(event);
                    StreamDriver waiter = waiters.remove(event);
                    if (waiter != null && !waiter.equals(stream)) {
                        waiter.waitFor(event);
                    }
                }

                @Override
                void close(StreamDriver stream) {
                    waiters.values().removeIf(waiter -> waiter.equals(stream));
                    stream.close();
                }
            }),
            Mutant.of("EVT-008", "time stamps count down", () -> new Mutation() {
                @Override
                double timestampNanos(EventDriver event) {
                    return -event.timestampNanos();
                }
            }),
            Mutant.of("EVT-009", "time stamps are in microseconds", () -> new Mutation() {
                @Override
                double timestampNanos(EventDriver event) {
                    return event.timestampNanos() / 1000;
                }
            }),
            Mutant.of("EVT-010", "the second device's clock is half a millisecond behind", () -> new Mutation() {
                @Override
                double timestampNanos(EventDriver event) {
                    return event.timestampNanos() - (Refusal.ordinal(event) == 1 ? 500_000 : 0);
                }
            }),
            Mutant.of("EVT-011", "a time stamp is taken when it is asked for", () -> new Mutation() {
                private final Map<EventDriver, Integer> asked = new HashMap<>();

                @Override
                void record(StreamDriver stream, EventDriver event) {
                    stream.record(event);
                    asked.remove(event);
                }

                @Override
                double timestampNanos(EventDriver event) {
                    return event.timestampNanos() + 0.125 * (asked.merge(event, 1, Integer::sum) - 1);
                }
            }),
            Mutant.of("EVT-012", "a time stamp is kept from the first record", () -> new Mutation() {
                private final Map<EventDriver, Double> first = new HashMap<>();

                @Override
                double timestampNanos(EventDriver event) {
                    return first.computeIfAbsent(event, EventDriver::timestampNanos);
                }
            }),
            Mutant.of("EVT-013", "the third wait for an event is lost", () -> new Recorded() {
                private final Map<EventDriver, Integer> waits = new HashMap<>();

                @Override
                void record(StreamDriver stream, EventDriver event) {
                    super.record(stream, event);
                    waits.remove(event);
                }

                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    if (waits.merge(event, 1, Integer::sum) != 3) {
                        stream.waitFor(event);
                    }
                }
            }),
            Mutant.of("EVT-014", "an event is worn out after sixty records", () -> new Recorded() {
                private final Map<EventDriver, Integer> records = new HashMap<>();

                @Override
                void record(StreamDriver stream, EventDriver event) {
                    if (records.merge(event, 1, Integer::sum) <= 60) {
                        super.record(stream, event);
                    }
                }
            }),
            Mutant.of("EVT-015", "closing an event loses waits that have not begun", () -> new Mutation() {
                private record Wait(StreamDriver stream, EventDriver event) {}

                private final List<Wait> pending = new ArrayList<>();

                private void apply() {
                    pending.forEach(wait -> wait.stream().waitFor(wait.event()));
                    pending.clear();
                }

                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    apply();
                    pending.add(new Wait(stream, event));
                }

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    apply();
                    return stream.enqueue(command);
                }

                @Override
                void record(StreamDriver stream, EventDriver event) {
                    apply();
                    stream.record(event);
                }

                @Override
                void synchronize(StreamDriver stream) {
                    apply();
                    stream.synchronize();
                }

                @Override
                void close(EventDriver event) {
                    pending.removeIf(wait -> wait.event().equals(event));
                    event.close();
                }
            }),
            Mutant.of("EVT-016", "there are no more than 512 events", () -> new Mutation() {
                private int open;

                @Override
                EventDriver createEvent(DeviceDriver device, EventOptions options) {
                    if (open == 512) {
                        throw Refusal.of(ErrorCode.VENDOR, "no event left");
                    }
                    open++;
                    return device.createEvent(options);
                }

                @Override
                void close(EventDriver event) {
                    open--;
                    event.close();
                }
            }),
            Mutant.of("EVT-017", "an event stays with its first stream", () -> new Recorded() {
                @Override
                void record(StreamDriver stream, EventDriver event) {
                    StreamDriver first = last.getOrDefault(event, stream);
                    super.record(first, event);
                }

                @Override
                void close(StreamDriver stream) {
                    last.values().removeIf(first -> stream.equals(first));
                    stream.close();
                }
            }),
            Mutant.of("EVT-018", "a wait for an event with a time stamp is lost", () -> new Mutation() {
                private final Set<EventDriver> timed = new HashSet<>();

                @Override
                EventDriver createEvent(DeviceDriver device, EventOptions options) {
                    EventDriver event = device.createEvent(options);
                    if (options.timing()) {
                        timed.add(event);
                    }
                    return event;
                }

                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    if (!timed.contains(event) || !event.device().equals(stream.device())) {
                        stream.waitFor(event);
                    }
                }
            }),
            Mutant.of("EVT-019", "an event becomes complete only by synchronizing", () -> new Recorded() {
                private final Set<EventDriver> stuck = new HashSet<>();

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (Refusal.isFill(command, 0x22)) {
                        last.put(null, stream);
                    }
                    return stream.enqueue(command);
                }

                @Override
                void record(StreamDriver stream, EventDriver event) {
                    if (stream.equals(last.remove(null))) {
                        stuck.add(event);
                    }
                    super.record(stream, event);
                }

                @Override
                boolean query(EventDriver event) {
                    return event.query() && !stuck.contains(event);
                }
            }));

    private EventMutants() {}
}
