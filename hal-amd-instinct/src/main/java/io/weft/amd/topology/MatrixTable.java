// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A table of the SMI tools: a title, a header of GPUs, and a row for each GPU. Titles stand between equals signs ({@code rocm-smi}) or end in {@code TABLE:} ({@code amd-smi}). Lines
 * that are none of these, such as warnings, are passed over; a table may go on in a second block of columns; bars of a Markdown table count as blanks.
 */
final class MatrixTable {
    /** More GPUs than any node has; a table beyond it is no table of these tools. */
    static final int MOST_GPUS = 1024;

    private static final Pattern LABEL =
            Pattern.compile("GPU\\[?\\d{1,5}\\]?|(?:[0-9a-fA-F]{1,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\\.[0-7])?");
    private static final Pattern RULED = Pattern.compile("={3,}\\s*([^=]+?)\\s*={3,}");
    private static final Pattern NAMED = Pattern.compile("([A-Z0-9][A-Z0-9 /-]*) TABLE:?");
    private static final Pattern DECORATION = Pattern.compile("[|*`]");

    final String title;
    final int line;
    /** By row label, then column label. */
    final Map<String, Map<String, String>> cells = new LinkedHashMap<>();
    /** Lines whose cells fit no header, with their line numbers. */
    final List<String> odd = new ArrayList<>();

    final List<String> columns = new ArrayList<>();

    private MatrixTable(String title, int line) {
        this.title = title;
        this.line = line;
    }

    /** Every table of a text, in order. */
    static List<MatrixTable> all(String text) {
        List<MatrixTable> tables = new ArrayList<>();
        MatrixTable table = null;
        String header = null;
        int number = 0;
        for (String raw : text.split("\n", -1)) {
            number++;
            String line = DECORATION.matcher(raw.replace('\t', ' ')).replaceAll(" ");
            String title = title(line.strip());
            if (title != null) {
                table = new MatrixTable(title, number);
                tables.add(table);
                header = null;
                continue;
            }
            String[] words = line.isBlank() ? new String[0] : line.strip().split(" +", -1);
            if (table == null || words.length == 0 || !LABEL.matcher(words[0]).matches()) {
                continue;
            }
            if (isHeader(words, header)) {
                header = line;
                for (String word : words) {
                    if (!table.columns.contains(word)) {
                        table.columns.add(word);
                    }
                }
                continue;
            }
            if (header != null) {
                table.row(number, line, words, header);
            }
        }
        return tables;
    }

    private static String title(String line) {
        var ruled = RULED.matcher(line);
        if (ruled.matches()) {
            return ruled.group(1).toLowerCase(Locale.ROOT);
        }
        var named = NAMED.matcher(line);
        if (named.matches()) {
            return named.group(1).toLowerCase(Locale.ROOT) + " table";
        }
        // A Markdown heading, or a title whose rules were lost on the way.
        String plain = line.replaceAll("^[#=\\s-]+|[:=\\s-]+$", "").toLowerCase(Locale.ROOT);
        return plain.endsWith("between two gpus") && plain.length() < 60 ? plain : null;
    }

    /** A header is labels alone. With one GPU a row is a label and a cell, which no label can be. */
    private static boolean isHeader(String[] words, String header) {
        for (String word : words) {
            if (!LABEL.matcher(word).matches()) {
                return false;
            }
        }
        return words.length > 1 || header == null;
    }

    private void row(int number, String line, String[] words, String header) {
        String[] names = header.strip().split(" +", -1);
        Map<String, String> row = cells.computeIfAbsent(words[0], label -> new LinkedHashMap<>());
        if (words.length == names.length + 1) {
            for (int i = 0; i < names.length; i++) {
                row.put(names[i], words[i + 1]);
            }
            return;
        }
        // Cells with blanks in them, or missing: by the columns' places, if the row keeps to them.
        int from = header.indexOf(names[0]);
        boolean fits = line.length() > from && from >= line.indexOf(words[0]) + words[0].length();
        Map<String, String> byPlace = new LinkedHashMap<>();
        int place = from;
        for (int i = 0; fits && i < names.length; i++) {
            int next = i + 1 < names.length ? header.indexOf(names[i + 1], place + names[i].length()) : line.length();
            if (place < line.length()) {
                // A cell that runs into the next column has no blank before that one.
                fits = next >= line.length() || line.charAt(next - 1) == ' ';
                String cell = line.substring(place, Math.max(place, Math.min(next, line.length())))
                        .strip();
                if (!cell.isEmpty()) {
                    byPlace.put(names[i], cell);
                }
            }
            place = next;
        }
        if (fits) {
            row.putAll(byPlace);
        } else {
            odd.add("line " + number + " has " + (words.length - 1) + " cells for " + names.length + " columns");
        }
    }

    /** Whether there is a row of GPUs at all. */
    boolean isEmpty() {
        return cells.isEmpty();
    }
}
