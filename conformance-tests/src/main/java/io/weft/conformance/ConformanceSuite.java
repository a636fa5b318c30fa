// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.spi.AcceleratorProvider;
import io.weft.spi.DriverDecorator;
import io.weft.spi.Probe;
import io.weft.spi.Target;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The suite in a plugin's build: extend it, name the provider, and JUnit finds one test for each rule.
 *
 * <pre>{@code
 * final class MyPluginConformanceTest extends ConformanceSuite {
 *     @Override
 *     protected AcceleratorProvider provider() {
 *         return new MyProvider();
 *     }
 * }
 * }</pre>
 *
 * <p>Tests whose rule is not judged (absent hardware, an undeclared capability, a broken rule that it requires) are skipped with the reason; system property
 * {@code weft.conformance.strict=true} turns absent hardware into a failure.
 */
public abstract class ConformanceSuite {
    /** For sub-classes. */
    protected ConformanceSuite() {}

    /** The provider to judge. */
    protected abstract AcceleratorProvider provider();

    /** The platform to open; the first target of the provider unless said otherwise. */
    protected String uri() {
        AcceleratorProvider provider = provider();
        Optional<Target> first = provider.targets().stream()
                .filter(target -> !target.name().contains("="))
                .findFirst();
        return provider.descriptor().id() + ":"
                + first.map(Target::name)
                        .orElseThrow(() -> new UnusableInput("the provider '"
                                + provider.descriptor().id() + "' lists no target: override uri() to name one"));
    }

    /** How much is asked for; everything unless said otherwise. */
    protected Level level() {
        return Level.FULL;
    }

    /** Decorators to wrap around the platform, innermost first. */
    protected List<DriverDecorator> decorators() {
        return List.of();
    }

    /** The plugin's waiver file, if it has one. */
    protected Optional<Path> waivers() {
        return Optional.empty();
    }

    /** Everything else that a run asks for. */
    protected RunOptions options() {
        return RunOptions.defaults()
                .withStrict(Boolean.getBoolean("weft.conformance.strict"))
                .withSeed(Long.getLong("weft.conformance.seed", 1));
    }

    /** One test for each rule, and one that fails when nothing was executed. */
    @TestFactory
    @SuppressWarnings("exports") // Whoever extends this has JUnit; the module itself runs without.
    public final Stream<DynamicTest> rules() {
        Catalogue catalogue = Catalogue.standard();
        Subject subject = Subject.of(provider(), uri(), decorators());
        RunOptions options = options().withLevel(level());
        Optional<Path> file = waivers();
        if (file.isPresent()) {
            options = options.withWaivers(Waivers.read(file.get(), catalogue));
        }
        if (subject.provider().probe() instanceof Probe.Absent absence) {
            Assertions.assertFalse(options.strict(), "the hardware is absent: " + absence.reason());
            Assumptions.abort("the hardware is absent: " + absence.reason());
        }
        return tests(new Session(subject, options, catalogue, ProofBook.standard(catalogue)));
    }

    private static Stream<DynamicTest> tests(Session session) {
        session.open();
        List<DynamicTest> tests = new ArrayList<>();
        session.rules().forEach(rule -> tests.add(test(session, rule)));
        session.standingRules().forEach(rule -> tests.add(test(session, rule)));
        tests.add(DynamicTest.dynamicTest("the run as a whole", () -> {
            session.end();
            List<String> problems = session.problems();
            Assertions.assertTrue(problems.isEmpty(), () -> String.join("\n", problems));
        }));
        return tests.stream().onClose(session::close);
    }

    private static DynamicTest test(Session session, Rule rule) {
        return DynamicTest.dynamicTest(rule.id() + " " + rule.sentence(), () -> {
            Verdict verdict = session.judge(rule);
            switch (verdict.outcome()) {
                case PASSED -> {}
                case BROKEN, HUNG, UNEXPECTED_PASS -> Assertions.fail(verdict.text());
                case NOT_FOLLOWED, WAIVED, UNSUPPORTED, NOT_APPLICABLE, NOT_JUDGED, UNPROVEN ->
                    Assumptions.abort(verdict.outcome().label() + ": " + verdict.text());
            }
        });
    }
}
