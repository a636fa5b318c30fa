// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** A plain text table whose columns are as wide as their content. */
final class TextTable {
    private final List<String> header;
    private final boolean[] right;
    private final List<List<String>> rows = new ArrayList<>();

    /** Columns whose header starts with {@code >} are aligned to the right. */
    TextTable(String... columns) {
        right = new boolean[columns.length];
        List<String> names = new ArrayList<>();
        for (int i = 0; i < columns.length; i++) {
            right[i] = columns[i].startsWith(">");
            names.add(right[i] ? columns[i].substring(1) : columns[i]);
        }
        header = List.copyOf(names);
    }

    void row(String... cells) {
        if (cells.length != header.size()) {
            throw new IllegalArgumentException(cells.length + " cells for " + header.size() + " columns");
        }
        rows.add(List.of(cells));
    }

    void print(PrintWriter out) {
        int[] widths = new int[header.size()];
        measure(header, widths);
        rows.forEach(row -> measure(row, widths));
        line(out, header, widths);
        rows.forEach(row -> line(out, row, widths));
    }

    private static void measure(List<String> cells, int[] widths) {
        for (int i = 0; i < widths.length; i++) {
            widths[i] = Math.max(widths[i], cells.get(i).length());
        }
    }

    private void line(PrintWriter out, List<String> cells, int[] widths) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String padding = " ".repeat(widths[i] - cells.get(i).length());
            text.append(i == 0 ? "" : "  ");
            text.append(right[i] ? padding + cells.get(i) : cells.get(i) + padding);
        }
        out.println(text.toString().stripTrailing());
    }
}
