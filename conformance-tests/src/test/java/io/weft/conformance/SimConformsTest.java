// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.conformance.mutants.Mutant;
import io.weft.sim.provider.SimProvider;
import io.weft.spi.DriverDecorator;
import io.weft.spi.decorator.LeakDecorator;
import io.weft.spi.decorator.TraceDecorator;
import io.weft.spi.decorator.ValidationDecorator;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The reference backend passes everything, with nothing waived. */
class SimConformsTest {
    private static final RunOptions OPTIONS = RunOptions.defaults().withFigures(false);

    private static void conforms(RunOptions options, DriverDecorator... decorators) {
        Subject subject = Subject.of(new SimProvider(), Mutant.MESH, List.of(decorators));
        Report report = Conformance.run(subject, options);
        assertTrue(
                report.isGood(),
                () -> "seed " + options.seed() + ", decorators " + List.of(decorators) + "\n"
                        + report.problems() + "\n"
                        + report.bad().stream().map(Verdict::text).collect(Collectors.joining("\n")));
    }

    @Test
    void simPassesEveryRule() {
        conforms(OPTIONS);
    }

    @Test
    void simPassesInRandomOrderUnwatched() {
        conforms(OPTIONS.withOrder(Order.RANDOM).withSeed(20_261_129).withWatched(false));
    }

    @Test
    void simPassesUnderEveryDecorator() {
        conforms(
                OPTIONS.withOrder(Order.RANDOM).withSeed(7),
                new ValidationDecorator(),
                new LeakDecorator(line -> {}),
                new TraceDecorator(line -> {}));
    }
}
