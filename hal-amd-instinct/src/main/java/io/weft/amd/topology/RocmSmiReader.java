// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.amd.topology.SourceGraph.GpuClaim;
import io.weft.amd.topology.SourceGraph.PairClaim;
import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * Reads what {@code rocm-smi} prints for {@code --showtopo}, {@code --showtopoweight}, {@code --showtopohops}, {@code --showtopotype}, {@code --showtoponuma}, {@code
 * --showtopoaccess} and {@code --shownodesbw}, together or apart, as tables or with {@code --json}. It knows GPUs by number only.
 */
final class RocmSmiReader {
    static final String ACCEPTED = "the output of rocm-smi --showtopo, --shownodesbw or --showtoponuma";

    private static final Pattern NUMA = Pattern.compile(
            "^\\W*(?:GPU\\[?|card)(\\d{1,5})\\]?[\\s:]*\\(Topology\\) Numa (Node|Affinity)\\s*:\\s*(-?\\d{1,9}|\\S.*)?$",
            Pattern.CASE_INSENSITIVE);
    private static final Pattern JSON_PAIR = Pattern.compile(
            "\\(Topology\\) (Weight|Hops|Link type|Bandwidth|Link accessibility) between DRM devices (\\d{1,5}) and (\\d{1,5})",
            Pattern.CASE_INSENSITIVE);

    private RocmSmiReader() {}

    static SourceGraph read(Path file) {
        String text = InputText.read(file, ACCEPTED);
        SourceGraph graph = new SourceGraph(SourceKind.ROCM_SMI, file.toString());
        SmiTables tables = new SmiTables(graph, file);
        JsonNode json = text.contains("\"") ? Json.first(text, file, "(Topology)") : null;
        boolean any = json != null ? json(graph, tables, json) : tables.read(MatrixTable.all(text));
        if (json == null) {
            for (String line : text.split("\n", -1)) {
                Matcher numa = NUMA.matcher(line.strip());
                if (numa.matches()) {
                    any = true;
                    numa(graph.gpus.get(tables.place("GPU" + numa.group(1))), numa.group(2), numa.group(3));
                }
            }
        }
        if (!any) {
            throw refused(file, text);
        }
        return graph;
    }

    /** Node is where the GPU hangs, affinity the processors that are near; they differ only where one of them is not known. */
    private static void numa(GpuClaim gpu, String what, String value) {
        boolean node = what.equalsIgnoreCase("node");
        if (value != null && value.matches("\\d{1,9}") && (node || gpu.numa < 0)) {
            gpu.numa = Integer.parseInt(value);
        }
    }

    private static boolean json(SourceGraph graph, SmiTables tables, JsonNode json) {
        boolean any = false;
        for (var card : json.properties()) {
            for (var entry : card.getValue().properties()) {
                Matcher pair = JSON_PAIR.matcher(entry.getKey());
                String value = entry.getValue().asString("");
                if (pair.matches()) {
                    any = true;
                    int from = tables.place("GPU" + Integer.parseInt(pair.group(2)));
                    int to = tables.place("GPU" + Integer.parseInt(pair.group(3)));
                    if (from != to) {
                        pair(graph.pair(from, to), pair.group(1), value);
                        // Each pair is named once.
                        pair(graph.pair(to, from), pair.group(1), value);
                    }
                } else if (entry.getKey().startsWith("(Topology) Numa ")
                        && card.getKey().matches("card\\d{1,5}")) {
                    any = true;
                    int place =
                            tables.place("GPU" + Integer.parseInt(card.getKey().substring(4)));
                    numa(graph.gpus.get(place), entry.getKey().substring(16), value);
                }
            }
        }
        return any;
    }

    private static void pair(PairClaim pair, String what, String value) {
        switch (what.toLowerCase(java.util.Locale.ROOT)) {
            case "weight" -> SmiCells.weight(pair, value);
            case "hops" -> SmiCells.hops(pair, value);
            case "link type" -> SmiCells.linkType(pair, value);
            case "bandwidth" -> SmiCells.bandwidth(pair, value);
            default -> SmiCells.access(pair, value);
        }
    }

    private static RuntimeException refused(Path file, String text) {
        String otherwise = InputText.otherwise(text);
        if (text.contains("Driver not initialized") || text.contains("not found in modules")) {
            return ToolText.refused(
                    file, "rocm-smi found no driver when it wrote this ('" + ToolText.begins(text) + "')");
        }
        return ToolText.refused(
                file,
                "no table of GPUs is in it" + (otherwise.isEmpty() ? "" : "; " + otherwise) + "; it begins '"
                        + ToolText.begins(text) + "'; accepted is " + ACCEPTED);
    }
}
