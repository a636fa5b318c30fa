// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.conformance.mutants.Mutant;
import io.weft.sim.provider.SimProvider;
import io.weft.spi.DriverDecorator;
import io.weft.spi.decorator.LeakDecorator;
import io.weft.spi.decorator.TraceDecorator;
import io.weft.spi.decorator.ValidationDecorator;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The reference backend passes everything, with nothing waived: under every decorator, in random order, with three seeds, on other machines. {@link SimSuiteTest} is the plain
 * run, as a plugin's build has it.
 */
class SimConformsTest {
    private static final long[] SEEDS = {3, 20_261_129, 0x5EED_0F_DA7AL};

    /**
     * A run.
     *
     * @param all whether the costliest rules are judged as well; where not, another run of the class does on the same machine or one like it
     */
    private record Case(String uri, long seed, List<DriverDecorator> decorators, boolean watched, boolean all) {
        @Override
        public String toString() {
            return uri + ", seed " + seed + ", random order, decorators "
                    + decorators.stream().map(DriverDecorator::name).toList() + (watched ? "" : ", unwatched")
                    + (all ? "" : ", without the costliest rules");
        }

        void conforms() {
            RunOptions options = RunOptions.defaults()
                    .withFigures(false)
                    .withOrder(Order.RANDOM)
                    .withSeed(seed)
                    .withWatched(watched);
            if (!all) {
                options = options.withRules(Conformance.rules(options).stream()
                        .map(Rule::id)
                        .filter(id -> !MutantsTest.COSTLY.contains(id))
                        .toList());
            }
            Report report = Conformance.run(Subject.of(new SimProvider(), uri, decorators), options);
            assertTrue(
                    report.isGood()
                            && report.verdicts().stream()
                                    .noneMatch(verdict -> verdict.outcome() == Outcome.NOT_FOLLOWED
                                            || verdict.outcome() == Outcome.NOT_JUDGED),
                    () -> this + "\n" + report.problems() + "\n"
                            + report.verdicts().stream()
                                    .filter(verdict -> verdict.outcome() != Outcome.PASSED)
                                    .map(Verdict::text)
                                    .collect(Collectors.joining("\n")));
        }
    }

    private static List<DriverDecorator> decorators(int which) {
        List<DriverDecorator> chosen = new ArrayList<>();
        if ((which & 1) != 0) {
            chosen.add(new ValidationDecorator());
        }
        if ((which & 2) != 0) {
            chosen.add(new LeakDecorator(line -> {}));
        }
        if ((which & 4) != 0) {
            chosen.add(new TraceDecorator(line -> {}));
        }
        return chosen;
    }

    @TestFactory
    Stream<DynamicTest> simConforms() {
        List<Case> cases = new ArrayList<>();
        if (MutantsTest.isFull()) {
            for (long seed : SEEDS) {
                for (int which = 0; which < 8; which++) {
                    cases.add(new Case(Mutant.MESH, seed, decorators(which), which % 2 == 0, true));
                }
            }
        } else {
            cases.add(new Case(Mutant.MESH, SEEDS[0], decorators(7), true, true));
            cases.add(new Case(Mutant.MESH, SEEDS[1], decorators(0), false, false));
            cases.add(new Case(Mutant.MESH, SEEDS[2], decorators(1), false, false));
        }
        for (String machine : List.of("ring-4", "switch-8", "node-2x8", "mesh-8?mode=timing&", "mesh-8?devices=1&")) {
            String join = machine.contains("?") ? "" : "?";
            boolean all = MutantsTest.isFull() || !machine.equals("switch-8");
            cases.add(new Case("sim:" + machine + join + "stall-timeout-ms=20", SEEDS[0], decorators(0), true, all));
        }
        return cases.stream().map(one -> DynamicTest.dynamicTest(one.toString(), one::conforms));
    }
}
