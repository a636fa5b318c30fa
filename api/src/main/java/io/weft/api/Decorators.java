// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.spi.DriverDecorator;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/** Finds decorators by name. */
final class Decorators {
    private Decorators() {}

    static DriverDecorator named(String name, List<Candidate> candidates) {
        List<DriverDecorator> known = new ArrayList<>();
        ServiceLoader.load(DriverDecorator.class).forEach(known::add);
        for (Candidate candidate : candidates) {
            if (candidate.layer() != null) {
                collect(candidate.layer(), known);
            }
        }
        return known.stream()
                .filter(decorator -> decorator.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AcceleratorException(
                        ErrorCode.NOT_FOUND,
                        "decorator",
                        "there is no decorator '" + name + "'; known are "
                                + known.stream()
                                        .map(DriverDecorator::name)
                                        .distinct()
                                        .collect(Collectors.joining(", "))));
    }

    /** A plugin whose decorators are broken has none; what is wrong with it shows in its provider's verdict. */
    private static void collect(ModuleLayer layer, List<DriverDecorator> known) {
        try {
            ServiceLoader.load(layer, DriverDecorator.class).forEach(known::add);
        } catch (ServiceConfigurationError | LinkageError broken) {
            System.getLogger(Decorators.class.getName())
                    .log(System.Logger.Level.DEBUG, "the decorators of " + layer + " cannot be loaded", broken);
        }
    }
}
