// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.input;

import io.weft.api.Finding;
import java.util.ArrayList;
import java.util.List;

/** Collects the findings of one run of a check, in the order in which they are to be read. Not thread-safe: checks run one after another. */
public final class FindingReport {
    private final List<Finding> findings = new ArrayList<>();

    /** Starts without findings. */
    public FindingReport() {}

    /** Something is as it should be. */
    public void good(String check, String seen) {
        findings.add(Finding.of(Finding.Severity.GOOD, check, seen));
    }

    /** Worth knowing, with nothing to do. */
    public void note(String check, String seen, String why, String source) {
        note(check, seen, why, source, "");
    }

    /** Worth knowing. */
    public void note(String check, String seen, String why, String source, String fix) {
        findings.add(new Finding(Finding.Severity.NOTE, check, seen, why, source, fix));
    }

    /** Costs speed or clarity. */
    public void warning(String check, String seen, String why, String source, String fix) {
        findings.add(new Finding(Finding.Severity.WARNING, check, seen, why, source, fix));
    }

    /** Wrong. */
    public void problem(String check, String seen, String why, String source, String fix) {
        findings.add(new Finding(Finding.Severity.PROBLEM, check, seen, why, source, fix));
    }

    /** Adds one that was made elsewhere. */
    public void add(Finding finding) {
        findings.add(finding);
    }

    /** All of them so far. */
    public List<Finding> findings() {
        return List.copyOf(findings);
    }
}
