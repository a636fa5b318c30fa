// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.report;

import io.weft.conformance.Environment;
import io.weft.conformance.Outcome;
import io.weft.conformance.Report;
import io.weft.conformance.Verdict;
import io.weft.conformance.Waivers;
import java.util.Locale;
import java.util.Map;

/** The report as one self-contained page. */
final class Page {
    private static final String STYLE = """
            :root { color-scheme: light dark; --line: #8884; --good: #18794e; --bad: #ce2c31; --dim: #888; }
            body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
            table { border-collapse: collapse; width: 100%; }
            td, th { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid var(--line); }
            pre { white-space: pre-wrap; background: #8881; padding: .8rem; border-left: 3px solid var(--bad); }
            code { font-family: ui-monospace, monospace; }
            .passed { color: var(--good); } .bad { color: var(--bad); font-weight: 600; } .dim { color: var(--dim); }
            """;

    private Page() {}

    static String of(Report report) {
        Environment environment = report.environment();
        StringBuilder html = new StringBuilder("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        html.append("<meta name=\"viewport\" content=\"width=device-width\">");
        html.append("<title>Conformance of ")
                .append(Text.xml(environment.uri()))
                .append("</title><style>");
        html.append(STYLE).append("</style></head><body>\n");
        html.append("<h1>Conformance of <code>")
                .append(Text.xml(environment.uri()))
                .append("</code></h1>\n");
        String verdict = !report.absent().isEmpty()
                ? "Nothing was judged: the hardware is absent."
                : report.isGood() ? "The backend conforms, as far as this run asked." : "The backend does not conform.";
        html.append("<p class=\"")
                .append(report.isGood() ? "passed" : "bad")
                .append("\">")
                .append(verdict)
                .append("</p>\n");
        facts(report, html);
        if (!report.problems().isEmpty()) {
            html.append("<h2>Problems</h2><ul>");
            report.problems()
                    .forEach(problem -> html.append("<li class=\"bad\">")
                            .append(Text.xml(problem))
                            .append("</li>"));
            html.append("</ul>\n");
        }
        boolean first = true;
        for (Verdict one : report.verdicts()) {
            if (one.outcome().isBad() || one.outcome() == Outcome.NOT_FOLLOWED || one.outcome() == Outcome.WAIVED) {
                html.append(first ? "<h2>What is broken</h2>\n" : "");
                first = false;
                html.append("<pre>")
                        .append(Text.xml(
                                one.outcome().label() + " " + one.text() + "\n  again:       " + report.rerun(one)))
                        .append("</pre>\n");
            }
        }
        rules(report, html);
        waivers(report.options().waivers(), html);
        figures(report, html);
        return html.append("</body></html>\n").toString();
    }

    private static void facts(Report report, StringBuilder html) {
        Environment e = report.environment();
        html.append("<table>");
        row(
                html,
                "plugin",
                e.plugin().id() + " " + e.plugin().version() + " (" + e.plugin().vendor() + ", SPI "
                        + e.plugin().spiVersion() + ", host SPI " + e.hostSpi() + ")");
        row(html, "machine", e.machine() + ", figures: " + e.figures());
        row(
                html,
                "devices",
                e.devices().size() + ": "
                        + String.join(", ", e.devices().stream().distinct().toList()));
        row(html, "versions", e.versions().toString());
        row(html, "capabilities", String.join(", ", e.capabilities()));
        row(html, "decorators", e.decorators().isEmpty() ? "none" : String.join(", ", e.decorators()));
        row(html, "system", e.os() + "; " + e.jdk());
        row(html, "suite", e.suiteVersion() + ", sha256 " + e.suiteDigest());
        row(
                html,
                "run",
                "level " + report.options().level().name().toLowerCase(Locale.ROOT) + ", seed "
                        + report.options().seed() + ", order "
                        + report.options().order().name().toLowerCase(Locale.ROOT) + ", "
                        + String.format(Locale.ROOT, "%.1f s", report.nanos() / 1e9) + ", " + report.started());
        StringBuilder counts = new StringBuilder();
        for (Map.Entry<Outcome, Integer> count : report.counts().entrySet()) {
            counts.append(counts.isEmpty() ? "" : ", ")
                    .append(count.getValue())
                    .append(' ')
                    .append(count.getKey().label());
        }
        row(html, "rules", counts.toString());
        html.append("</table>\n");
    }

    private static void row(StringBuilder html, String name, String value) {
        html.append("<tr><th>")
                .append(name)
                .append("</th><td>")
                .append(Text.xml(value))
                .append("</td></tr>");
    }

    private static void rules(Report report, StringBuilder html) {
        html.append("<h2>Rules</h2>\n<table><tr><th>id</th><th>outcome</th><th>rule</th></tr>\n");
        for (Verdict verdict : report.verdicts()) {
            String style = verdict.outcome().isBad() ? "bad" : verdict.outcome() == Outcome.PASSED ? "passed" : "dim";
            html.append("<tr><td><code>")
                    .append(verdict.rule().id())
                    .append("</code></td><td class=\"")
                    .append(style)
                    .append("\">")
                    .append(verdict.outcome().label())
                    .append("</td><td>")
                    .append(Text.xml(verdict.rule().sentence()));
            if (!verdict.reason().isEmpty()) {
                html.append("<br><span class=\"dim\">")
                        .append(Text.xml(verdict.reason()))
                        .append("</span>");
            }
            html.append("</td></tr>\n");
        }
        html.append("</table>\n");
    }

    private static void waivers(Waivers waivers, StringBuilder html) {
        if (waivers.unsupported().isEmpty() && waivers.knownFailures().isEmpty()) {
            return;
        }
        html.append("<h2>Waivers</h2>\n<table>");
        waivers.unsupported().forEach(waiver -> row(html, "unsupported", waiver.capability() + ": " + waiver.reason()));
        waivers.knownFailures()
                .forEach(waiver -> row(
                        html,
                        "known failure",
                        waiver.rule() + ": " + waiver.reason() + ", " + waiver.issue() + ", until "
                                + waiver.expires()));
        html.append("</table>\n");
    }

    private static void figures(Report report, StringBuilder html) {
        if (report.figures().isEmpty()) {
            return;
        }
        html.append("<h2>Figures</h2>\n<p>")
                .append(Text.xml(report.environment().figures()))
                .append("; told, never judged.</p>\n<table>");
        report.figures().forEach((name, value) -> row(html, Text.xml(name), String.format(Locale.ROOT, "%.2f", value)));
        html.append("</table>\n");
    }
}
