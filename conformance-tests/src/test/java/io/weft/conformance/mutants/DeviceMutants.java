// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.Capability;
import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryInfo;
import io.weft.api.MemoryKind;
import io.weft.api.PlatformProperties;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.PlatformDriver;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Mutants that break a rule about devices. */
final class DeviceMutants {
    private static Mutant properties(String rule, String what, int device, UnaryOperator<DeviceProperties> change) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            DeviceProperties properties(DeviceDriver driver) {
                DeviceProperties properties = driver.properties();
                return properties.ordinal() == device ? change.apply(properties) : properties;
            }
        });
    }

    private static Mutant platform(String rule, String what, UnaryOperator<PlatformProperties> change) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            PlatformProperties properties(PlatformDriver driver) {
                return change.apply(driver.properties());
            }
        });
    }

    static final List<Mutant> ALL = List.of(
            properties("DEV-001", "two devices say that they are the same one", 7, p -> Altered.ordinal(p, 6)),
            Mutant.of("DEV-002", "a device tells something else each time", () -> new Mutation() {
                private int calls;

                @Override
                DeviceProperties properties(DeviceDriver driver) {
                    calls++;
                    return Altered.extra(driver.properties(), Map.of("calls", Integer.toString(calls)));
                }
            }),
            properties("DEV-003", "a device has no name", 3, p -> Altered.name(p, " ")),
            properties("DEV-004", "a device has no hardware queue", 0, p -> Altered.hardwareQueues(p, 0)),
            properties("DEV-005", "the alignment is no power of two", 0, p -> Altered.alignment(p, 192)),
            properties("DEV-006", "a GEMM type has no peak rate", 0, p -> Altered.peaks(p, without(p.peakFlops()))),
            properties("DEV-007", "the bus address lacks its domain", 2, p -> Altered.busId(p, "0C:00.0")),
            Mutant.of("DEV-008", "all devices have one bus address", () -> new Mutation() {
                @Override
                DeviceProperties properties(DeviceDriver driver) {
                    return Altered.busId(driver.properties(), "0000:0c:00.0");
                }
            }),
            Mutant.of("DEV-009", "a version of the platform counts calls", () -> new Mutation() {
                private int calls;

                @Override
                PlatformProperties properties(PlatformDriver driver) {
                    calls++;
                    PlatformProperties p = driver.properties();
                    return new PlatformProperties(
                            p.machine(), p.vendor(), p.figures(), Map.of("driver", Integer.toString(calls)));
                }
            }),
            properties("DEV-010", "one device has no copy engine", 5, p -> Altered.copyEngines(p, 0)),
            properties("DEV-011", "one device has one priority", 5, p -> Altered.priorities(p, 1)),
            platform(
                    "DEV-012",
                    "the machine has no name",
                    p -> new PlatformProperties("", p.vendor(), p.figures(), p.versions())),
            platform(
                    "DEV-013",
                    "a version is empty",
                    p -> new PlatformProperties(p.machine(), p.vendor(), p.figures(), Map.of("firmware", ""))),
            Mutant.of("DEV-014", "the clock runs backwards", () -> new Mutation() {
                @Override
                long nanoTime(PlatformDriver platform) {
                    return -platform.nanoTime();
                }
            }),
            Mutant.of("DEV-015", "the clock stands still", () -> new Mutation() {
                @Override
                long nanoTime(PlatformDriver platform) {
                    return 1_000;
                }
            }),
            Mutant.of("DEV-016", "a device is its own peer", () -> new Mutation() {
                @Override
                boolean canAccess(DeviceDriver device, DeviceDriver peer) {
                    return device.equals(peer) || device.canAccess(peer);
                }
            }),
            Mutant.of("DEV-017", "enabling access enables both directions", () -> new Mutation() {
                @Override
                void enablePeerAccess(DeviceDriver device, DeviceDriver peer) {
                    device.enablePeerAccess(peer);
                    peer.enablePeerAccess(device);
                }

                @Override
                void disablePeerAccess(DeviceDriver device, DeviceDriver peer) {
                    device.disablePeerAccess(peer);
                    Refusal.quietly(() -> peer.disablePeerAccess(device));
                }
            }),
            Mutant.of("DEV-018", "enabling access again is accepted", () -> new Mutation() {
                private final Set<List<Integer>> enabled = new HashSet<>();

                @Override
                void enablePeerAccess(DeviceDriver device, DeviceDriver peer) {
                    if (enabled.add(List.of(Refusal.ordinal(device), Refusal.ordinal(peer)))) {
                        device.enablePeerAccess(peer);
                    }
                }

                @Override
                void disablePeerAccess(DeviceDriver device, DeviceDriver peer) {
                    enabled.remove(List.of(Refusal.ordinal(device), Refusal.ordinal(peer)));
                    device.disablePeerAccess(peer);
                }
            }),
            Mutant.of("DEV-019", "disabling access that is off is accepted", () -> new Mutation() {
                @Override
                void disablePeerAccess(DeviceDriver device, DeviceDriver peer) {
                    Refusal.quietly(() -> device.disablePeerAccess(peer));
                }
            }),
            Mutant.of("DEV-020", "access that was taken back cannot be given again", () -> new Mutation() {
                private final Set<List<Integer>> used = new HashSet<>();
                private boolean took;

                @Override
                void enablePeerAccess(DeviceDriver device, DeviceDriver peer) {
                    if (!used.add(List.of(Refusal.ordinal(device), Refusal.ordinal(peer))) && took) {
                        throw Refusal.of(ErrorCode.VENDOR, "peer access was used up");
                    }
                    device.enablePeerAccess(peer);
                }

                @Override
                void disablePeerAccess(DeviceDriver device, DeviceDriver peer) {
                    device.disablePeerAccess(peer);
                    took = true;
                }
            }),
            Mutant.on(
                    "sim:node-2x8?stall-timeout-ms=20",
                    "DEV-021",
                    "access without a path is accepted",
                    () -> new Mutation() {
                        @Override
                        void enablePeerAccess(DeviceDriver device, DeviceDriver peer) {
                            if (device.canAccess(peer)) {
                                device.enablePeerAccess(peer);
                            }
                        }
                    }),
            Mutant.of("DEV-022", "allocating works on the opening thread alone", () -> new Mutation() {
                @Override
                DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
                    if (Thread.currentThread().getName().startsWith("conformance rank")) {
                        throw Refusal.of(ErrorCode.VENDOR, "there is no current context");
                    }
                    return device.allocate(kind, bytes);
                }
            }),
            Mutant.of("DEV-023", "the total is told in KiB as if it were bytes, twice", () -> new Mutation() {
                @Override
                MemoryInfo memoryInfo(DeviceDriver device) {
                    MemoryInfo now = device.memoryInfo();
                    return new MemoryInfo(2 * now.totalBytes(), now.freeBytes());
                }
            }));

    private static Map<ElementType, Double> without(Map<ElementType, Double> peaks) {
        Map<ElementType, Double> fewer = new EnumMap<>(peaks);
        fewer.remove(ElementType.BF16);
        return fewer;
    }

    private DeviceMutants() {}

    static Set<Capability> without(Set<Capability> declared, Capability missing) {
        Set<Capability> fewer = new HashSet<>(declared);
        fewer.remove(missing);
        return fewer;
    }
}
