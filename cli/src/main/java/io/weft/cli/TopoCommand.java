// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.AcceleratorException;
import io.weft.api.Device;
import io.weft.api.Platform;
import io.weft.api.topology.DescribedMachine;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.report.MachineDrawing;
import io.weft.runtime.report.OutputFile;
import io.weft.spi.ChoiceTables;
import io.weft.spi.ToolInput;
import io.weft.spi.TopologyReader;
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
        description = "Shows the devices of a platform, or of a machine that files describe, and the paths between"
                + " them. Exit code 1 says that the files contradict themselves or one another.")
final class TopoCommand implements Callable<Integer> {
    @ParentCommand
    Weft weft;

    @Spec
    CommandSpec spec;

    @Option(names = "--on", paramLabel = "URI", description = "Platform, such as sim:mesh-8.")
    String uri;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Option(
            names = "--dot",
            arity = "0..1",
            fallbackValue = "-",
            paramLabel = "FILE",
            description = "Also write a Graphviz graph; without a file, print it instead of the tables.")
    Path dot;

    @Option(names = "--svg", paramLabel = "FILE", description = "Also write a picture.")
    Path svg;

    /** A plugin's reader with those of its inputs that are options here. */
    record Reader(String provider, TopologyReader reader, List<ToolInput> inputs) {}

    final List<Reader> readers = new ArrayList<>();

    @Override
    public Integer call() {
        List<Map<String, List<Path>>> given = new ArrayList<>();
        List<String> chosen = new ArrayList<>();
        for (Reader reader : readers) {
            Map<String, List<Path>> files = new LinkedHashMap<>();
            for (ToolInput input : reader.inputs()) {
                List<Path> paths = PluginOptions.paths(spec, input.option());
                if (!paths.isEmpty()) {
                    files.put(input.option(), paths);
                    chosen.add(input.option());
                }
            }
            given.add(files);
        }
        if (uri != null && !chosen.isEmpty()) {
            throw AcceleratorException.invalid(
                    "topo", "--on opens a platform and " + chosen.getFirst() + " reads a file; give one of them");
        }
        if (uri != null) {
            return ofPlatform();
        }
        if (chosen.isEmpty()) {
            List<String> options = new ArrayList<>(List.of("--on"));
            readers.forEach(reader -> reader.inputs().forEach(input -> options.add(input.option())));
            throw AcceleratorException.invalid(
                    "topo",
                    "say what to show, by " + String.join(", ", options.subList(0, options.size() - 1))
                            + (options.size() > 1 ? " or " : "") + options.getLast());
        }
        DescribedMachine machine = null;
        for (int i = 0; i < readers.size(); i++) {
            if (!given.get(i).isEmpty()) {
                if (machine != null) {
                    throw AcceleratorException.invalid(
                            "topo", String.join(", ", chosen) + " describe machines of different vendors; give one's");
                }
                machine = readers.get(i).reader().read(given.get(i));
            }
        }
        draw(machine);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            Json.print(out, DescribedMachinePrinter.json(machine));
        } else if (!isDotPrinted()) {
            DescribedMachinePrinter.print(machine, out);
        }
        return machine.hasProblem() ? ExitCode.BAD_ANSWER : ExitCode.GOOD;
    }

    private int ofPlatform() {
        try (WeftRuntime runtime = WeftRuntime.start(weft.settings());
                Platform platform = runtime.open(uri)) {
            Topology topology = platform.topology();
            if (svg != null || dot != null) {
                draw(MachineDrawing.describe(platform));
            }
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                Json.print(out, json(platform));
            } else if (!isDotPrinted()) {
                print(platform, topology, out);
            }
        }
        return ExitCode.GOOD;
    }

    private boolean isDotPrinted() {
        return dot != null && dot.toString().equals("-");
    }

    private void draw(DescribedMachine machine) {
        if (isDotPrinted()) {
            if (!json) {
                spec.commandLine().getOut().print(MachineDrawing.dot(machine));
            }
        } else if (dot != null) {
            OutputFile.write(dot, MachineDrawing.dot(machine));
        }
        if (svg != null) {
            OutputFile.write(svg, MachineDrawing.svg(machine));
        }
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
        if (topology.devices() > PathSummary.MOST_IN_A_MATRIX) {
            summary(topology, out);
            return;
        }
        matrix(
                "GB/s one way, from row to column",
                topology,
                out,
                link -> String.format(Locale.ROOT, "%.1f", link.bandwidth()));
        matrix("kind x width, hops", topology, out, link -> link.name() + " x" + link.width() + ", " + link.hops());
        platform.extension(ChoiceTables.class)
                .ifPresent(choices -> ChoiceTablePrinter.print(choices.copies(), "", out));
    }

    private static void summary(Topology topology, PrintWriter out) {
        PathSummary summary = new PathSummary();
        for (int from = 0; from < topology.devices(); from++) {
            for (int to = 0; to < topology.devices(); to++) {
                Link link = topology.link(from, to);
                if (from != to && link.kind() != LinkKind.NONE) {
                    summary.add(
                            from,
                            to,
                            link.name() + " x" + link.width() + ", " + link.hops(),
                            String.format(Locale.ROOT, "%.1f", link.bandwidth()));
                }
            }
        }
        summary.print(topology.devices(), out);
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
        platform.extension(ChoiceTables.class)
                .ifPresent(choices -> root.put("choices", ChoiceTablePrinter.json(choices.copies())));
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
