// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.EventOptions;
import io.weft.api.MemoryKind;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.FaultDriver;
import io.weft.spi.StreamDriver;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** Mutants that break a rule about errors. */
final class ErrorMutants {
    /** Knows which streams have failed, as far as somebody was told. */
    private static class Failures extends Mutation {
        final Set<StreamDriver> failed = new HashSet<>();

        @Override
        void synchronize(StreamDriver stream) {
            try {
                stream.synchronize();
            } catch (AcceleratorException failure) {
                if (failure.code() == ErrorCode.STREAM_FAILED) {
                    failed.add(stream);
                }
                throw failure;
            }
        }

        @Override
        void close(StreamDriver stream) {
            failed.remove(stream);
            stream.close();
        }

        final boolean anyFailedOn(DeviceDriver device) {
            return failed.stream().anyMatch(stream -> stream.device().equals(device));
        }
    }

    static final List<Mutant> ALL = List.of(
            Mutant.of("ERR-001", "a failure is told once and forgotten", () -> new Failures() {
                @Override
                void synchronize(StreamDriver stream) {
                    if (failed.contains(stream)) {
                        return;
                    }
                    super.synchronize(stream);
                }
            }),
            Mutant.of("ERR-002", "a failed stream takes commands and drops them", () -> new Failures() {
                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    return failed.contains(stream) ? Enqueue.ACCEPTED : stream.enqueue(command);
                }
            }),
            Mutant.of("ERR-003", "the failure of a stream has no cause", () -> new Mutation() {
                @Override
                void synchronize(StreamDriver stream) {
                    try {
                        stream.synchronize();
                    } catch (AcceleratorException failure) {
                        boolean made = failure.getCause() instanceof AcceleratorException cause
                                && cause.code() == ErrorCode.VENDOR;
                        throw made ? Refusal.of(failure.code(), "something went wrong") : failure;
                    }
                }
            }),
            Mutant.of("ERR-004", "a command overtakes the one before it, which fails", () -> new Mutation() {
                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (Refusal.isFill(command, 0x44)) {
                        StreamDriver other = stream.device().createStream(StreamOptions.defaults());
                        other.enqueue(command);
                        other.close();
                        return Enqueue.ACCEPTED;
                    }
                    return stream.enqueue(command);
                }
            }),
            Mutant.of("ERR-005", "a failure takes the command before it along", () -> new Mutation() {
                @Override
                void failCommand(FaultDriver faults, int device, int nth, AcceleratorException cause) {
                    faults.failCommand(device, nth == 2 ? 1 : nth, cause);
                }
            }),
            Mutant.of("ERR-006", "an event swallows the failure of its stream", () -> new Mutation() {
                @Override
                void synchronize(EventDriver event) {
                    try {
                        event.synchronize();
                    } catch (AcceleratorException failure) {
                        if (failure.code() != ErrorCode.STREAM_FAILED) {
                            throw failure;
                        }
                    }
                }
            }),
            Mutant.of("ERR-007", "a stream that waited for a failed one says that all is well", () -> new Mutation() {
                private final Set<StreamDriver> waiters = new HashSet<>();

                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    stream.waitFor(event);
                    waiters.add(stream);
                }

                @Override
                void synchronize(StreamDriver stream) {
                    try {
                        stream.synchronize();
                    } catch (AcceleratorException failure) {
                        if (failure.code() != ErrorCode.STREAM_FAILED || !waiters.contains(stream)) {
                            throw failure;
                        }
                    }
                }
            }),
            Mutant.of("ERR-008", "a failure stops every stream of the device that is there", () -> new Failures() {
                private final Map<StreamDriver, Boolean> seen = new HashMap<>();

                @Override
                StreamDriver createStream(DeviceDriver device, StreamOptions options) {
                    StreamDriver stream = device.createStream(options);
                    seen.put(stream, anyFailedOn(device));
                    return stream;
                }

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (anyFailedOn(stream.device())
                            && !failed.contains(stream)
                            && Boolean.FALSE.equals(seen.get(stream))) {
                        throw Refusal.of(ErrorCode.STREAM_FAILED, "the context has failed");
                    }
                    return stream.enqueue(command);
                }
            }),
            Mutant.of("ERR-009", "a device with a failed stream makes no new one", () -> new Failures() {
                @Override
                StreamDriver createStream(DeviceDriver device, StreamOptions options) {
                    if (anyFailedOn(device)) {
                        throw Refusal.of(ErrorCode.VENDOR, "the context has failed");
                    }
                    return device.createStream(options);
                }
            }),
            Mutant.of("ERR-010", "synchronizing a device says nothing of failures", () -> new Mutation() {
                @Override
                void synchronize(DeviceDriver device) {
                    Refusal.quietly(device::synchronize);
                }
            }),
            Mutant.of("ERR-011", "closing a failed stream fails", () -> new Failures() {
                @Override
                void close(StreamDriver stream) {
                    boolean bad = failed.contains(stream);
                    super.close(stream);
                    if (bad) {
                        throw Refusal.of(ErrorCode.STREAM_FAILED, "the stream has failed");
                    }
                }
            }),
            Mutant.of("ERR-012", "streams of a lost device say that all is well", () -> new Mutation() {
                @Override
                void synchronize(StreamDriver stream) {
                    try {
                        stream.synchronize();
                    } catch (AcceleratorException failure) {
                        if (!(failure.getCause() instanceof AcceleratorException cause)
                                || cause.code() != ErrorCode.DEVICE_LOST) {
                            throw failure;
                        }
                    }
                }
            }),
            Mutant.of("ERR-013", "all devices are lost together", () -> new Mutation() {
                @Override
                void loseDevice(FaultDriver faults, int device) {
                    faults.loseDevice(device);
                    if (device == 0) {
                        faults.loseDevice(1);
                    }
                }
            }),
            Mutant.of("ERR-014", "memory of a lost device cannot be freed", () -> new Mutation() {
                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    device.free(memory);
                    try {
                        device.createEvent(EventOptions.untimed()).close();
                    } catch (AcceleratorException refusal) {
                        if (refusal.code() == ErrorCode.DEVICE_LOST) {
                            throw refusal;
                        }
                    }
                }
            }),
            Mutant.of("ERR-015", "a lost device says that its memory is short", () -> new Mutation() {
                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    try {
                        return device.allocate(kind, bytes);
                    } catch (AcceleratorException refusal) {
                        throw refusal.code() == ErrorCode.DEVICE_LOST
                                ? Refusal.of(ErrorCode.OUT_OF_MEMORY, "no memory")
                                : refusal;
                    }
                }
            }),
            Mutant.of("ERR-016", "nobody tells the peers of a lost rank", () -> new Mutation() {
                private boolean hangs;
                private Set<StreamDriver> waiting = new HashSet<>();

                @Override
                void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
                    communicator.enqueue(group);
                    group.forEach(part -> waiting.add(part.stream()));
                }

                @Override
                void loseDevice(FaultDriver faults, int device) {
                    faults.loseDevice(device);
                    hangs = device == 1;
                }

                @Override
                void synchronize(StreamDriver stream) {
                    if (hangs && waiting.contains(stream)) {
                        hangs = false;
                        waiting = new HashSet<>();
                        while (!Thread.interrupted()) {
                            LockSupport.park();
                        }
                    }
                    stream.synchronize();
                }
            }),
            Mutant.of("ERR-017", "the text of a refusal has several lines", () -> new Mutation() {
                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    try {
                        return device.allocate(kind, bytes);
                    } catch (AcceleratorException refusal) {
                        throw Refusal.of(refusal.code(), refusal.detail() + "\n  in file allocator.cpp\n");
                    }
                }
            }),
            Mutant.of("ERR-018", "a device tells of a failure for ever", () -> new Failures() {
                private final Set<DeviceDriver> broken = new HashSet<>();

                @Override
                void close(StreamDriver stream) {
                    if (failed.contains(stream)) {
                        broken.add(stream.device());
                    }
                    super.close(stream);
                }

                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    broken.remove(device);
                    return device.allocate(kind, bytes);
                }

                @Override
                StreamDriver createStream(DeviceDriver device, StreamOptions options) {
                    broken.remove(device);
                    return device.createStream(options);
                }

                @Override
                void synchronize(DeviceDriver device) {
                    device.synchronize();
                    if (broken.remove(device)) {
                        throw Refusal.of(ErrorCode.VENDOR, "the last error was: command failed");
                    }
                }
            }),
            Mutant.of("ERR-019", "a failure undoes finished work of another stream", () -> new Failures() {
                private Command last;
                private StreamDriver of;

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (Refusal.isFill(command, 0x4C)) {
                        last = new Command.Fill(((Command.Fill) command).destination(), 0);
                        of = stream;
                    }
                    return stream.enqueue(command);
                }

                @Override
                void close(StreamDriver stream) {
                    last = stream.equals(of) ? null : last;
                    super.close(stream);
                }

                @Override
                void synchronize(StreamDriver stream) {
                    try {
                        super.synchronize(stream);
                    } catch (AcceleratorException failure) {
                        if (last != null && !stream.equals(of)) {
                            of.enqueue(last);
                            last = null;
                        }
                        throw failure;
                    }
                }
            }));

    private ErrorMutants() {}
}
