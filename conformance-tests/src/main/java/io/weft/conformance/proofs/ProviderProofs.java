// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Capability;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.Stream;
import io.weft.api.topology.Link;
import io.weft.api.topology.Topology;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.NotApplicable;
import io.weft.spi.AcceleratorProvider;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.FaultDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.PerformanceModel;
import io.weft.spi.PlatformDriver;
import io.weft.spi.Probe;
import io.weft.spi.ProviderDescriptor;
import io.weft.spi.SpiVersion;
import io.weft.spi.SymmetricMemoryDriver;
import io.weft.spi.Target;
import io.weft.spi.VirtualMemoryDriver;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Proofs of the rules about providers and discovery. */
final class ProviderProofs {
    private static final Map<Capability, Class<?>> EXTENSIONS = new EnumMap<>(Map.of(
            Capability.COLLECTIVES, CollectiveDriver.class,
            Capability.SYMMETRIC_MEMORY, SymmetricMemoryDriver.class,
            Capability.VIRTUAL_MEMORY, VirtualMemoryDriver.class,
            Capability.DEVICE_GRAPHS, GraphDriver.class,
            Capability.PERFORMANCE_MODEL, PerformanceModel.class,
            Capability.FAULT_INJECTION, FaultDriver.class));

    private static AcceleratorException unknownTarget(Bench bench) {
        PlatformUri unknown = new PlatformUri(bench.subject().uri().provider(), "no-such-target", Map.of());
        return bench.refuses(
                "opening " + unknown,
                () -> bench.subject().provider().open(unknown).close(),
                ErrorCode.NOT_FOUND);
    }

    private static AcceleratorException unknownOption(Bench bench) {
        PlatformUri uri = bench.subject().uri().withOption("no-such-option", "1");
        return bench.refuses(
                "opening " + uri, () -> bench.subject().provider().open(uri).close(), ErrorCode.INVALID_ARGUMENT);
    }

    @Proves("PRV-001")
    void anUnknownTargetIsNotFound(Bench bench) {
        unknownTarget(bench);
    }

    @Proves("PRV-002")
    void theRefusalNamesKnownTargets(Bench bench) {
        AcceleratorException refusal = unknownTarget(bench);
        List<String> known =
                bench.subject().provider().targets().stream().map(Target::name).toList();
        bench.that(
                known.stream().anyMatch(refusal.getMessage()::contains),
                "the refusal to name one of " + known,
                "it says '" + refusal.getMessage() + "'");
    }

    @Proves("PRV-003")
    void anUnknownOptionIsInvalid(Bench bench) {
        unknownOption(bench);
    }

    @Proves("PRV-004")
    void theRefusalNamesTheOption(Bench bench) {
        AcceleratorException refusal = unknownOption(bench);
        bench.that(
                refusal.getMessage().contains("no-such-option"),
                "the refusal to name the option",
                "it says '" + refusal.getMessage() + "'");
    }

    @Proves("PRV-005")
    void theIdIsTheUrisProvider(Bench bench) {
        String id = bench.subject().provider().descriptor().id();
        bench.that(
                id.matches("[a-z][a-z0-9-]*"), "an id of lower-case letters, digits and dashes", "it is '" + id + "'");
        bench.equal("the provider part of the URI", bench.subject().uri().provider(), id);
    }

    @Proves("PRV-006")
    void theDescriptorHasTexts(Bench bench) {
        ProviderDescriptor descriptor = bench.subject().provider().descriptor();
        bench.that(!descriptor.vendor().isBlank(), "a vendor", "it is empty");
        bench.that(!descriptor.description().isBlank(), "a description", "it is empty");
        bench.that(!descriptor.version().isBlank(), "a version", "it is empty");
    }

    @Proves("PRV-007")
    void theSpiVersionIsAccepted(Bench bench) {
        SpiVersion stated = bench.subject().provider().descriptor().spiVersion();
        bench.that(
                SpiVersion.CURRENT.accepts(stated),
                "an SPI version of " + SpiVersion.CURRENT.major() + ".0 to " + SpiVersion.CURRENT,
                "it is " + stated);
    }

    @Proves("PRV-008")
    void aProviderDescribesItselfTheSameWay(Bench bench) {
        AcceleratorProvider provider = bench.subject().provider();
        bench.equal("the descriptor, asked for again", provider.descriptor(), provider.descriptor());
        bench.equal("the targets, asked for again", provider.targets(), provider.targets());
    }

    @Proves("PRV-009")
    void probingDisturbsNothing(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Buffer buffer = bench.buffer(bench.device(), 4096);
        Probe first = bench.subject().provider().probe();
        for (int i = 0; i < 4; i++) {
            Probe again = bench.subject().provider().probe();
            bench.equal("the answer of a probe, asked for again", first, again);
            stream.fill(Bench.bytes(buffer), 0x61 + i);
        }
        stream.synchronize();
        bench.holds("what was filled between probes", Bench.filled(4096, 0x64), buffer);
    }

    @Proves("PRV-010")
    void targetsAreListedOnce(Bench bench) {
        List<Target> targets = bench.subject().provider().targets();
        bench.that(!targets.isEmpty(), "at least one target", "there is none");
        Set<String> names = new HashSet<>();
        for (Target target : targets) {
            bench.that(!target.name().isBlank(), "every target to have a name", "one has none");
            bench.that(
                    !target.description().isBlank(),
                    "every target to have a description",
                    "'" + target.name() + "' has none");
            bench.that(names.add(target.name()), "every target once", "'" + target.name() + "' is there twice");
        }
    }

