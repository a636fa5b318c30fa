// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.ErrorCode;
import io.weft.api.EventOptions;
import io.weft.api.MemoryInfo;
import io.weft.api.MemoryKind;
import io.weft.api.PlatformUri;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.spi.AcceleratorProvider;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.PlatformDriver;
import io.weft.spi.StreamDriver;
import io.weft.spi.SymmetricMemoryDriver;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** Mutants that break a rule about lifetimes. */
final class LifetimeMutants {
    /** Loses memory. */
    private abstract static class Leak extends Mutation {
        private long lost;

        final void lose(long bytes) {
            lost += bytes;
        }

        @Override
        MemoryInfo memoryInfo(DeviceDriver device) {
            MemoryInfo now = device.memoryInfo();
            return new MemoryInfo(now.totalBytes(), Math.max(0, now.freeBytes() - lost));
        }
    }

    /** Threads that a mutant left behind. */
    private static final List<Thread> LEFT = Collections.synchronizedList(new ArrayList<>());

    static final List<Mutant> ALL = List.of(
            Mutant.of("LIF-001", "freeing pinned memory leaks a little device memory", () -> new Leak() {
                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    lose(memory.kind() == MemoryKind.HOST_PINNED ? 64 : 0);
                    device.free(memory);
                }
            }),
            Mutant.of("LIF-002", "closing an event fails when its stream is gone", () -> new Mutation() {
                private final Map<EventDriver, StreamDriver> last = new HashMap<>();
                private final Set<DeviceDriver> gone = new HashSet<>();

                @Override
                void record(StreamDriver stream, EventDriver event) {
                    stream.record(event);
                    last.put(event, stream);
                }

                @Override
                void close(StreamDriver stream) {
                    stream.close();
                    last.replaceAll((event, recorded) -> stream.equals(recorded) ? null : recorded);
                }

                @Override
                void close(PlatformDriver platform) {
                    gone.addAll(platform.devices());
                    platform.close();
                }

                @Override
                void close(EventDriver event) {
                    event.close();
                    boolean orphan = last.containsKey(event) && last.remove(event) == null;
                    if (orphan && !gone.contains(event.device())) {
                        throw Refusal.of(ErrorCode.INVALID_STATE, "the stream of the event is gone");
                    }
                }
            }),
            Mutant.of("LIF-003", "freed memory stays booked", () -> new Leak() {
                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    lose(memory.bytes() == 1 << 20 && memory.kind() == MemoryKind.DEVICE ? 4096 : 0);
                    device.free(memory);
                }
            }),
            Mutant.of("LIF-004", "a closed stream keeps its queue", () -> new Leak() {
                @Override
                void close(StreamDriver stream) {
                    stream.close();
                    lose(64);
                }
            }),
            Mutant.of("LIF-005", "a closed event keeps its signal", () -> new Leak() {
                @Override
                void close(EventDriver event) {
                    event.close();
                    lose(64);
                }
            }),
            Mutant.of("LIF-006", "a closed communicator keeps its channels", () -> new Leak() {
                @Override
                void close(CommunicatorDriver communicator) {
                    communicator.close();
                    lose(1 << 20);
                }
            }),
            Mutant.of("LIF-007", "a closed graph keeps its nodes", () -> new Leak() {
                @Override
                void close(GraphExecutable executable) {
                    executable.close();
                    lose(512);
                }
            }),
            Mutant.of("LIF-008", "a freed window stays registered", () -> new Leak() {
                private final Set<DeviceMemory> windows = new HashSet<>();

                @Override
                List<? extends DeviceMemory> reserve(
                        SymmetricMemoryDriver symmetric, List<DeviceDriver> devices, long bytes) {
                    List<? extends DeviceMemory> made = symmetric.reserve(devices, bytes);
                    windows.addAll(made);
                    return made;
                }

                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    lose(windows.remove(memory) ? 4096 : 0);
                    device.free(memory);
                }
            }),
            Mutant.of("LIF-009", "an event forgets its record when its stream is closed", () -> new Mutation() {
                private final Map<EventDriver, StreamDriver> last = new HashMap<>();
                private final Set<EventDriver> orphans = new HashSet<>();
                private boolean drops;

                @Override
                void record(StreamDriver stream, EventDriver event) {
                    stream.record(event);
                    last.put(event, stream);
                    orphans.remove(event);
                }

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    drops |= Refusal.isFill(command, 0x3F);
                    return stream.enqueue(command);
                }

                @Override
                void close(StreamDriver stream) {
                    last.forEach((event, recorded) -> {
                        if (stream.equals(recorded)) {
                            orphans.add(event);
                        }
                    });
                    stream.close();
                }

                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    if (drops && orphans.contains(event)) {
                        throw Refusal.of(ErrorCode.CLOSED, "the stream of the event is gone");
                    }
                    stream.waitFor(event);
                }

                @Override
                void close(EventDriver event) {
                    last.remove(event);
                    orphans.remove(event);
                    event.close();
                }
            }),
            Mutant.of("LIF-010", "a platform with live memory cannot be closed", () -> new Mutation() {
                private final Set<DeviceMemory> live = new HashSet<>();
                private boolean inUse;

                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    DeviceMemory memory = device.allocate(kind, bytes);
                    live.add(memory);
                    return memory;
                }

                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    live.remove(memory);
                    device.free(memory);
                }

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    inUse = command instanceof Command.Fill fill
                            && fill.bits() == 1
                            && fill.destination().bytes() == 2_048;
                    return stream.enqueue(command);
                }

                @Override
                void close(PlatformDriver platform) {
                    platform.close();
                    if (!live.isEmpty() && inUse) {
                        live.clear();
                        inUse = false;
                        throw Refusal.of(ErrorCode.INVALID_STATE, "memory is in use");
                    }
                }
            }),
            Mutant.of("LIF-011", "an event of a closed platform cannot be closed", () -> new Mutation() {
                private final Set<DeviceDriver> gone = new HashSet<>();

                @Override
                void close(PlatformDriver platform) {
                    gone.addAll(platform.devices());
                    platform.close();
                }

                @Override
                void close(EventDriver event) {
                    if (gone.contains(event.device())) {
                        throw Refusal.of(ErrorCode.CLOSED, "the platform was closed before");
                    }
                    event.close();
                }
            }),
            Mutant.of("LIF-012", "memory of a closed platform stays taken", () -> new Mutation() {
                private final Map<DeviceDriver, Long> taken = new HashMap<>();
                private long lost;
                private DeviceDriver first;

                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    DeviceMemory memory = device.allocate(kind, bytes);
                    taken.merge(device, bytes, Long::sum);
                    return memory;
                }

                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    taken.merge(device, -memory.bytes(), Long::sum);
                    device.free(memory);
                }

                @Override
                PlatformDriver open(AcceleratorProvider provider, PlatformUri uri) {
                    PlatformDriver platform = provider.open(uri);
                    if (first == null) {
                        first = platform.devices().getFirst();
                    }
                    return platform;
                }

                @Override
                void close(PlatformDriver platform) {
                    for (DeviceDriver device : platform.devices()) {
                        lost += Math.max(0, taken.getOrDefault(device, 0L));
                    }
                    platform.close();
                }

                @Override
                MemoryInfo memoryInfo(DeviceDriver device) {
                    MemoryInfo now = device.memoryInfo();
                    boolean own = first != null && device.properties().ordinal() == 0 && !device.equals(first);
                    return new MemoryInfo(now.totalBytes(), now.freeBytes() - (own ? lost : 0));
                }
            }),
            Mutant.of("LIF-013", "closing a platform fails the streams of the others", () -> new Mutation() {
                private boolean failing;

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (failing && Refusal.isFill(command, 0x55)) {
                        failing = false;
                        throw Refusal.of(ErrorCode.CLOSED, "the library was finalized");
                    }
                    return stream.enqueue(command);
                }

                @Override
                void close(PlatformDriver platform) {
                    platform.close();
                    failing = true;
                }
            }),
            Mutant.of("LIF-014", "a thread of a platform stays behind", () -> new Mutation() {
                @Override
                void close(PlatformDriver platform) {
                    platform.close();
                    LEFT.add(Thread.ofPlatform()
                            .daemon(false)
                            .name("vendor event loop")
                            .start(LifetimeMutants::stay));
                }
            }),
            Mutant.of("LIF-015", "the library can be initialized ten times in a row", () -> new Mutation() {
                private int opens;

                @Override
                PlatformDriver open(AcceleratorProvider provider, PlatformUri uri) {
                    opens++;
                    if (opens > 10) {
                        opens = 0;
                        throw Refusal.of(ErrorCode.VENDOR, "the library was initialized before");
                    }
                    return provider.open(uri);
                }

                @Override
                StreamDriver createStream(DeviceDriver device, StreamOptions options) {
                    opens = 0;
                    return device.createStream(options);
                }
            }),
            Mutant.of("LIF-016", "closing a stream takes the next command of another one along", () -> new Mutation() {
                private DeviceDriver dropping;

                @Override
                void close(StreamDriver stream) {
                    stream.close();
                    dropping = stream.device();
                }

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (Refusal.isFill(command, 0x72) && stream.device().equals(dropping)) {
                        dropping = null;
                        return Enqueue.ACCEPTED;
                    }
                    return stream.enqueue(command);
                }

                @Override
                EventDriver createEvent(DeviceDriver device, EventOptions options) {
                    dropping = null;
                    return device.createEvent(options);
                }
            }),
            Mutant.of("LIF-017", "every event on an idle device is warned of", () -> new Mutation() {
                @Override
                EventDriver createEvent(DeviceDriver device, EventOptions options) {
                    if (Refusal.ordinal(device) == 1) {
                        System.getLogger("vendor").log(System.Logger.Level.WARNING, "the device is idle");
                    }
                    return device.createEvent(options);
                }
            }));

    private LifetimeMutants() {}

    /** Stays, however long it takes to look for it. */
    private static void stay() {
        while (!Thread.currentThread().isInterrupted()) {
            LockSupport.park();
        }
    }

    /** Ends the threads that were left behind. */
    static void end() {
        LEFT.forEach(Thread::interrupt);
        LEFT.clear();
    }
}
