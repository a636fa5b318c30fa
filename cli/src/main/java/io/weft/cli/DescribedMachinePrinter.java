// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.topology.DescribedDevice;
import io.weft.api.topology.DescribedMachine;
import io.weft.api.topology.DescribedNetworkCard;
import io.weft.api.topology.DescribedPath;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Prints a machine that files describe, as tables or as JSON. */
final class DescribedMachinePrinter {
    private DescribedMachinePrinter() {}

    static void print(DescribedMachine machine, PrintWriter out) {
        out.println(machine.title() + ": " + machine.devices().size() + " devices, figures: nominal, as read from "
                + String.join(", ", machine.sources()));
        TextTable devices = new TextTable(">device", "address", "name", "architecture", ">NUMA", "joined by", "facts");
        for (DescribedDevice device : machine.devices()) {
            devices.row(
                    Integer.toString(device.ordinal()),
                    orDash(device.address()),
                    orDash(device.name()),
                    orDash(device.architecture()),
                    device.numaNode() < 0 ? "-" : Integer.toString(device.numaNode()),
                    orDash(device.group()),
                    orDash(facts(device.facts())));
        }
        devices.print(out);
        out.println();
        if (machine.devices().size() > PathSummary.MOST_IN_A_MATRIX) {
            if (!machine.paths().isEmpty()) {
                PathSummary summary = new PathSummary();
                machine.paths()
                        .forEach(path -> summary.add(path.from(), path.to(), link(path), figure(path.bandwidth())));
                summary.print(machine.devices().size(), out);
            }
        } else {
            matrices(machine, out);
        }
        if (!machine.networkCards().isEmpty()) {
            TextTable cards = new TextTable("network card", "address", ">GB/s", ">NUMA", "nearest devices");
            for (DescribedNetworkCard card : machine.networkCards()) {
                cards.row(
                        card.name(),
                        orDash(card.address()),
                        figure(card.bandwidth()),
                        card.numaNode() < 0 ? "-" : Integer.toString(card.numaNode()),
                        card.nearest().isEmpty()
                                ? "-"
                                : card.nearest().stream().map(String::valueOf).collect(Collectors.joining(" ")));
            }
            cards.print(out);
            out.println();
        }
        if (!machine.findings().isEmpty()) {
            out.println(FindingPrinter.summary(machine.findings()));
            FindingPrinter.print(machine.findings(), out);
        }
    }

    private static void matrices(DescribedMachine machine, PrintWriter out) {
        DescribedPath[][] paths = matrix(machine);
        if (machine.paths().stream().anyMatch(path -> !Double.isNaN(path.bandwidth()))) {
            matrix("nominal GB/s one way, from row to column", paths, out, path -> figure(path.bandwidth()));
        }
        if (!machine.paths().isEmpty()) {
            matrix("link, hops", paths, out, DescribedMachinePrinter::link);
            out.println("x4: four parallel links; (2): no link of its own, two hops; ?: not known");
            out.println();
        }
    }

    private static String link(DescribedPath path) {
        String width = path.direct() && path.width() > 0 ? " x" + path.width() : "";
        String hops = path.direct() ? "" : path.hops() > 0 ? " (" + path.hops() + ")" : " (?)";
        return path.name() + width + hops;
    }

    private static void matrix(
            String title, DescribedPath[][] paths, PrintWriter out, Function<DescribedPath, String> cell) {
        List<String> header = new ArrayList<>(List.of(title));
        for (int to = 0; to < paths.length; to++) {
            header.add(">" + to);
        }
        TextTable table = new TextTable(header.toArray(String[]::new));
        for (int from = 0; from < paths.length; from++) {
            List<String> row = new ArrayList<>(List.of(Integer.toString(from)));
            for (int to = 0; to < paths.length; to++) {
                row.add(from == to ? "-" : paths[from][to] == null ? "?" : cell.apply(paths[from][to]));
            }
            table.row(row.toArray(String[]::new));
        }
        table.print(out);
        out.println();
    }

    private static DescribedPath[][] matrix(DescribedMachine machine) {
        int devices = machine.devices().size();
        DescribedPath[][] paths = new DescribedPath[devices][devices];
        machine.paths().forEach(path -> paths[path.from()][path.to()] = path);
        return paths;
    }

    private static String facts(Map<String, String> facts) {
        return facts.entrySet().stream()
                .map(fact -> fact.getKey() + " " + fact.getValue())
                .collect(Collectors.joining(", "));
    }

    private static String orDash(String text) {
        return text.isEmpty() ? "-" : Failures.oneLine(text);
    }

    private static String figure(double value) {
        return Double.isNaN(value) ? "?" : String.format(Locale.ROOT, "%.1f", value);
    }

    static Map<String, Object> json(DescribedMachine machine) {
        Map<String, Object> root = new LinkedHashMap<>();
        root.put("figures", "nominal");
        root.put("title", machine.title());
        root.put("sources", machine.sources());
        root.put(
                "devices",
                machine.devices().stream().map(DescribedMachinePrinter::json).toList());
        root.put(
                "paths",
                machine.paths().stream().map(DescribedMachinePrinter::json).toList());
        root.put(
                "networkCards",
                machine.networkCards().stream()
                        .map(DescribedMachinePrinter::json)
                        .toList());
        root.put(
                "findings",
                machine.findings().stream().map(FindingPrinter::json).toList());
        return root;
    }

    private static Map<String, Object> json(DescribedDevice device) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("device", device.ordinal());
        row.put("name", device.name());
        row.put("architecture", device.architecture());
        row.put("address", device.address());
        row.put("server", device.server());
        row.put("numaNode", device.numaNode());
        row.put("group", device.group());
        row.put("facts", device.facts());
        return row;
    }

    private static Map<String, Object> json(DescribedPath path) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("from", path.from());
        row.put("to", path.to());
        row.put("kind", path.kind().name());
        row.put("name", path.name());
        row.put("direct", path.direct());
        row.put("hops", path.hops() == 0 ? null : path.hops());
        row.put("width", path.width() == 0 ? null : path.width());
        row.put("nominalGBps", Double.isNaN(path.bandwidth()) ? null : path.bandwidth());
        row.put("via", path.via());
        row.put("facts", path.facts());
        return row;
    }

    private static Map<String, Object> json(DescribedNetworkCard card) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("name", card.name());
        row.put("address", card.address());
        row.put("server", card.server());
        row.put("numaNode", card.numaNode());
        row.put("nominalGBps", Double.isNaN(card.bandwidth()) ? null : card.bandwidth());
        row.put("nearest", card.nearest());
        return row;
    }
}
