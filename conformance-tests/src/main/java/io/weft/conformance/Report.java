// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What a run found.
 *
 * @param environment what was judged, and on what
 * @param options what was asked for
 * @param absent why nothing ran although nothing is wrong: the hardware is not here; empty otherwise
 * @param verdicts one for each rule asked for, in catalogue order
 * @param problems what is wrong beside broken rules: expired waivers, capabilities that nobody spoke of, no proof executed
 * @param figures performance figures by name, apart from pass and fail
 * @param started when
 * @param nanos real time of the whole run
 */
public record Report(
        Environment environment,
        RunOptions options,
        String absent,
        List<Verdict> verdicts,
        List<String> problems,
        Map<String, Double> figures,
        Instant started,
        long nanos) {
    public Report {
        verdicts = List.copyOf(verdicts);
        problems = List.copyOf(problems);
        figures = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(figures));
    }

    /** Whether the backend conforms, as far as this run asked. */
    public boolean isGood() {
        return problems.isEmpty()
                && verdicts.stream().noneMatch(verdict -> verdict.outcome().isBad());
    }

    /** How many rules came to each outcome. */
    public Map<Outcome, Integer> counts() {
        Map<Outcome, Integer> counts = new EnumMap<>(Outcome.class);
        verdicts.forEach(verdict -> counts.merge(verdict.outcome(), 1, Integer::sum));
        return counts;
    }

    /** Verdicts by which the run fails. */
    public List<Verdict> bad() {
        return verdicts.stream().filter(verdict -> verdict.outcome().isBad()).toList();
    }

    /** The one command which judges just the rule of a verdict again. */
    public String rerun(Verdict verdict) {
        StringBuilder command = new StringBuilder("weft conform --on '")
                .append(environment.uri())
                .append('\'');
        command.append(" --rule ").append(verdict.rule().id());
        verdict.details().stream()
                .filter(line -> line.startsWith(Session.LEFT_BY))
                .map(line -> line.substring(Session.LEFT_BY.length()).split(" ", 2)[0])
                .findFirst()
                .ifPresent(rule -> command.append(" --rule ").append(rule));
        if (!environment.decorators().isEmpty()) {
            command.append(" -D decorators=").append(String.join(",", environment.decorators()));
        }
        return command.append(" --seed ").append(options.seed()).toString();
    }
}
