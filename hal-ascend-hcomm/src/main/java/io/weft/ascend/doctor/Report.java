// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.api.Finding;
import java.util.ArrayList;
import java.util.List;

/** Collects the findings of one run. Not thread-safe: checks run one after another. */
final class Report {
    private final List<Finding> findings = new ArrayList<>();

    void good(String check, String seen) {
        findings.add(Finding.of(Finding.Severity.GOOD, check, seen));
    }

    void note(String check, String seen, String why, String source, String fix) {
        findings.add(new Finding(Finding.Severity.NOTE, check, seen, why, source, fix));
    }

    void warning(String check, String seen, String why, String source, String fix) {
        findings.add(new Finding(Finding.Severity.WARNING, check, seen, why, source, fix));
    }

    void problem(String check, String seen, String why, String source, String fix) {
        findings.add(new Finding(Finding.Severity.PROBLEM, check, seen, why, source, fix));
    }

    void add(Finding finding) {
        findings.add(finding);
    }

    List<Finding> findings() {
        return List.copyOf(findings);
    }
}
