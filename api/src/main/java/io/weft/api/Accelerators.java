// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.spi.AcceleratorProvider;
import io.weft.spi.DriverDecorator;
import io.weft.spi.PlatformDriver;
import io.weft.spi.Probe;
import io.weft.spi.ProviderDescriptor;
import io.weft.spi.SpiVersion;
import io.weft.spi.Target;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.stream.Collectors;

/**
 * The outcome of one discovery: which providers there are, what each is worth here, and how to open their platforms.
 *
 * <p>Nothing is discovered before {@link #discover(DiscoveryOptions)} is called and nothing is kept in static state. Every provider is loaded inside its own try, so
 * that a broken plugin is a verdict and never the end of the others. Immutable and safe for any thread.
 */
public final class Accelerators {
    private final List<ProviderVerdict> verdicts;
    private final Map<String, AcceleratorProvider> usable;
    private final List<DriverDecorator> decorators;

    private Accelerators(
            List<ProviderVerdict> verdicts, Map<String, AcceleratorProvider> usable, List<DriverDecorator> decorators) {
        this.verdicts = List.copyOf(verdicts);
        this.usable = Map.copyOf(usable);
        this.decorators = List.copyOf(decorators);
    }

    /** Looks on the application's own module path and class path. */
    public static Accelerators discover() {
        return discover(DiscoveryOptions.defaults());
    }

    /**
     * Looks where the options say.
     *
     * @throws AcceleratorException {@link ErrorCode#NOT_FOUND} for an unknown decorator name
     */
    public static Accelerators discover(DiscoveryOptions options) {
        List<Candidate> candidates = Candidate.find(options);
        List<ProviderVerdict> verdicts = new ArrayList<>();
        Map<String, AcceleratorProvider> usable = new LinkedHashMap<>();
        Map<String, String> ids = new LinkedHashMap<>();
        for (Candidate candidate : candidates) {
            verdicts.add(judge(candidate, options, usable, ids));
        }
        List<DriverDecorator> decorators = new ArrayList<>();
        for (String name : options.decorators()) {
            decorators.add(Decorators.named(name, candidates));
        }
        return new Accelerators(verdicts, usable, decorators);
    }

    private static ProviderVerdict judge(
            Candidate candidate,
            DiscoveryOptions options,
            Map<String, AcceleratorProvider> usable,
            Map<String, String> ids) {
        ProviderDescriptor descriptor = null;
        try {
            if (candidate.isDenied(options.denied())) {
                return verdict(
                        candidate, null, ProviderVerdict.State.DISABLED, "turned off by a setting", List.of(), null);
            }
            AcceleratorProvider provider = candidate.load();
            descriptor = Objects.requireNonNull(provider.descriptor(), "the provider has no descriptor");
            if (options.denied().contains(descriptor.id())) {
                return verdict(
                        candidate,
                        descriptor,
                        ProviderVerdict.State.DISABLED,
                        "turned off by a setting",
                        List.of(),
                        null);
            }
            if (!SpiVersion.CURRENT.accepts(descriptor.spiVersion())) {
                return verdict(
                        candidate,
                        descriptor,
                        ProviderVerdict.State.INCOMPATIBLE,
                        "compiled for SPI " + descriptor.spiVersion() + "; this host runs " + SpiVersion.CURRENT.major()
                                + ".0 to " + SpiVersion.CURRENT,
                        List.of(),
                        null);
            }
            String first = ids.putIfAbsent(descriptor.id(), candidate.origin());
            if (first != null) {
                return verdict(
                        candidate,
                        descriptor,
                        ProviderVerdict.State.FAILED,
                        "the id '" + descriptor.id() + "' is taken by " + first + ", which was found first",
                        List.of(),
                        null);
            }
            return switch (provider.probe()) {
                case Probe.Absent absent -> {
                    usable.put(descriptor.id(), provider);
                    yield verdict(
                            candidate, descriptor, ProviderVerdict.State.ABSENT, absent.reason(), List.of(), null);
                }
                case Probe.Available available -> {
                    usable.put(descriptor.id(), provider);
                    yield verdict(
                            candidate,
                            descriptor,
                            ProviderVerdict.State.LOADED,
                            available.detail(),
                            provider.targets(),
                            null);
                }
            };
        } catch (Exception | ServiceConfigurationError | LinkageError | StackOverflowError | AssertionError failure) {
            if (descriptor != null) {
                usable.remove(descriptor.id());
            }
            return verdict(
                    candidate,
                    descriptor,
                    ProviderVerdict.State.FAILED,
                    Candidate.explain(failure),
                    List.of(),
                    failure);
        }
    }

