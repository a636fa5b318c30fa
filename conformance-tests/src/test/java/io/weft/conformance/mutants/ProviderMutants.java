// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.ErrorCode;
import io.weft.api.PlatformUri;
import io.weft.spi.AcceleratorProvider;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.PlatformDriver;
import io.weft.spi.Probe;
import io.weft.spi.ProviderDescriptor;
import io.weft.spi.SpiVersion;
import io.weft.spi.Target;
import io.weft.spi.VirtualMemoryDriver;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Mutants that break a rule about providers and discovery. */
final class ProviderMutants {
    private static Mutant descriptor(String rule, String what, UnaryOperator<ProviderDescriptor> change) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            ProviderDescriptor descriptor(AcceleratorProvider provider) {
                return change.apply(provider.descriptor());
            }
        });
    }

    private static Mutant refusing(
            String rule, String what, ErrorCode code, UnaryOperator<AcceleratorException> change) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            PlatformDriver open(AcceleratorProvider provider, PlatformUri uri) {
                try {
                    return provider.open(uri);
                } catch (AcceleratorException refusal) {
                    throw refusal.code() == code ? change.apply(refusal) : refusal;
                }
            }
        });
    }

    private static Mutant undeclared(String rule, String what, Capability missing) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            Set<Capability> capabilities(PlatformDriver platform) {
                return DeviceMutants.without(platform.capabilities(), missing);
            }
        });
    }

    static final List<Mutant> ALL = List.of(
            refusing(
                    "PRV-001",
                    "an unknown target is an internal fault",
                    ErrorCode.NOT_FOUND,
                    refusal -> Refusal.of(ErrorCode.INTERNAL, refusal.detail())),
            refusing(
                    "PRV-002",
                    "an unknown target is refused without a hint",
                    ErrorCode.NOT_FOUND,
                    refusal -> Refusal.of(refusal.code(), "cannot open it")),
            Mutant.of("PRV-003", "an unknown option is passed over", () -> new Mutation() {
                @Override
                PlatformDriver open(AcceleratorProvider provider, PlatformUri uri) {
                    return provider.open(
                            uri.options().containsKey("no-such-option")
                                    ? new PlatformUri(uri.provider(), uri.target(), Map.of())
                                    : uri);
                }
            }),
            refusing(
                    "PRV-004",
                    "an unknown option is refused and not named",
                    ErrorCode.INVALID_ARGUMENT,
                    refusal -> Refusal.of(refusal.code(), "bad option")),
            descriptor(
                    "PRV-005",
                    "the id is not that of the URI",
                    d -> new ProviderDescriptor("sim2", d.vendor(), d.description(), d.version(), d.spiVersion())),
            descriptor(
                    "PRV-006",
                    "the descriptor has no version",
                    d -> new ProviderDescriptor(d.id(), d.vendor(), d.description(), "", d.spiVersion())),
            descriptor(
                    "PRV-007",
                    "the plugin was compiled for a later SPI",
                    d -> new ProviderDescriptor(
                            d.id(), d.vendor(), d.description(), d.version(), new SpiVersion(9, 0))),
            Mutant.of("PRV-008", "the descriptor counts calls", () -> new Mutation() {
                private int calls;

                @Override
                ProviderDescriptor descriptor(AcceleratorProvider provider) {
                    calls++;
                    ProviderDescriptor d = provider.descriptor();
                    return new ProviderDescriptor(
                            d.id(), d.vendor(), d.description() + " " + calls, d.version(), d.spiVersion());
                }
            }),
            Mutant.of("PRV-009", "a probe while a platform is open finds nothing", () -> new Mutation() {
                private int probes;

                @Override
                Probe probe(AcceleratorProvider provider) {
                    probes++;
                    return probes == 4 ? new Probe.Absent("the device is in use") : provider.probe();
                }
            }),
            Mutant.of("PRV-010", "a target is listed twice", () -> new Mutation() {
                @Override
                List<Target> targets(AcceleratorProvider provider) {
                    List<Target> twice = new ArrayList<>(provider.targets());
                    twice.add(twice.getFirst());
                    return twice;
                }
            }),
            Mutant.of("PRV-011", "virtual memory is declared and not there", () -> new Mutation() {
                @Override
                <T> Optional<T> extension(PlatformDriver platform, Class<T> type) {
                    return type == VirtualMemoryDriver.class ? Optional.empty() : platform.extension(type);
                }
            }),
            undeclared("PRV-012", "virtual memory is there and not declared", Capability.VIRTUAL_MEMORY),
            Mutant.on(
                    "sim:mesh-8?mode=timing",
                    "PRV-013",
                    "a platform without storage answers reads with zeros",
                    () -> new Mutation() {
                        @Override
                        void read(DeviceDriver device, MemorySegment destination, DeviceMemory source, long offset) {
                            destination.fill((byte) 0);
                        }
                    }),
            undeclared("PRV-014", "there are copyable paths and no PEER_COPY", Capability.PEER_COPY),
            undeclared("PRV-015", "there are addressable paths and no PEER_ACCESS", Capability.PEER_ACCESS),
            Mutant.of("PRV-016", "a second platform is an internal fault", () -> new Mutation() {
                private int open;

                @Override
                PlatformDriver open(AcceleratorProvider provider, PlatformUri uri) {
                    PlatformDriver platform = provider.open(uri);
                    if (open == 1) {
                        platform.close();
                        throw Refusal.of(ErrorCode.INTERNAL, "already initialized");
                    }
                    open++;
                    return platform;
                }

                @Override
                void close(PlatformDriver platform) {
                    open--;
                    platform.close();
                }
            }),
            Mutant.of("PRV-017", "a platform that is opened again can do less", () -> new Mutation() {
                private PlatformDriver first;

                @Override
                PlatformDriver open(AcceleratorProvider provider, PlatformUri uri) {
                    PlatformDriver platform = provider.open(uri);
                    first = first == null ? platform : first;
                    return platform;
                }

                @Override
                Set<Capability> capabilities(PlatformDriver platform) {
                    return platform.equals(first)
                            ? platform.capabilities()
                            : DeviceMutants.without(platform.capabilities(), Capability.EVENT_TIMING);
                }
            }),
            Mutant.of("PRV-018", "a target is listed that cannot be opened", () -> new Mutation() {
                @Override
                List<Target> targets(AcceleratorProvider provider) {
                    List<Target> more = new ArrayList<>(provider.targets());
                    more.add(new Target("mesh-16", "a machine that nobody tried"));
                    return more;
                }
            }),
            Mutant.of("PRV-019", "the provider answers on its first thread alone", () -> new Mutation() {
                private final Thread owner = Thread.currentThread();

                @Override
                Probe probe(AcceleratorProvider provider) {
                    if (Thread.currentThread().getName().startsWith("conformance rank")) {
                        throw Refusal.of(ErrorCode.INTERNAL, "only " + owner.getName() + " may call");
                    }
                    return provider.probe();
                }
            }),
            Mutant.of("PRV-020", "an unknown extension throws", () -> new Mutation() {
                @Override
                <T> Optional<T> extension(PlatformDriver platform, Class<T> type) {
                    if (type.getSimpleName().equals("Unknown")) {
                        throw new IllegalArgumentException(type.getName());
                    }
                    return platform.extension(type);
                }
            }));

    private ProviderMutants() {}
}
