// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.spi.Probe;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs the suite on a backend. */
public final class Conformance {
    private Conformance() {}

    /**
     * Judges a backend by the suite's own rules.
     *
     * @throws UnusableInput for an unknown rule
     * @throws io.weft.api.AcceleratorException when the platform's URI cannot be used
     */
    public static Report run(Subject subject, RunOptions options) {
        return run(subject, options, Catalogue.standard());
    }

    /**
     * The rules that a run would give a verdict on.
     *
     * @throws UnusableInput for an unknown rule
     */
    public static List<Rule> rules(RunOptions options) {
        return List.copyOf(Session.select(options, Catalogue.standard()));
    }

    static Report run(Subject subject, RunOptions options, Catalogue catalogue) {
        return run(subject, options, catalogue, ProofBook.standard(catalogue));
    }

    static Report run(Subject subject, RunOptions options, Catalogue catalogue, ProofBook proofs) {
        Instant started = Instant.now();
        long begin = System.nanoTime();
        if (subject.provider().probe() instanceof Probe.Absent absence) {
            List<String> problems =
                    options.strict() ? List.of("the hardware is absent: " + absence.reason()) : List.of();
            return new Report(
                    Environment.of(subject, null, proofs),
                    options,
                    absence.reason(),
                    List.of(),
                    problems,
                    Map.of(),
                    started,
                    System.nanoTime() - begin);
        }
        try (Session session = new Session(subject, options, catalogue, proofs)) {
            session.open();
            List<Verdict> verdicts = new ArrayList<>();
            for (Rule rule : session.rules()) {
                verdicts.add(session.judge(rule));
            }
            verdicts.addAll(session.judgeStanding());
            Map<String, Double> figures = options.figures() ? session.figures() : Map.of();
            session.end();
            List<String> problems = session.problems();
            List<Rule> order = List.copyOf(catalogue.rules());
            verdicts.sort(java.util.Comparator.comparingInt(verdict -> order.indexOf(verdict.rule())));
            return new Report(
                    session.environment(),
                    options,
                    "",
                    verdicts,
                    problems,
                    figures,
                    started,
                    System.nanoTime() - begin);
        }
    }
}
