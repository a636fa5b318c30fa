// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.spi.DriverDecorator;
import java.util.ArrayList;
import java.util.List;
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
                ServiceLoader.load(candidate.layer(), DriverDecorator.class).forEach(known::add);
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
}
