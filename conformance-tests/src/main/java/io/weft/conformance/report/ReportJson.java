// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.report;

import io.weft.conformance.Environment;
import io.weft.conformance.Outcome;
import io.weft.conformance.Profile;
import io.weft.conformance.Report;
import io.weft.conformance.RunOptions;
import io.weft.conformance.Verdict;
import io.weft.conformance.Waivers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The report as JSON. Its form is documented; keys are added, never changed. */
final class ReportJson {
    /** Grows when a key changes its meaning. */
    static final int FORMAT = 1;

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .disable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    private ReportJson() {}

    static String of(Report report) {
        Map<String, Object> root = new LinkedHashMap<>();
        root.put("format", FORMAT);
        root.put("good", report.isGood());
        root.put("absent", report.absent());
        root.put("started", report.started().toString());
        root.put("seconds", report.nanos() / 1e9);
        root.put("environment", environment(report.environment()));
        root.put("options", options(report.options()));
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (Outcome outcome : Outcome.values()) {
            counts.put(outcome.label(), report.counts().getOrDefault(outcome, 0));
        }
        root.put("counts", counts);
        root.put("problems", report.problems());
        List<Map<String, Object>> rules = new ArrayList<>();
        report.verdicts().forEach(verdict -> rules.add(verdict(report, verdict)));
        root.put("rules", rules);
        root.put("waivers", waivers(report.options().waivers()));
        root.put("figures", report.figures());
        return MAPPER.writeValueAsString(root);
    }

    private static Map<String, Object> environment(Environment environment) {
        Map<String, Object> plugin = new LinkedHashMap<>();
        plugin.put("id", environment.plugin().id());
        plugin.put("vendor", environment.plugin().vendor());
        plugin.put("version", environment.plugin().version());
        plugin.put("spi", environment.plugin().spiVersion().toString());
        Map<String, Object> suite = new LinkedHashMap<>();
        suite.put("version", environment.suiteVersion());
        suite.put("sha256", environment.suiteDigest());
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("plugin", plugin);
        map.put("uri", environment.uri());
        map.put("machine", environment.machine());
        map.put("figures", environment.figures());
        map.put("versions", environment.versions());
        map.put("capabilities", environment.capabilities());
        map.put("devices", environment.devices());
        map.put("decorators", environment.decorators());
        map.put("os", environment.os());
        map.put("jdk", environment.jdk());
        map.put("hostSpi", environment.hostSpi());
        map.put("suite", suite);
        return map;
    }

    private static Map<String, Object> options(RunOptions options) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("level", options.level().name().toLowerCase(Locale.ROOT));
        map.put(
                "profiles",
                options.profiles().stream().map(Profile::label).sorted().toList());
        map.put("rules", options.rules());
        map.put("strict", options.strict());
        map.put("seed", options.seed());
        map.put("order", options.order().name().toLowerCase(Locale.ROOT));
        return map;
    }

    private static Map<String, Object> verdict(Report report, Verdict verdict) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("id", verdict.rule().id());
        map.put("sentence", verdict.rule().sentence());
        map.put("obligation", verdict.rule().obligation().name());
        map.put("level", verdict.rule().level().name().toLowerCase(Locale.ROOT));
        map.put("outcome", verdict.outcome().label());
        if (!verdict.proof().isEmpty()) {
            map.put("proof", verdict.proof());
            map.put("seconds", verdict.nanos() / 1e9);
        }
        if (!verdict.reason().isEmpty()) {
            map.put("reason", verdict.reason());
        }
        if (!verdict.expected().isEmpty()) {
            map.put("expected", verdict.expected());
            map.put("actual", verdict.actual());
            map.put("checkFirst", verdict.rule().check());
            map.put("again", report.rerun(verdict));
        }
        if (!verdict.details().isEmpty()) {
            map.put("details", verdict.details());
        }
        return map;
    }

    private static Map<String, Object> waivers(Waivers waivers) {
        Map<String, Object> map = new LinkedHashMap<>();
        List<Map<String, Object>> unsupported = new ArrayList<>();
        for (Waivers.Unsupported waiver : waivers.unsupported()) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("capability", waiver.capability().name());
            entry.put("reason", waiver.reason());
            unsupported.add(entry);
        }
        List<Map<String, Object>> failures = new ArrayList<>();
        for (Waivers.KnownFailure waiver : waivers.knownFailures()) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("rule", waiver.rule());
            entry.put("reason", waiver.reason());
            entry.put("issue", waiver.issue());
            entry.put("device", waiver.device().pattern());
            entry.put("driver", waiver.driver().pattern());
            entry.put("expires", waiver.expires().toString());
            failures.add(entry);
        }
        map.put("unsupported", unsupported);
        map.put("knownFailures", failures);
        return map;
    }
}
