// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.Device;
import io.weft.api.Platform;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.report.OutputFile;
import io.weft.runtime.report.TopologyWriter;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft topo}: how the devices of a platform reach one another. */
@Command(
        name = "topo",
        mixinStandardHelpOptions = true,
        description = "Shows the devices of a platform and the paths between them.")
final class TopoCommand implements Callable<Integer> {
    @ParentCommand
    Weft weft;

    @Spec
    CommandSpec spec;

    @Option(names = "--on", required = true, paramLabel = "URI", description = "Platform, such as sim:mesh-8.")
    String uri;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Option(names = "--dot", paramLabel = "FILE", description = "Also write a Graphviz graph.")
    Path dot;

    @Option(names = "--svg", paramLabel = "FILE", description = "Also write a picture.")
    Path svg;

    @Override
    public Integer call() {
        try (WeftRuntime runtime = WeftRuntime.start(weft.settings());
                Platform platform = runtime.open(uri)) {
            Topology topology = platform.topology();
            if (dot != null) {
                OutputFile.write(dot, TopologyWriter.dot(platform));
            }
            if (svg != null) {
                OutputFile.write(svg, TopologyWriter.svg(platform));
            }
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                Json.print(out, json(platform));
            } else {
                print(platform, topology, out);
            }
        }
        return ExitCode.GOOD;
    }

    private static void print(Platform platform, Topology topology, PrintWriter out) {
        out.println(platform.uri() + ": " + platform.properties().machine() + ", "
                + platform.devices().size() + " devices, figures: "
                + platform.figures().label());
        TextTable devices = new TextTable(
                ">device", "name", "architecture", ">units", ">memory", ">GB/s", ">copy engines", ">queues", ">NUMA");
        for (Device device : platform.devices()) {
            var p = device.properties();
            devices.row(
                    Integer.toString(p.ordinal()),
                    p.name(),
                    p.architecture(),
                    Integer.toString(p.computeUnits()),
                    Figure.bytes((double) p.memoryBytes()),
                    String.format(Locale.ROOT, "%.0f", p.memoryBandwidth() / 1e9),
                    Integer.toString(p.copyEngines()),
                    Integer.toString(p.hardwareQueues()),
                    p.numaNode() < 0 ? "-" : Integer.toString(p.numaNode()));
        }
        devices.print(out);
        out.println();
        matrix(
                "GB/s one way, from row to column",
                topology,
                out,
                link -> String.format(Locale.ROOT, "%.1f", link.bandwidth()));
        matrix("kind x width, hops", topology, out, link -> link.name() + " x" + link.width() + ", " + link.hops());
    }

    private static void matrix(
            String title, Topology topology, PrintWriter out, java.util.function.Function<Link, String> cell) {
        List<String> header = new ArrayList<>(List.of(title));
        for (int to = 0; to < topology.devices(); to++) {
            header.add(">" + to);
        }
        TextTable table = new TextTable(header.toArray(String[]::new));
        for (int from = 0; from < topology.devices(); from++) {
            List<String> row = new ArrayList<>(List.of(Integer.toString(from)));
            for (int to = 0; to < topology.devices(); to++) {
                Link link = topology.link(from, to);
                row.add(from == to || link.kind() == LinkKind.NONE ? "-" : cell.apply(link));
            }
            table.row(row.toArray(String[]::new));
        }
        table.print(out);
        out.println();
    }

    private static Map<String, Object> json(Platform platform) {
        Map<String, Object> root = new LinkedHashMap<>();
        root.put("figures", platform.figures().label());
        root.put("uri", platform.uri().toString());
        root.put("machine", platform.properties().machine());
        root.put("vendor", platform.properties().vendor());
        root.put("versions", platform.properties().versions());
        root.put(
                "capabilities",
                platform.capabilities().stream().map(Enum::name).sorted().toList());
        List<Map<String, Object>> devices = new ArrayList<>();
        for (Device device : platform.devices()) {
            var p = device.properties();
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("device", p.ordinal());
            row.put("name", p.name());
            row.put("architecture", p.architecture());
            row.put("computeUnits", p.computeUnits());
            row.put("memoryBytes", p.memoryBytes());
            row.put("memoryGBps", p.memoryBandwidth() / 1e9);
            row.put("copyEngines", p.copyEngines());
            row.put("hardwareQueues", p.hardwareQueues());
            row.put("busId", p.busId());
            row.put("numaNode", p.numaNode());
            row.put("extra", p.extra());
            devices.add(row);
        }
        root.put("devices", devices);
        List<Map<String, Object>> links = new ArrayList<>();
        Topology topology = platform.topology();
        for (int from = 0; from < topology.devices(); from++) {
            for (int to = 0; to < topology.devices(); to++) {
                if (from != to) {
                    links.add(json(topology.link(from, to)));
                }
            }
        }
        root.put("links", links);
        return root;
    }

    private static Map<String, Object> json(Link link) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("from", link.from());
        row.put("to", link.to());
        row.put("kind", link.kind().name());
        row.put("name", link.name());
        row.put("bandwidthGBps", link.bandwidth());
        row.put("latencyNs", link.latencyNanos());
        row.put("hops", link.hops());
        row.put("width", link.width());
        row.put("copyable", link.copyable());
        row.put("addressable", link.addressable());
        return row;
    }
}
