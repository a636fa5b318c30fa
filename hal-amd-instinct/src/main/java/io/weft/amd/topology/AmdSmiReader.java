// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.amd.topology.SourceGraph.GpuClaim;
import io.weft.amd.topology.SourceGraph.PairClaim;
import io.weft.api.Finding;
import io.weft.spi.input.PciAddress;
import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiPredicate;
import tools.jackson.databind.JsonNode;

/**
 * Reads what {@code amd-smi topology} prints: tables; the older JSON, in which each GPU has a map for each table keyed {@code gpu_0}; and the newer one, in which each GPU has a list
 * of links. Options of the tool leave tables or keys out.
 */
final class AmdSmiReader {
    static final String ACCEPTED = "the output of amd-smi topology, as tables or with --json";

    /** A table or a key, and what its cells say. */
    private record Column(String key, BiPredicate<PairClaim, String> meaning) {}

    /** In this order: which GPU comes first, and which value is told as unreadable, must not differ from run to run. */
    private static final List<Column> OLD = List.of(
            new Column("link_accessibility", SmiCells::access),
            new Column("weight", SmiCells::weight),
            new Column("hops", SmiCells::hops),
            new Column("link_type", SmiCells::linkType),
            new Column("numa_bandwidth", SmiCells::bandwidth));

    private static final List<Column> NEW = List.of(
            new Column("link_status", SmiCells::access),
            new Column("weight", SmiCells::weight),
            new Column("num_hops", SmiCells::hops),
            new Column("link_type", SmiCells::linkType),
            new Column("bandwidth", SmiCells::bandwidth));

    private final SourceGraph graph;
    private final Path file;
    private final Map<Integer, Integer> byNumber = new HashMap<>();
    private int unreadable;
    private String example = "";

    private AmdSmiReader(Path file) {
        this.file = file;
        graph = new SourceGraph(SourceKind.AMD_SMI, file.toString());
    }

    static SourceGraph read(Path file) {
        String text = InputText.read(file, ACCEPTED);
        AmdSmiReader reader = new AmdSmiReader(file);
        JsonNode json = Json.first(text, file, "\"gpu\"");
        boolean any = json != null ? reader.json(json) : new SmiTables(reader.graph, file).read(MatrixTable.all(text));
        if (!any || reader.graph.gpus.isEmpty()) {
            String otherwise = InputText.otherwise(text);
            throw ToolText.refused(
                    file,
                    "no table of GPUs is in it" + (otherwise.isEmpty() ? "" : "; " + otherwise) + "; it begins '"
                            + ToolText.begins(text) + "'; accepted is " + ACCEPTED);
        }
        return reader.graph;
    }

    private boolean json(JsonNode json) {
        List<JsonNode> gpus = new ArrayList<>();
        gpus(json, gpus, 0);
        if (gpus.isEmpty()) {
            return false;
        }
        // All GPUs first: links name later ones.
        for (JsonNode gpu : gpus) {
            place(gpu);
        }
        boolean any = false;
        for (JsonNode gpu : gpus) {
            int from = place(gpu);
            JsonNode links = gpu.get("links");
            if (links != null && links.isArray()) {
                any = true;
                for (JsonNode link : links) {
                    if (link.isObject()) {
                        int to = place(link);
                        NEW.forEach(column -> cell(from, to, column.key(), link.get(column.key()), column.meaning()));
                    }
                }
            }
            for (Column table : OLD) {
                JsonNode row = gpu.get(table.key());
                if (row != null && row.isObject()) {
                    any = true;
                    for (var cell : row.properties()) {
                        int to = byKey(cell.getKey());
                        if (to >= 0) {
                            cell(from, to, table.key(), cell.getValue(), table.meaning());
                        }
                    }
                }
            }
        }
        if (unreadable > 0) {
            graph.note(
                    Finding.Severity.WARNING,
                    "topology-table",
                    unreadable + " values cannot be read and are left out, such as " + example);
        }
        return any;
    }

    /** Objects that are GPUs, whatever wraps them. */
    private static void gpus(JsonNode node, List<JsonNode> found, int depth) {
        if (node.isObject() && node.has("gpu") && !node.get("gpu").isContainer()) {
            found.add(node);
        } else if (depth < 4 && node.isContainer()) {
            for (JsonNode child : node) {
                gpus(child, found, depth + 1);
            }
        }
    }

    private void cell(int from, int to, String key, JsonNode value, BiPredicate<PairClaim, String> meaning) {
        if (from == to || value == null) {
            return;
        }
        String text =
                value.isContainer() ? value.toString() : value.asString("").strip();
        if (!meaning.test(graph.pair(from, to), text)) {
            unreadable++;
            example = key + " '" + text + "' from GPU " + graph.gpus.get(from).index + " to GPU "
                    + graph.gpus.get(to).index;
        }
    }

    private int byKey(String key) {
        if (key.matches("gpu_\\d{1,5}")) {
            return number(Integer.parseInt(key.substring(4)), null);
        }
        Optional<PciAddress> address = PciAddress.parse(key);
        return address.isPresent() ? number(-1, address.get()) : -1;
    }

    private int place(JsonNode gpu) {
        JsonNode bdf = gpu.get("bdf");
        Optional<PciAddress> address = bdf == null ? Optional.empty() : PciAddress.parse(bdf.asString(""));
        if (bdf != null && address.isEmpty() && !SmiCells.isSilent(bdf.asString(""))) {
            throw ToolText.refused(file, "bdf '" + bdf.asString("") + "' is no PCI address such as 0000:0c:00.0");
        }
        JsonNode number = gpu.get("gpu");
        OptionalLong index = number == null ? OptionalLong.empty() : SmiCells.number(number.asString(""));
        if (index.isPresent() && index.getAsLong() >= 100_000) {
            throw ToolText.refused(file, "gpu " + index.getAsLong() + " is no number of a GPU");
        }
        if (index.isEmpty() && address.isEmpty()) {
            throw ToolText.refused(file, "a GPU has neither a number nor a bdf: " + shortened(gpu));
        }
        return number(index.isPresent() ? (int) index.getAsLong() : -1, address.orElse(null));
    }

    private static String shortened(JsonNode node) {
        String text = node.toString();
        return text.length() <= 80 ? text : text.substring(0, 80) + "...";
    }

    private int number(int index, PciAddress address) {
        if (index >= 0 && byNumber.containsKey(index)) {
            GpuClaim known = graph.gpus.get(byNumber.get(index));
            if (address != null && known.address != null && !address.equals(known.address)) {
                throw ToolText.refused(
                        file, "gpu " + index + " is " + known.address + " in one place and " + address + " in another");
            }
            known.address = known.address == null ? address : known.address;
            return byNumber.get(index);
        }
        if (address != null) {
            for (int i = 0; i < graph.gpus.size(); i++) {
                if (address.equals(graph.gpus.get(i).address)) {
                    return i;
                }
            }
        }
        if (graph.gpus.size() == MatrixTable.MOST_GPUS) {
            throw SmiTables.tooMany(file);
        }
        GpuClaim gpu = new GpuClaim();
        gpu.index = index >= 0 ? index : graph.gpus.size();
        gpu.address = address;
        graph.gpus.add(gpu);
        byNumber.put(gpu.index, graph.gpus.size() - 1);
        return graph.gpus.size() - 1;
    }
}
