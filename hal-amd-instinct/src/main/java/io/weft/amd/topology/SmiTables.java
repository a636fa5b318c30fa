// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.amd.topology.SourceGraph.GpuClaim;
import io.weft.amd.topology.SourceGraph.PairClaim;
import io.weft.api.AcceleratorException;
import io.weft.api.Finding;
import io.weft.spi.input.PciAddress;
import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Puts the tables of one SMI tool's output into a {@link SourceGraph}. */
final class SmiTables {
    private static final Pattern NUMBERED = Pattern.compile("GPU\\[?(\\d+)\\]?");

    private final SourceGraph graph;
    private final Path file;
    private final Map<String, Integer> places = new HashMap<>();

    SmiTables(SourceGraph graph, Path file) {
        this.graph = graph;
        this.file = file;
    }

    /** The GPU of a label, added when it is new. */
    int place(String label) {
        Matcher numbered = NUMBERED.matcher(label);
        String key = numbered.matches() ? "GPU" + numbered.group(1) : label;
        Integer known = places.get(key);
        if (known != null) {
            return known;
        }
        GpuClaim gpu = new GpuClaim();
        if (numbered.matches()) {
            gpu.index = Integer.parseInt(numbered.group(1));
        } else {
            Optional<PciAddress> address = PciAddress.parse(label);
            if (address.isEmpty()) {
                throw ToolText.refused(file, "'" + label + "' is no PCI address such as 0000:0c:00.0");
            }
            gpu.address = address.get();
            // Spelled in another way it is the same GPU.
            for (int i = 0; i < graph.gpus.size(); i++) {
                if (address.get().equals(graph.gpus.get(i).address)) {
                    places.put(key, i);
                    return i;
                }
            }
            gpu.index = graph.gpus.size();
        }
        return add(key, gpu);
    }

    private int add(String key, GpuClaim gpu) {
        if (graph.gpus.size() == MatrixTable.MOST_GPUS) {
            throw tooMany(file);
        }
        graph.gpus.add(gpu);
        places.put(key, graph.gpus.size() - 1);
        return graph.gpus.size() - 1;
    }

    static AcceleratorException tooMany(Path file) {
        return ToolText.refused(file, "names more than " + MatrixTable.MOST_GPUS + " GPUs");
    }

    /**
     * Reads the tables whose titles are known.
     *
     * @return whether there was one with a row in it
     */
    boolean read(List<MatrixTable> tables) {
        boolean any = false;
        for (MatrixTable table : tables) {
            BiPredicate<PairClaim, String> cell = meaning(table.title);
            // Only amd-smi calls its tables so; the tools' outputs are not to be taken for one another.
            boolean isAmdSmi = table.title.endsWith(" table");
            if (cell == null || isAmdSmi != (graph.kind == SourceKind.AMD_SMI)) {
                continue;
            }
            for (String odd : table.odd) {
                graph.note(
                        Finding.Severity.WARNING,
                        "topology-table",
                        odd + " in '" + table.title + "'; the row is left out");
            }
            if (table.isEmpty()) {
                graph.note(
                        Finding.Severity.WARNING,
                        "topology-table",
                        "the table '" + table.title + "' in line " + table.line + " has no row");
                continue;
            }
            any = true;
            table.columns.forEach(this::place);
            read(table, cell);
        }
        return any;
    }

    private void read(MatrixTable table, BiPredicate<PairClaim, String> meaning) {
        int unreadable = 0;
        String example = "";
        for (Map.Entry<String, Map<String, String>> row : table.cells.entrySet()) {
            int from = place(row.getKey());
            for (Map.Entry<String, String> cell : row.getValue().entrySet()) {
                int to = place(cell.getKey());
                if (from != to && !meaning.test(graph.pair(from, to), cell.getValue())) {
                    unreadable++;
                    example = "'" + cell.getValue() + "' from " + row.getKey() + " to " + cell.getKey();
                }
            }
        }
        if (unreadable > 0) {
            graph.note(
                    Finding.Severity.WARNING,
                    "topology-table",
                    unreadable + " cells of '" + table.title + "' cannot be read and are left out, such as " + example);
        }
        for (String column : table.columns) {
            if (!table.cells.containsKey(column)) {
                graph.note(
                        Finding.Severity.WARNING,
                        "topology-table",
                        "the table '" + table.title + "' has a column but no row for " + column);
            }
        }
    }

    private static BiPredicate<PairClaim, String> meaning(String title) {
        if (title.startsWith("weight")) {
            return SmiCells::weight;
        }
        if (title.startsWith("hops")) {
            return SmiCells::hops;
        }
        if (title.startsWith("link type")) {
            return SmiCells::linkType;
        }
        if (title.startsWith("bandwidth") || title.startsWith("numa bw") || title.startsWith("min-max bandwidth")) {
            return SmiCells::bandwidth;
        }
        if (title.startsWith("link accessib") || title.startsWith("access")) {
            return SmiCells::access;
        }
        return null;
    }
}
