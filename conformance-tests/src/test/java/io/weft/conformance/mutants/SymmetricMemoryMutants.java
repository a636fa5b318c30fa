// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.api.graph.Command;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.Enqueue;
import io.weft.spi.StreamDriver;
import io.weft.spi.SymmetricMemoryDriver;
import io.weft.spi.VirtualMemoryDriver;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/** Mutants that break a rule about symmetric or virtual memory. */
final class SymmetricMemoryMutants {
    private static final long PAGE = 2L << 20;

    static final List<Mutant> ALL = List.of(
            Mutant.of("SYM-002", "windows are aligned to 3000 bytes", () -> new Mutation() {
                @Override
                long windowAlignment(SymmetricMemoryDriver symmetric) {
                    return 3000;
                }
            }),
            Mutant.of("SYM-003", "reservations are twice as large as asked", () -> new Mutation() {
                @Override
                List<? extends DeviceMemory> reserve(
                        SymmetricMemoryDriver symmetric, List<DeviceDriver> devices, long bytes) {
                    return super.reserve(symmetric, devices, 2 * bytes);
                }
            }),
            Mutant.of("SYM-004", "windows are allocated like any buffer", () -> new Mutation() {
                @Override
                List<? extends DeviceMemory> reserve(
                        SymmetricMemoryDriver symmetric, List<DeviceDriver> devices, long bytes) {
                    if (bytes > PAGE) {
                        return super.reserve(symmetric, devices, bytes);
                    }
                    return devices.stream()
                            .map(device -> device.allocate(MemoryKind.DEVICE, bytes))
                            .toList();
                }
            }),
            Mutant.of("SYM-005", "writes to a peer's window land 64 bytes further on", () -> new Windows() {
                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (command instanceof Command.Copy copy
                            && isWindow(copy.destination())
                            && Faults.device(copy.source()) != Faults.device(copy.destination())) {
                        BufferView to = copy.destination();
                        return super.enqueue(
                                stream,
                                new Command.Copy(
                                        BufferView.vector(to.memory(), to.offset() + 64, to.elements(), to.type()),
                                        copy.source(),
                                        copy.method()));
                    }
                    return super.enqueue(stream, command);
                }
            }),
            Mutant.of("SYM-006", "a refused reservation keeps what the first device gave", () -> new Mutation() {
                @Override
                List<? extends DeviceMemory> reserve(
                        SymmetricMemoryDriver symmetric, List<DeviceDriver> devices, long bytes) {
                    try {
                        return super.reserve(symmetric, devices, bytes);
                    } catch (AcceleratorException refusal) {
                        devices.getFirst().allocate(MemoryKind.DEVICE, 4096);
                        throw refusal;
                    }
                }
            }),
            Mutant.of("SYM-008", "equal reservations are one", () -> new Mutation() {
                private final Set<DeviceMemory> freed = identities();
                private List<DeviceDriver> before = List.of();
                private List<? extends DeviceMemory> last = List.of();

                @Override
                List<? extends DeviceMemory> reserve(
                        SymmetricMemoryDriver symmetric, List<DeviceDriver> devices, long bytes) {
                    boolean again = devices.size() == 2
                            && devices.equals(before)
                            && last.getFirst().bytes() == bytes
                            && last.stream().noneMatch(freed::contains);
                    if (!again) {
                        last = super.reserve(symmetric, devices, bytes);
                        before = devices;
                    }
                    return last;
                }

                @Override
                void free(DeviceDriver device, DeviceMemory memory) {
                    freed.add(memory);
                    super.free(device, memory);
                }
            }),
            Mutant.of("SYM-009", "reductions into windows are off", () -> new Windows() {
                @Override
                void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
                    super.enqueue(communicator, group);
                    for (CollectiveDriver.Part part : group) {
                        BufferView view = part.command().receive();
                        if (view != null && isWindow(view)) {
                            part.stream().enqueue(new Command.Fill(view.columnRange(0, 1), 0));
                        }
                    }
                }
            }),
            Mutant.of("SYM-010", "devices are taken in the order of ordinals", () -> new Mutation() {
                @Override
                List<? extends DeviceMemory> reserve(
                        SymmetricMemoryDriver symmetric, List<DeviceDriver> devices, long bytes) {
                    return super.reserve(
                            symmetric,
                            devices.stream()
                                    .sorted(Comparator.comparingInt(
                                            device -> device.properties().ordinal()))
                                    .toList(),
                            bytes);
                }
            }),
            Mutant.of("SYM-026", "host writes to a remapped page are lost", () -> new Mutation() {
                private final Set<DeviceMemory> unmapped = identities();
                private final Set<DeviceMemory> stale = identities();

                @Override
                void unmap(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    super.unmap(virtual, range, offset, bytes);
                    if (range.bytes() == 2 * PAGE) {
                        unmapped.add(range);
                    }
                }

                @Override
                void map(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    super.map(virtual, range, offset, bytes);
                    if (unmapped.contains(range)) {
                        stale.add(range);
                    }
                }

                @Override
                void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
                    if (!stale.contains(destination)) {
                        super.write(device, destination, offset, source);
                    }
                }
            }),
            mapping("SYM-030", "pages behind the range are mapped", ErrorCode.OUT_OF_BOUNDS),
            Mutant.of("SYM-031", "unmapped pages are read as zeros", () -> new Mutation() {
                @Override
                void read(DeviceDriver device, MemorySegment destination, DeviceMemory source, long offset) {
                    try {
                        super.read(device, destination, source, offset);
                    } catch (AcceleratorException fault) {
                        if (fault.code() != ErrorCode.OUT_OF_BOUNDS) {
                            throw fault;
                        }
                        destination.fill((byte) 0);
                    }
                }
            }),
            Mutant.of("SYM-033", "odd sizes are rounded up", () -> new Mutation() {
                @Override
                DeviceMemory reserve(VirtualMemoryDriver virtual, DeviceDriver device, long bytes) {
                    return super.reserve(virtual, device, Math.max(1, (bytes + PAGE - 1) / PAGE) * PAGE);
                }
            }),
            Mutant.of("SYM-035", "the tenth mapping of a range clears its first mapped page", () -> new Mutation() {
                private final Set<Long> pages = new HashSet<>();
                private int mappings;

                @Override
                void map(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    super.map(virtual, range, offset, bytes);
                    if (range.bytes() != 7 * PAGE) {
                        return;
                    }
                    if (++mappings == 10 && !pages.isEmpty()) {
                        range.device().write(range, Collections.min(pages), MemorySegment.ofArray(new byte[64]));
                    }
                    pages.add(offset);
                }

                @Override
                void unmap(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                    super.unmap(virtual, range, offset, bytes);
                    pages.remove(offset);
                }
            }));

    private SymmetricMemoryMutants() {}

    private static Set<DeviceMemory> identities() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }

    private static Mutant mapping(String rule, String what, ErrorCode swallowed) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            void map(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
                quietly(swallowed, () -> super.map(virtual, range, offset, bytes));
            }
        });
    }

    private static void quietly(ErrorCode swallowed, Runnable call) {
        try {
            call.run();
        } catch (AcceleratorException refusal) {
            if (refusal.code() != swallowed) {
                throw refusal;
            }
        }
    }

    /** Knows which memory is symmetric. */
    private static class Windows extends Mutation {
        private final Set<DeviceMemory> windows = identities();

        @Override
        List<? extends DeviceMemory> reserve(SymmetricMemoryDriver symmetric, List<DeviceDriver> devices, long bytes) {
            List<? extends DeviceMemory> made = super.reserve(symmetric, devices, bytes);
            windows.addAll(made);
            return made;
        }

        final boolean isWindow(DeviceMemory memory) {
            return windows.contains(memory);
        }

        final boolean isWindow(BufferView view) {
            return isWindow(((Buffer) view.memory()).memory());
        }
    }
}
