// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.api.Finding;
import io.weft.ascend.topology.AscendTopologyReader;
import io.weft.spi.EnvironmentCheck;
import io.weft.spi.HostFiles;
import io.weft.spi.ToolInput;
import io.weft.spi.input.FindingReport;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/** All checks of a host with Ascend NPUs. */
public final class AscendEnvironmentCheck implements EnvironmentCheck {
    private static final List<BiConsumer<Node, FindingReport>> CHECKS = List.of(
            DeviceNodes::look,
            Versions::look,
            RankTables::look,
            Links::look,
            Subnets::look,
            Ports::look,
            VariableRules::look,
            DeviceMemory::look);

    private static final List<ToolInput> INPUTS = List.of(
            new ToolInput(AscendTopologyReader.RANK_TABLE, ToolInput.Form.FILE, "Check a rank table (with --ascend)."),
            new ToolInput(
                    AscendTopologyReader.NPU_SMI,
                    ToolInput.Form.FILE,
                    "Look at the output of npu-smi info or npu-smi info -t topo (with --ascend); may be repeated."),
            new ToolInput(
                    AscendTopologyReader.HCCN,
                    ToolInput.Form.FILE,
                    "Look at the output of hccn_tool (with --ascend); may be repeated."),
            new ToolInput(
                    Running.OPTION,
                    ToolInput.Form.FILE,
                    "Judge a running job by what its /metrics gave (with --ascend)."),
            new ToolInput(HcclTest.OPTION, ToolInput.Form.FILE, "Look at the table of hccl_test (with --ascend)."));

    /** Makes a check; no side effect. */
    public AscendEnvironmentCheck() {}

    @Override
    public String description() {
        return "Check the set-up for Ascend NPUs: versions, links, ports, rank tables, environment variables, buffers.";
    }

    @Override
    public List<ToolInput> inputs() {
        return INPUTS;
    }

    @Override
    public List<Finding> check(HostFiles host) {
        return check(host, Map.of());
    }

    @Override
    public List<Finding> check(HostFiles host, Map<String, List<Path>> files) {
        Node node = Node.of(host, files);
        FindingReport report = new FindingReport();
        for (BiConsumer<Node, FindingReport> check : CHECKS) {
            check.accept(node, report);
        }
        Running.look(files.getOrDefault(Running.OPTION, List.of()), report);
        HcclTest.look(files.getOrDefault(HcclTest.OPTION, List.of()), report);
        return report.findings();
    }

    @Override
    public List<Finding> explain(String code) {
        return code.strip().startsWith(BufferAdvice.VARIABLE) ? BufferAdvice.explain(code) : ErrorCodes.explain(code);
    }
}
