// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.api.Finding;
import io.weft.ascend.topology.RankTableRules;
import io.weft.spi.input.FindingReport;

/** The rank table: rules that it must keep, and whether it is of this host. */
final class RankTables {
    private RankTables() {}

    static void look(Node node, FindingReport report) {
        for (String refusal : node.refusals()) {
            report.warning("unusable-file", refusal, "", "", "Capture it again.");
        }
        if (node.graph().isEmpty()) {
            return;
        }
        boolean good = true;
        for (Finding finding : node.graph().get().findings()) {
            good &= finding.severity() != Finding.Severity.PROBLEM;
            report.add(finding);
        }
        if (!node.rankTables().isEmpty() && good) {
            report.good(
                    RankTableRules.CHECK,
                    "the rank table is legal: " + node.graph().get().npus().size() + " ranks on "
                            + node.graph().get().servers() + " servers");
        }
    }
}
