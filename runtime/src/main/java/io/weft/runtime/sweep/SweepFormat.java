// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.sweep;

import io.weft.api.AcceleratorException;
import io.weft.runtime.json.JsonReader;
import io.weft.runtime.json.JsonValue;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** How rows stand in a file: one line each, so that a file that was cut off is good up to its last whole line. */
enum SweepFormat {
    /** A header and rows with quotes where needed (RFC 4180). */
    CSV {
        @Override
        String opening() {
            return String.join(",", SweepRow.COLUMNS);
        }

        @Override
        String line(SweepRow row) {
            StringBuilder line = new StringBuilder();
            for (String cell : row.cells()) {
                line.append(line.isEmpty() ? "" : ",").append(quoted(cell));
            }
            return line.toString();
        }

        @Override
        SweepRow row(String subject, String place, String line) {
            List<String> cells = new ArrayList<>();
            StringBuilder cell = new StringBuilder();
            boolean inside = false;
            for (int i = 0; i < line.length(); i++) {
                char c = line.charAt(i);
                if (c == '"' && inside && i + 1 < line.length() && line.charAt(i + 1) == '"') {
                    cell.append('"');
                    i++;
                } else if (c == '"') {
                    inside = !inside;
                } else if (c == ',' && !inside) {
                    cells.add(cell.toString());
                    cell.setLength(0);
                } else {
                    cell.append(c);
                }
            }
            cells.add(cell.toString());
            return inside || cells.size() != SweepRow.COLUMNS.size() ? null : new SweepRow(cells);
        }

        @Override
        String whole(List<SweepRow> rows) {
            StringBuilder text = new StringBuilder(opening()).append('\n');
            rows.forEach(row -> text.append(line(row)).append('\n'));
            return text.toString();
        }
    },
    /** One document whose rows have a line each; it is closed when the sweep is complete. */
    JSON {
        @Override
        String opening() {
            return "{\"sweep\": 1, \"rows\": [";
        }

        @Override
        String line(SweepRow row) {
            return object(row) + ",";
        }

        @Override
        SweepRow row(String subject, String place, String line) {
            String text = line.strip();
            if (text.equals("]}")) {
                return END;
            }
            text = text.endsWith(",") ? text.substring(0, text.length() - 1) : text;
            JsonValue value;
            try {
                value = JsonReader.parse(subject, place, text);
            } catch (AcceleratorException broken) {
                return null;
            }
            List<String> cells = new ArrayList<>();
            if (value instanceof JsonValue.ObjectValue object
                    && object.members().keySet().equals(Set.copyOf(SweepRow.COLUMNS))) {
                for (JsonValue cell : object.members().values()) {
                    switch (cell) {
                        case JsonValue.StringValue string -> cells.add(string.text());
                        case JsonValue.NumberValue number -> cells.add(number.text());
                        case JsonValue.NullValue ignored -> cells.add("");
                        default -> {
                            return null;
                        }
                    }
                }
            }
            return cells.size() == SweepRow.COLUMNS.size() ? new SweepRow(cells) : null;
        }

        @Override
        String whole(List<SweepRow> rows) {
            StringBuilder text = new StringBuilder(opening());
            for (int i = 0; i < rows.size(); i++) {
                text.append(i == 0 ? "\n" : ",\n").append(object(rows.get(i)));
            }
            return text.append("\n]}\n").toString();
        }
    };

    /** Stands for the line that closes a document. */
    static final SweepRow END = new SweepRow(SweepRow.COLUMNS);

    /** The first line. */
    abstract String opening();

    /** A row's line, without a line break. */
    abstract String line(SweepRow row);

    /** The row of a line, {@link #END}, or null when the line is none. */
    abstract SweepRow row(String subject, String place, String line);

    /** The whole file of a sweep that is complete. */
    abstract String whole(List<SweepRow> rows);

    /**
     * The format that a file's name tells.
     *
     * @throws AcceleratorException INVALID_ARGUMENT with the names that are accepted
     */
    static SweepFormat of(Path file) {
        String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
        if (name.endsWith(".csv")) {
            return CSV;
        }
        if (name.endsWith(".json")) {
            return JSON;
        }
        throw AcceleratorException.invalid(
                "sweep", "the format of " + file + " is not known; accepted are names that end in .csv or .json");
    }

    private static String quoted(String cell) {
        boolean plain = cell.chars().noneMatch(c -> c == ',' || c == '"');
        return plain ? cell : '"' + cell.replace("\"", "\"\"") + '"';
    }

    private static String object(SweepRow row) {
        StringBuilder text = new StringBuilder("{");
        for (int i = 0; i < SweepRow.COLUMNS.size(); i++) {
            String column = SweepRow.COLUMNS.get(i);
            String cell = row.cells().get(i);
            text.append(i == 0 ? "\"" : ", \"").append(column).append("\": ");
            if (cell.isEmpty()) {
                text.append("null");
            } else if (SweepRow.isNumber(column)) {
                text.append(cell);
            } else {
                escape(text, cell);
            }
        }
        return text.append('}').toString();
    }

    private static void escape(StringBuilder text, String cell) {
        text.append('"');
        for (int i = 0; i < cell.length(); i++) {
            char c = cell.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                text.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}
