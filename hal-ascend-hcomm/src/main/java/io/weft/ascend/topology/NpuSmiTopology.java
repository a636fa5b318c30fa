// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The table of {@code npu-smi info -t topo}: a header and a row for each device, labelled {@code NPU0} or {@code Phy-ID0}, with the processors near it at the end of a row on some hosts and network cards on newer versions. Read by white space and
 * never by column: real tables differ in padding.
 *
 * @param devices their numbers, in the order of the header
 * @param links by device, then by device
 * @param affinity processors near a device, such as {@code 0-63,128-191}; empty when not stated
 */
public record NpuSmiTopology(
        List<Integer> devices, Map<Integer, Map<Integer, LinkClass>> links, Map<Integer, String> affinity) {
    static final String ACCEPTED = "the output of npu-smi info -t topo, or of npu-smi info";

    /** What npu-smi prints for devices that it knows no topology of; seen on 310P and older hosts. */
    static final String UNSUPPORTED = "does not support querying topo";

    private static final Pattern LABEL = Pattern.compile("(?:NPU|Phy-ID)\\[?(\\d{1,5})\\]?", Pattern.CASE_INSENSITIVE);
    private static final Pattern PROCESSORS = Pattern.compile("\\d{1,5}(-\\d{1,5})?(,\\d{1,5}(-\\d{1,5})?)*");
    private static final int MOST_DEVICES = 1024;

    public NpuSmiTopology {
        devices = List.copyOf(devices);
    }

    /** Whether a text is such a table, or the sentence in its place. */
    static boolean is(String text) {
        return text.contains(UNSUPPORTED) || header(text) >= 0;
    }

    private static int header(String text) {
        int number = 0;
        for (String line : text.split("\n", -1)) {
            if (isHeader(words(line))) {
                return number;
            }
            number++;
        }
        return -1;
    }

    /** A header begins with two labels, or is one label with words of columns that are no devices. */
    private static boolean isHeader(String[] words) {
        if (words.length == 0 || !LABEL.matcher(words[0]).matches()) {
            return false;
        }
        if (words.length == 1 || LABEL.matcher(words[1]).matches()) {
            return true;
        }
        return LinkClass.ofWord(words[1]).isEmpty();
    }

    private static String[] words(String line) {
        String stripped = line.replace('|', ' ').strip();
        return stripped.isEmpty() ? new String[0] : stripped.split("\\s+", -1);
    }

    /** Reads a table. */
    static NpuSmiTopology read(Path file, String text) {
        if (text.contains(UNSUPPORTED)) {
            throw ToolText.refused(
                    file,
                    "npu-smi says '" + ToolText.begins(text) + "': it knows no topology of this device; give a rank "
                            + "table instead (--rank-table)");
        }
        String[] lines = text.split("\n", -1);
        int header = header(text);
        if (header < 0) {
            throw ToolText.refused(
                    file,
                    "no table of NPUs is in it; it begins '" + ToolText.begins(text) + "'; accepted is " + ACCEPTED);
        }
        List<Integer> columns = new ArrayList<>();
        int cards = 0;
        for (String word : words(lines[header])) {
            Matcher label = LABEL.matcher(word);
            if (label.matches() && cards == 0) {
                columns.add(Integer.parseInt(label.group(1)));
            } else if (!word.equalsIgnoreCase("CPU") && !word.equalsIgnoreCase("Affinity")) {
                cards++;
            }
        }
        if (columns.size() > MOST_DEVICES) {
            throw ToolText.refused(file, "names more than " + MOST_DEVICES + " NPUs, which no server has");
        }
        Map<Integer, Map<Integer, LinkClass>> links = new TreeMap<>();
        Map<Integer, String> affinity = new TreeMap<>();
        for (int i = header + 1; i < lines.length; i++) {
            String[] words = words(lines[i]);
            if (words.length > 0 && words[0].toLowerCase(Locale.ROOT).startsWith("legend")) {
                break;
            }
            if (words.length > 0) {
                Matcher label = LABEL.matcher(words[0]);
                if (label.matches()) {
                    row(file, i + 1, Integer.parseInt(label.group(1)), words, columns, links, affinity);
                }
            }
        }
        for (int device : columns) {
            if (!links.containsKey(device)) {
                throw ToolText.refused(
                        file,
                        "line " + (header + 1) + " names NPU " + device
                                + ", and no row is for it: the table is cut off");
            }
        }
        return new NpuSmiTopology(columns, links, affinity);
    }

    private static void row(
            Path file,
            int line,
            int device,
            String[] words,
            List<Integer> columns,
            Map<Integer, Map<Integer, LinkClass>> links,
            Map<Integer, String> affinity) {
        if (!columns.contains(device)) {
            throw ToolText.refused(file, "line " + line + ": NPU " + device + " is not in the header");
        }
        if (words.length - 1 < columns.size()) {
            throw ToolText.refused(
                    file, "line " + line + " has " + (words.length - 1) + " cells for " + columns.size() + " NPUs");
        }
        Map<Integer, LinkClass> row = new TreeMap<>();
        for (int i = 0; i < columns.size(); i++) {
            String cell = words[i + 1];
            int to = columns.get(i);
            LinkClass linkClass = LinkClass.ofWord(cell)
                    .orElseThrow(() -> ToolText.refused(
                            file,
                            "line " + line + ": '" + cell + "' for NPU " + to
                                    + " is no link; accepted are X, SYS, PHB, HCCS, PXB, PIX, SIO, HCCS_SW, UB, NA"));
            if ((linkClass == LinkClass.SELF) != (device == to)) {
                throw ToolText.refused(
                        file, "line " + line + ": '" + cell + "' stands between NPU " + device + " and NPU " + to);
            }
            row.put(to, linkClass);
        }
        if (links.put(device, row) != null) {
            throw ToolText.refused(file, "line " + line + ": NPU " + device + " has two rows");
        }
        String last = words[words.length - 1];
        if (words.length - 1 > columns.size() && PROCESSORS.matcher(last).matches()) {
            affinity.put(device, last);
        }
    }
}
