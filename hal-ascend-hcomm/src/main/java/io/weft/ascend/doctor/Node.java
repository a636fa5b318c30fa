// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.api.AcceleratorException;
import io.weft.ascend.topology.AscendGraph;
import io.weft.ascend.topology.AscendTopologyReader;
import io.weft.ascend.topology.GraphBuilder;
import io.weft.ascend.topology.HccnReport;
import io.weft.ascend.topology.NpuSmiDevices;
import io.weft.ascend.topology.ToolOutput;
import io.weft.spi.HostFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The host that is checked, with what several checks need to know.
 *
 * @param host its files
 * @param environments of its processes
 * @param rankTables rank tables that were given, or that environments name
 * @param devices what npu-smi info says, when a file has it
 * @param ports by file, what hccn_tool says
 * @param graph everything together; empty when nothing was there, or when the files cannot be used together
 * @param refusals files that cannot be used, each in one line
 */
record Node(
        HostFiles host,
        List<HostFiles.Environment> environments,
        List<Path> rankTables,
        Optional<NpuSmiDevices> devices,
        Map<String, HccnReport> ports,
        Optional<AscendGraph> graph,
        List<String> refusals) {
    /** Where containers of MindCluster find their table. */
    private static final String MOUNTED_TABLE = "user/serverid/devindex/config/hccl.json";

    static Node of(HostFiles host, Map<String, List<Path>> files) {
        List<HostFiles.Environment> environments = host.environments();
        List<String> refusals = new ArrayList<>();
        Set<Path> tables = new LinkedHashSet<>(files.getOrDefault(AscendTopologyReader.RANK_TABLE, List.of()));
        host.real(MOUNTED_TABLE).ifPresent(tables::add);
        for (HostFiles.Environment environment : environments) {
            environment
                    .value("RANK_TABLE_FILE")
                    .filter(text -> !text.isBlank())
                    .map(text -> text.startsWith("/") ? text.substring(1) : text)
                    .flatMap(host::real)
                    .ifPresent(tables::add);
        }
        Set<Path> smi = new LinkedHashSet<>(files.getOrDefault(AscendTopologyReader.NPU_SMI, List.of()));
        Set<Path> hccn = new LinkedHashSet<>(files.getOrDefault(AscendTopologyReader.HCCN, List.of()));
        host.real("etc/hccn.conf").ifPresent(hccn::add);
        if (!host.isLive()) {
            for (String name : host.list("")) {
                if (name.matches("npu-smi.*\\.txt")) {
                    host.real(name).ifPresent(smi::add);
                } else if (name.matches("hccn.*\\.txt")) {
                    host.real(name).ifPresent(hccn::add);
                }
            }
        }
        // A file that was named must be usable; one that was found is only reported.
        Set<Path> named = new LinkedHashSet<>();
        files.values().forEach(named::addAll);
        Optional<NpuSmiDevices> devices = Optional.empty();
        GraphBuilder builder = new GraphBuilder();
        boolean any = false;
        for (Path file : smi) {
            try {
                ToolOutput output = ToolOutput.read(file);
                if (output.devices().isPresent()) {
                    devices = output.devices();
                }
                builder.npuSmi(file, output.text());
                any = true;
            } catch (AcceleratorException unusable) {
                refused(file, named, unusable, refusals);
            }
        }
        Map<String, HccnReport> ports = new LinkedHashMap<>();
        for (Path file : hccn) {
            try {
                ports.put(file.toString(), HccnReport.read(file));
                builder.hccn(file);
                any = true;
            } catch (AcceleratorException unusable) {
                refused(file, named, unusable, refusals);
            }
        }
        for (Path file : tables) {
            try {
                builder.rankTable(file);
                any = true;
            } catch (AcceleratorException unusable) {
                refused(file, named, unusable, refusals);
            }
        }
        Optional<AscendGraph> graph = Optional.empty();
        if (any) {
            try {
                graph = Optional.of(builder.build());
            } catch (AcceleratorException unusable) {
                refusals.add(unusable.detail());
            }
        }
        return new Node(host, environments, List.copyOf(tables), devices, ports, graph, List.copyOf(refusals));
    }

    private static void refused(Path file, Set<Path> named, AcceleratorException unusable, List<String> refusals) {
        if (named.contains(file)) {
            throw unusable;
        }
        refusals.add(unusable.detail());
    }

    /** The first value of a variable in any environment; empty when none has it. */
    Optional<String> variable(String name) {
        return environments.stream()
                .map(environment -> environment.value(name))
                .flatMap(Optional::stream)
                .findFirst();
    }
}