    private static ProviderVerdict verdict(
            Candidate candidate,
            ProviderDescriptor descriptor,
            ProviderVerdict.State state,
            String detail,
            List<Target> targets,
            Throwable cause) {
        String id = descriptor == null ? candidate.name() : descriptor.id();
        return new ProviderVerdict(id, state, detail, descriptor, targets, candidate.origin(), cause);
    }

    /** What was found out about every provider, in the order of discovery. */
    public List<ProviderVerdict> verdicts() {
        return verdicts;
    }

    /** A loaded provider by its id, also one whose hardware is absent; empty when there is none. For the conformance suite. */
    public Optional<AcceleratorProvider> provider(String id) {
        return Optional.ofNullable(usable.get(id));
    }

    /** Every URI form that can be opened here, for listings and error messages. */
    public List<String> knownUris() {
        List<String> known = new ArrayList<>();
        for (ProviderVerdict verdict : verdicts) {
            for (Target target : verdict.targets()) {
                known.add(verdict.id() + ":" + target.name());
            }
        }
        return known;
    }

    /**
     * A power of every provider that has it and was not turned away, by provider id in the order of discovery. Absent hardware is no hindrance: such powers need none. A provider
     * that fails when it is asked is left out.
     *
     * @param type such as {@link io.weft.spi.TopologyReader}
     */
    public <T> Map<String, T> extensions(Class<T> type) {
        Map<String, T> found = new LinkedHashMap<>();
        for (ProviderVerdict verdict : verdicts) {
            AcceleratorProvider provider = usable.get(verdict.id());
            if (provider != null) {
                try {
                    provider.extension(type).ifPresent(extension -> found.putIfAbsent(verdict.id(), extension));
                } catch (RuntimeException | LinkageError | ServiceConfigurationError broken) {
                    // One broken plugin never hurts another.
                    found.remove(verdict.id());
                }
            }
        }
        return found;
    }

    /**
     * Opens a platform. The caller closes it.
     *
     * @param uri such as {@code sim:mesh-8}
     * @throws AcceleratorException {@link ErrorCode#NOT_FOUND} for an unknown provider or target, naming the known ones; {@link ErrorCode#UNAVAILABLE} when the
     *     provider is not usable here, with the reason
     */
    public Platform open(String uri) {
        return open(PlatformUri.parse(uri));
    }

    /** Opens a platform. The caller closes it. */
    public Platform open(PlatformUri uri) {
        AcceleratorProvider provider = usable.get(uri.provider());
        ProviderVerdict verdict = verdicts.stream()
                .filter(v -> v.id().equals(uri.provider()))
                .findFirst()
                .orElse(null);
        if (provider == null) {
            if (verdict != null) {
                throw new AcceleratorException(
                        ErrorCode.UNAVAILABLE,
                        "open " + uri,
                        "provider '" + uri.provider() + "' is " + verdict.state() + ": " + verdict.detail(),
                        verdict.cause());
            }
            throw new AcceleratorException(
                    ErrorCode.NOT_FOUND,
                    "open " + uri,
                    "there is no provider '" + uri.provider() + "'; known are "
                            + (knownUris().isEmpty() ? "none" : String.join(", ", knownUris())));
        }
        if (verdict != null && verdict.state() == ProviderVerdict.State.ABSENT) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "open " + uri,
                    "provider '" + uri.provider() + "' is absent: " + verdict.detail());
        }
        PlatformDriver driver;
        try {
            driver = provider.open(uri);
        } catch (AcceleratorException refusal) {
            throw refusal;
        } catch (RuntimeException | ServiceConfigurationError | LinkageError failure) {
            throw new AcceleratorException(
                    ErrorCode.INTERNAL,
                    "open " + uri,
                    "provider '" + uri.provider() + "' failed: " + Candidate.explain(failure),
                    failure);
        }
        for (DriverDecorator decorator : decorators) {
            driver = decorator.decorate(driver);
        }
        return new Platform(uri, driver);
    }

    @Override
    public String toString() {
        return verdicts.stream()
                .map(v -> v.id() + "=" + v.state())
                .collect(Collectors.joining(", ", "Accelerators[", "]"));
    }
}
