// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.doctor;

import io.weft.api.Finding;
import io.weft.spi.EnvironmentCheck;
import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.util.List;
import java.util.function.BiConsumer;

/** All checks of a node with AMD Instinct GPUs. */
public final class AmdEnvironmentCheck implements EnvironmentCheck {
    private static final List<BiConsumer<Node, FindingReport>> CHECKS = List.of(
            DeviceNodes::look,
            DriverTopology::look,
            Versions::look,
            KernelSettings::look,
            VisibleDevices::look,
            RankPlacement::look,
            TopologySource::look,
            VariableRules::look);

    /** Makes a check; no side effect. */
    public AmdEnvironmentCheck() {}

    @Override
    public String description() {
        return "Check the set-up for AMD Instinct GPUs: device nodes, kernel settings, links, masks, environment"
                + " variables, versions.";
    }

    @Override
    public List<Finding> check(HostFiles host) {
        Node node = Node.of(host);
        FindingReport report = new FindingReport();
        for (BiConsumer<Node, FindingReport> check : CHECKS) {
            check.accept(node, report);
        }
        return report.findings();
    }
}
