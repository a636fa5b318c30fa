// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.api.AcceleratorException;
import io.weft.api.Accelerators;
import io.weft.api.ErrorCode;
import io.weft.api.PlatformUri;
import io.weft.spi.AcceleratorProvider;
import io.weft.spi.DriverDecorator;
import io.weft.spi.PlatformDriver;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/** The backend that is judged: a provider, the platform that it shall open, and how it is opened. */
public final class Subject {
    private final AcceleratorProvider provider;
    private final PlatformUri uri;
    private final Function<PlatformUri, PlatformDriver> opener;
    private final List<String> decorators;

    private Subject(
            AcceleratorProvider provider,
            PlatformUri uri,
            Function<PlatformUri, PlatformDriver> opener,
            List<String> decorators) {
        this.provider = Objects.requireNonNull(provider);
        this.uri = Objects.requireNonNull(uri);
        this.opener = opener;
        this.decorators = List.copyOf(decorators);
    }

    /**
     * A provider by itself, as a plugin's own build has it.
     *
     * @param decorators to wrap around every platform, innermost first
     */
    public static Subject of(AcceleratorProvider provider, String uri, List<DriverDecorator> decorators) {
        List<DriverDecorator> wraps = List.copyOf(decorators);
        return new Subject(
                provider,
                PlatformUri.parse(uri),
                target -> {
                    PlatformDriver driver = provider.open(target);
                    for (DriverDecorator decorator : wraps) {
                        driver = decorator.decorate(driver);
                    }
                    return driver;
                },
                wraps.stream().map(DriverDecorator::name).toList());
    }

    /**
     * A provider that was discovered.
     *
     * @param decorators names of the decorators that the discovery wraps around every platform, for the report
     * @throws AcceleratorException NOT_FOUND when no such provider was found
     */
    public static Subject of(Accelerators accelerators, String uri, List<String> decorators) {
        PlatformUri parsed = PlatformUri.parse(uri);
        AcceleratorProvider provider = accelerators
                .provider(parsed.provider())
                .orElseThrow(() -> new AcceleratorException(
                        ErrorCode.NOT_FOUND,
                        "open " + uri,
                        "there is no provider '" + parsed.provider() + "'; known are "
                                + (accelerators.knownUris().isEmpty()
                                        ? "none"
                                        : String.join(", ", accelerators.knownUris()))));
        return new Subject(provider, parsed, target -> accelerators.open(target).driver(), decorators);
    }

    /** Who opens it. */
    public AcceleratorProvider provider() {
        return provider;
    }

    /** What is opened. */
    public PlatformUri uri() {
        return uri;
    }

    /** Names of the decorators around it. */
    public List<String> decorators() {
        return decorators;
    }

    /** Opens a platform of the provider. The caller closes it. */
    public PlatformDriver open(PlatformUri target) {
        return opener.apply(target);
    }
}
