// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.ErrorCode;
import io.weft.api.EventOptions;
import io.weft.api.Priority;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Mutants that break a rule about streams. */
final class StreamMutants {
    /** Makes a stream wait for what was issued to another one. */
    private static void hold(StreamDriver later, StreamDriver earlier) {
        EventDriver event = earlier.device().createEvent(EventOptions.untimed());
        earlier.record(event);
        later.waitFor(event);
        event.close();
    }

    static final List<Mutant> ALL = List.of(
            Mutant.of("STR-001", "synchronize returns at once", () -> new Mutation() {
                @Override
                void synchronize(StreamDriver stream) {
                    // Nothing is waited for.
                }
            }),
            Mutant.of("STR-002", "a fill overtakes the copy before it", () -> new Mutation() {
                private Command held;
                private StreamDriver of;

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    boolean overtaken = command instanceof Command.Copy copy
                            && held == null
                            && copy.source().bytes() == 4096
                            && copy.destination().bytes() == 4096;
                    if (overtaken) {
                        held = command;
                        of = stream;
                        return Enqueue.ACCEPTED;
                    }
                    boolean fill = command instanceof Command.Fill && stream.equals(of);
                    if (!fill) {
                        release();
                    }
                    Enqueue result = stream.enqueue(command);
                    release();
                    return result;
                }

                private void release() {
                    if (held != null) {
                        Command late = held;
                        held = null;
                        of.enqueue(late);
                    }
                }

                @Override
                void synchronize(StreamDriver stream) {
                    release();
                    stream.synchronize();
                }

                @Override
                void record(StreamDriver stream, EventDriver event) {
                    release();
                    stream.record(event);
                }

                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    release();
                    stream.waitFor(event);
                }

                @Override
                void close(StreamDriver stream) {
                    release();
                    stream.close();
                }
            }),
            Mutant.of("STR-003", "a wait for an event of the same device is lost", () -> new Mutation() {
                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    if (!stream.device().equals(event.device())) {
                        stream.waitFor(event);
                    }
                }
            }),
            Mutant.of("STR-004", "a wait for an event of another device is lost", () -> new Mutation() {
                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    if (stream.device().equals(event.device())) {
                        stream.waitFor(event);
                    }
                }
            }),
            Mutant.of("STR-005", "a fill waits for every stream of its device", () -> new Mutation() {
                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (Refusal.isFill(command, 0x66)) {
                        stream.device().synchronize();
                    }
                    return stream.enqueue(command);
                }
            }),
            Mutant.of("STR-006", "the default stream does not wait for blocking streams", () -> new Mutation() {
                private final Set<StreamDriver> blocking = new HashSet<>();

                @Override
                StreamDriver createStream(DeviceDriver device, StreamOptions options) {
                    StreamDriver stream = device.createStream(options.withBlocking(false));
                    if (options.blocking()) {
                        blocking.add(stream);
                    }
                    return stream;
                }

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (blocking.contains(stream)) {
                        hold(stream, stream.device().defaultStream());
                    }
                    return stream.enqueue(command);
                }
            }),
            Mutant.of("STR-007", "blocking streams do not wait for the default stream", () -> new Mutation() {
                private final List<StreamDriver> blocking = new ArrayList<>();

                @Override
                StreamDriver createStream(DeviceDriver device, StreamOptions options) {
                    StreamDriver stream = device.createStream(options.withBlocking(false));
                    if (options.blocking()) {
                        blocking.add(stream);
                    }
                    return stream;
                }

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (stream.equals(stream.device().defaultStream())) {
                        blocking.stream()
                                .filter(other -> other.device().equals(stream.device()))
                                .forEach(other -> hold(stream, other));
                    }
                    return stream.enqueue(command);
                }

                @Override
                void close(StreamDriver stream) {
                    blocking.remove(stream);
                    stream.close();
                }
            }),
            Mutant.of("STR-008", "a fill on any stream joins the default stream", () -> new Mutation() {
                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (Refusal.isFill(command, 0x67)) {
                        hold(stream, stream.device().defaultStream());
                    }
                    return stream.enqueue(command);
                }
            }),
            Mutant.of("STR-009", "there are no more than forty small streams on a device", () -> new Mutation() {
                private final Set<StreamDriver> small = new HashSet<>();

                @Override
                StreamDriver createStream(DeviceDriver device, StreamOptions options) {
                    boolean counts = options.name().equals("one of many");
                    if (counts && small.size() == 40) {
                        throw Refusal.of(ErrorCode.VENDOR, "no stream left");
                    }
                    StreamDriver stream = device.createStream(options);
                    if (counts) {
                        small.add(stream);
                    }
                    return stream;
                }

                @Override
                void close(StreamDriver stream) {
                    small.remove(stream);
                    stream.close();
                }
            }),
            Mutant.of("STR-010", "a closed stream is not given back", () -> new Mutation() {
                private int unused;

                @Override
                StreamDriver createStream(DeviceDriver device, StreamOptions options) {
                    unused++;
                    if (unused > 200) {
                        unused = 0;
                        throw Refusal.of(ErrorCode.VENDOR, "no stream left");
                    }
                    return device.createStream(options);
                }

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    unused = 0;
                    return stream.enqueue(command);
                }

                @Override
                CommunicatorDriver join(
                        CollectiveDriver collectives,
                        byte[] uniqueId,
                        int size,
                        Map<Integer, DeviceDriver> localRanks) {
                    unused = 0;
                    return collectives.join(uniqueId, size, localRanks);
                }
            }),
            Mutant.of("STR-011", "query always says complete", () -> new Mutation() {
                @Override
                boolean query(StreamDriver stream) {
                    stream.query();
                    return true;
                }
            }),
            Mutant.of("STR-012", "query says complete only after synchronize", () -> new Mutation() {
                private final Set<StreamDriver> synchronizedOnes = new HashSet<>();

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (Refusal.isFill(command, 0x21)) {
                        synchronizedOnes.add(stream);
                    }
                    return stream.enqueue(command);
                }

                @Override
                boolean query(StreamDriver stream) {
                    return stream.query() && !synchronizedOnes.contains(stream);
                }
            }),
            Mutant.of("STR-013", "the sign of priorities is reversed", () -> new Mutation() {
                @Override
                Priority effectivePriority(StreamDriver stream) {
                    return switch (stream.effectivePriority()) {
                        case HIGH -> Priority.LOW;
                        case NORMAL -> Priority.NORMAL;
                        case LOW -> Priority.HIGH;
                    };
                }
            }),
            Mutant.of("STR-014", "priorities are declared and ignored", () -> new Mutation() {
                @Override
                Priority effectivePriority(StreamDriver stream) {
                    return Priority.NORMAL;
                }
            }),
            Mutant.of("STR-015", "a command that is refused for a full queue runs all the same", () -> new Mutation() {
                private final Map<StreamDriver, Integer> issued = new HashMap<>();

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    Enqueue result = stream.enqueue(command);
                    return issued.merge(stream, 1, Integer::sum) == 4000 ? Enqueue.QUEUE_FULL : result;
                }
            }),
            Mutant.of("STR-016", "the last slot of a ring of commands is lost", () -> new Mutation() {
                private final Map<StreamDriver, Integer> issued = new HashMap<>();

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    return issued.merge(stream, 1, Integer::sum) % 1024 == 0
                            ? Enqueue.ACCEPTED
                            : stream.enqueue(command);
                }
            }),
            Mutant.of("STR-017", "closing a stream drops its last batch", () -> new Mutation() {
                private final Map<StreamDriver, Deque<Command>> batches = new HashMap<>();

                private void flush(StreamDriver stream) {
                    Deque<Command> batch = batches.remove(stream);
                    if (batch != null) {
                        batch.forEach(stream::enqueue);
                    }
                }

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    flush(stream);
                    if (!Refusal.isFill(command, 0x5D)) {
                        return stream.enqueue(command);
                    }
                    batches.computeIfAbsent(stream, key -> new ArrayDeque<>()).add(command);
                    return Enqueue.ACCEPTED;
                }

                @Override
                void synchronize(StreamDriver stream) {
                    flush(stream);
                    stream.synchronize();
                }

                @Override
                void record(StreamDriver stream, EventDriver event) {
                    flush(stream);
                    stream.record(event);
                }

                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    flush(stream);
                    stream.waitFor(event);
                }

                @Override
                void close(StreamDriver stream) {
                    batches.remove(stream);
                    stream.close();
                }
            }),
            Mutant.of("STR-018", "commands of a second thread get lost now and then", () -> new Mutation() {
                private int issued;

                @Override
                synchronized Enqueue enqueue(StreamDriver stream, Command command) {
                    if (Thread.currentThread().getName().equals("conformance rank 2")) {
                        issued++;
                        if (issued % 50 == 0) {
                            return Enqueue.ACCEPTED;
                        }
                    }
                    return stream.enqueue(command);
                }
            }),
            Mutant.of("STR-019", "a fill waits for the other devices", () -> new Mutation() {
                private final Set<DeviceDriver> others = new HashSet<>();

                @Override
                StreamDriver createStream(DeviceDriver device, StreamOptions options) {
                    others.add(device);
                    return device.createStream(options);
                }

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (Refusal.isFill(command, 0x68)) {
                        others.forEach(DeviceDriver::synchronize);
                    }
                    return stream.enqueue(command);
                }
            }),
            Mutant.of("STR-020", "synchronizing a device waits for its default stream alone", () -> new Mutation() {
                @Override
                void synchronize(DeviceDriver device) {
                    device.defaultStream().synchronize();
                    device.defaultStream().query();
                }
            }),
            Mutant.of("STR-021", "a wait on a shared queue is lost after a while", () -> new Mutation() {
                private final Map<StreamDriver, Integer> waits = new HashMap<>();

                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    int number = waits.merge(stream, 1, Integer::sum);
                    if (number != 3 || waits.size() < 6) {
                        stream.waitFor(event);
                    }
                }

                @Override
                void close(StreamDriver stream) {
                    waits.remove(stream);
                    stream.close();
                }
            }),
            Mutant.of("STR-022", "a fresh stream is not complete", () -> new Mutation() {
                private final Set<StreamDriver> used = new HashSet<>();

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    used.add(stream);
                    return stream.enqueue(command);
                }

                @Override
                boolean query(StreamDriver stream) {
                    return stream.query() && used.contains(stream);
                }
            }),
            Mutant.of("STR-023", "commands on the default stream go to a stream each", () -> new Mutation() {
                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (command instanceof Command.Copy copy
                            && stream.equals(stream.device().defaultStream())
                            && first(copy.destination())) {
                        StreamDriver other = stream.device().createStream(StreamOptions.defaults());
                        other.enqueue(command);
                        other.close();
                        return Enqueue.ACCEPTED;
                    }
                    return stream.enqueue(command);
                }

                private boolean first(BufferView view) {
                    return view.bytes() == 4096;
                }
            }),
            Mutant.of("STR-024", "synchronizing a device waits for all devices", () -> new Mutation() {
                private final Set<DeviceDriver> all = new HashSet<>();

                @Override
                StreamDriver createStream(DeviceDriver device, StreamOptions options) {
                    all.add(device);
                    return device.createStream(options);
                }

                @Override
                void synchronize(DeviceDriver device) {
                    device.synchronize();
                    for (DeviceDriver other : all) {
                        try {
                            other.synchronize();
                        } catch (AcceleratorException failure) {
                            if (failure.code() == ErrorCode.TIMEOUT) {
                                throw failure;
                            }
                        }
                    }
                }
            }));

    private StreamMutants() {}
}