    @Proves("PRV-011")
    void declaredCapabilitiesHaveTheirExtension(Bench bench) {
        PlatformDriver driver = bench.driver();
        EXTENSIONS.forEach((capability, type) -> bench.that(
                !driver.capabilities().contains(capability)
                        || driver.extension(type).isPresent(),
                capability + ", which is declared, to have its extension " + type.getSimpleName(),
                "there is none"));
    }

    @Proves("PRV-012")
    void undeclaredCapabilitiesHaveNoExtension(Bench bench) {
        PlatformDriver driver = bench.driver();
        EXTENSIONS.forEach((capability, type) -> bench.that(
                driver.capabilities().contains(capability)
                        || driver.extension(type).isEmpty(),
                capability + ", which is not declared, to have no extension " + type.getSimpleName(),
                "there is one"));
    }

    @Proves("PRV-013")
    void withoutStorageHostTransfersAreRefused(Bench bench) {
        if (bench.platform().has(Capability.STORAGE)) {
            throw new NotApplicable("the platform declares STORAGE");
        }
        Buffer buffer = bench.raw(bench.device(), MemoryKind.DEVICE, 64);
        MemorySegment host = MemorySegment.ofArray(new byte[64]);
        var driver = bench.device().driver();
        bench.refuses("a host write", () -> driver.write(buffer.memory(), 0, host), ErrorCode.UNSUPPORTED);
        bench.refuses("a host read", () -> driver.read(host, buffer.memory(), 0), ErrorCode.UNSUPPORTED);
    }

    @Proves("PRV-014")
    void peerCopyIsDeclaredWhereThereIsAPath(Bench bench) {
        paths(bench, Capability.PEER_COPY, "copyable", Link::copyable);
    }

    @Proves("PRV-015")
    void peerAccessIsDeclaredWhereThereIsAPath(Bench bench) {
        paths(bench, Capability.PEER_ACCESS, "addressable", Link::addressable);
    }

    private static void paths(Bench bench, Capability capability, String what, Predicate<Link> wanted) {
        Topology topology = bench.driver().topology();
        boolean any = false;
        for (int from = 0; from < topology.devices(); from++) {
            for (int to = 0; to < topology.devices(); to++) {
                any |= from != to && wanted.test(topology.link(from, to));
            }
        }
        bench.equal(
                capability + " declared, as there is " + (any ? "a" : "no") + " path that is " + what,
                any,
                bench.driver().capabilities().contains(capability));
    }

    @Proves("PRV-016")
    void aSecondPlatformOpens(Bench bench) {
        try {
            bench.openAnother();
        } catch (AcceleratorException refusal) {
            bench.equal("the refusal of a second platform", ErrorCode.UNAVAILABLE, refusal.code());
        }
    }

    @Proves("PRV-017")
    void openingAgainGivesTheSame(Bench bench) {
        Platform other = bench.openAnother();
        bench.equal("the properties", bench.platform().properties(), other.properties());
        bench.equal("the capabilities", bench.platform().capabilities(), other.capabilities());
        bench.equal(
                "the number of devices",
                bench.platform().devices().size(),
                other.devices().size());
        for (int i = 0; i < other.devices().size(); i++) {
            bench.equal(
                    "the properties of device " + i,
                    bench.platform().device(i).properties(),
                    other.device(i).properties());
        }
    }

    @Proves("PRV-018")
    void listedTargetsOpen(Bench bench) {
        AcceleratorProvider provider = bench.subject().provider();
        for (Target target : provider.targets()) {
            if (target.name().contains("=")) {
                continue; // A form that stands for many.
            }
            PlatformUri uri = new PlatformUri(provider.descriptor().id(), target.name(), Map.of());
            bench.step("opening " + uri);
            try {
                provider.open(uri).close();
            } catch (AcceleratorException refusal) {
                bench.equal("the refusal of the listed target " + uri, ErrorCode.UNAVAILABLE, refusal.code());
            }
        }
    }

    @Proves("PRV-019")
    void aProviderAnswersOnAnyThread(Bench bench) {
        AcceleratorProvider provider = bench.subject().provider();
        ProviderDescriptor descriptor = provider.descriptor();
        Probe probe = provider.probe();
        List<Target> targets = provider.targets();
        bench.together(3, thread -> {
            bench.equal("the descriptor on another thread", descriptor, provider.descriptor());
            bench.equal("the probe on another thread", probe, provider.probe());
            bench.equal("the targets on another thread", targets, provider.targets());
        });
    }

    @Proves("PRV-020")
    void extensionsAreAskedForAgain(Bench bench) {
        PlatformDriver driver = bench.driver();
        EXTENSIONS.forEach((capability, type) -> {
            if (driver.capabilities().contains(capability)) {
                driver.extension(type);
                bench.that(
                        driver.extension(type).isPresent(),
                        type.getSimpleName() + ", asked for again, to be there",
                        "there is none");
            }
        });
        bench.that(
                driver.extension(Unknown.class).isEmpty(), "no extension of a kind that nobody knows", "there is one");
    }

    /** A kind of extension that no backend can know. */
    private interface Unknown {}
}
