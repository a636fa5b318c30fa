// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.report;

import io.weft.conformance.Outcome;
import io.weft.conformance.Report;
import io.weft.conformance.Verdict;
import java.util.Locale;

/** The report in the form that build servers read: one test case for each rule. */
final class JUnitXml {
    private JUnitXml() {}

    static String of(Report report) {
        int failures = report.bad().size() + report.problems().size();
        long skipped = report.verdicts().stream()
                .filter(verdict -> isSkipped(verdict.outcome()))
                .count();
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        xml.append("<testsuite name=\"conformance of ")
                .append(Text.xml(report.environment().uri()))
                .append("\" tests=\"")
                .append(report.verdicts().size() + report.problems().size())
                .append("\" failures=\"")
                .append(failures)
                .append("\" errors=\"0\" skipped=\"")
                .append(skipped)
                .append("\" time=\"")
                .append(seconds(report.nanos()))
                .append("\" timestamp=\"")
                .append(report.started())
                .append("\">\n");
        report.verdicts().forEach(verdict -> testCase(report, verdict, xml));
        int number = 0;
        for (String problem : report.problems()) {
            number++;
            xml.append("  <testcase classname=\"conformance.run\" name=\"problem ")
                    .append(number)
                    .append("\" time=\"0\">\n    <failure message=\"")
                    .append(Text.xml(problem))
                    .append("\"/>\n  </testcase>\n");
        }
        return xml.append("</testsuite>\n").toString();
    }

    private static boolean isSkipped(Outcome outcome) {
        return !outcome.isBad() && outcome != Outcome.PASSED;
    }

    private static void testCase(Report report, Verdict verdict, StringBuilder xml) {
        xml.append("  <testcase classname=\"conformance.")
                .append(verdict.rule().area())
                .append("\" name=\"")
                .append(Text.xml(verdict.rule().id() + " " + verdict.rule().sentence()))
                .append("\" time=\"")
                .append(seconds(verdict.nanos()))
                .append('"');
        if (verdict.outcome().isBad()) {
            xml.append(">\n    <failure message=\"")
                    .append(Text.xml(verdict.rule().id() + " "
                            + verdict.outcome().label() + ": " + verdict.actual() + verdict.reason()))
                    .append("\">")
                    .append(Text.xml(verdict.text() + "\n  again:       " + report.rerun(verdict)))
                    .append("</failure>\n  </testcase>\n");
        } else if (isSkipped(verdict.outcome())) {
            xml.append(">\n    <skipped message=\"")
                    .append(Text.xml(verdict.outcome().label() + ": " + verdict.reason() + verdict.actual()))
                    .append("\"/>\n  </testcase>\n");
        } else {
            xml.append("/>\n");
        }
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.3f", nanos / 1e9);
    }
}
