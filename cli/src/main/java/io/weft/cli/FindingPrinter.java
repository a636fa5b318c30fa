// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.Finding;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints findings, the worst first, each with its reason, where that is written, and what to do. */
final class FindingPrinter {
    private static final int WIDTH = 112;
    private static final int INDENT = 9;

    private FindingPrinter() {}

    static void print(List<Finding> findings, PrintWriter out) {
        for (Finding.Severity severity : List.of(
                Finding.Severity.PROBLEM, Finding.Severity.WARNING, Finding.Severity.NOTE, Finding.Severity.GOOD)) {
            for (Finding finding : findings) {
                if (finding.severity() == severity) {
                    print(finding, out);
                }
            }
        }
    }

    private static void print(Finding finding, PrintWriter out) {
        String label = finding.severity() == Finding.Severity.PROBLEM
                ? "PROBLEM"
                : finding.severity().name().toLowerCase(Locale.ROOT);
        block(label, finding.check() + ": " + finding.seen(), out);
        block("  why", finding.why(), out);
        block("  see", finding.source(), out);
        block("  do", finding.fix(), out);
    }

    private static void block(String label, String text, PrintWriter out) {
        if (text.isEmpty()) {
            return;
        }
        StringBuilder line = new StringBuilder(label).append(" ".repeat(Math.max(1, INDENT - label.length())));
        int used = line.length();
        boolean first = true;
        for (String word : Failures.oneLine(text).split(" ", -1)) {
            if (!first && used + 1 + word.length() > WIDTH) {
                out.println(line.toString().stripTrailing());
                line.setLength(0);
                line.append(" ".repeat(INDENT));
                used = INDENT;
                first = true;
            }
            line.append(first ? "" : " ").append(word);
            used += (first ? 0 : 1) + word.length();
            first = false;
        }
        out.println(line.toString().stripTrailing());
    }

    /** Such as "1 problem, 2 warnings, 3 notes, 4 good". */
    static String summary(List<Finding> findings) {
        Map<Finding.Severity, Integer> counts = new EnumMap<>(Finding.Severity.class);
        findings.forEach(finding -> counts.merge(finding.severity(), 1, Integer::sum));
        List<String> parts = new ArrayList<>();
        for (Finding.Severity severity : List.of(
                Finding.Severity.PROBLEM, Finding.Severity.WARNING, Finding.Severity.NOTE, Finding.Severity.GOOD)) {
            int count = counts.getOrDefault(severity, 0);
            if (count > 0) {
                boolean plural = count > 1 && severity != Finding.Severity.GOOD;
                parts.add(count + " " + severity.name().toLowerCase(Locale.ROOT) + (plural ? "s" : ""));
            }
        }
        return parts.isEmpty() ? "nothing found" : String.join(", ", parts);
    }

    static Map<String, Object> json(Finding finding) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("severity", finding.severity().name().toLowerCase(Locale.ROOT));
        row.put("check", finding.check());
        row.put("seen", finding.seen());
        row.put("why", finding.why());
        row.put("source", finding.source());
        row.put("fix", finding.fix());
        return row;
    }

    static boolean isBad(List<Finding> findings) {
        return findings.stream().anyMatch(finding -> finding.severity() == Finding.Severity.PROBLEM);
    }
}
