// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * The lines of a CSV file, plain or gzip, by columns. Whatever a file does (no line break at its end, one of three kinds of line break, a byte order mark, blank
 * lines, blanks and quotes around cells), a row is a row; whatever is no text ends in one sentence with the place.
 */
final class TraceText {
    private static final int MOST_LINE = 4096;
    private static final char MARK = '\uFEFF';

    private final String place;
    private BufferedReader text;
    private long line;
    private boolean skipFeed;
    private Map<String, Integer> columns = Map.of();
    private String[] cells = {};
    private int width;

    TraceText(String place) {
        this.place = place;
    }

    /** The line of the last row, from 1. */
    long line() {
        return line;
    }

    void open(InputStream raw) throws IOException {
        BufferedInputStream buffered = new BufferedInputStream(raw, 1 << 16);
        buffered.mark(2);
        boolean gzip = buffered.read() == 0x1f && buffered.read() == 0x8b;
        buffered.reset();
        InputStream bytes = gzip ? new GZIPInputStream(buffered, 1 << 16) : buffered;
        text = new BufferedReader(new InputStreamReader(
                bytes,
                StandardCharsets.UTF_8
                        .newDecoder()
                        .onMalformedInput(CodingErrorAction.REPORT)
                        .onUnmappableCharacter(CodingErrorAction.REPORT)));
    }

    /** The first line that is not blank, null when there is none. */
    String first() throws IOException {
        String first = nextLine();
        if (first != null && !first.isEmpty() && first.charAt(0) == MARK) {
            first = first.substring(1);
        }
        while (first != null && first.isBlank()) {
            first = nextLine();
        }
        return first;
    }

    /** Names of columns as they are compared: lower case, without blanks and quotes. */
    static List<String> names(String header) {
        List<String> names = new ArrayList<>();
        for (String cell : header.split(",", -1)) {
            names.add(plain(cell).toLowerCase(Locale.ROOT));
        }
        return names;
    }

    /** Says which cells have which names from now on. */
    void columns(List<String> names) {
        Map<String, Integer> found = new HashMap<>();
        for (int i = 0; i < names.size(); i++) {
            if (!names.get(i).isEmpty() && found.put(names.get(i), i) != null) {
                throw fault("column '" + shorten(names.get(i)) + "' is there twice");
            }
        }
        columns = found;
        width = names.size();
    }

    /** Goes to the next row that is not blank; false at the end. */
    boolean next() throws IOException {
        String read = nextLine();
        while (read != null && read.isBlank()) {
            read = nextLine();
        }
        if (read == null) {
            return false;
        }
        cells = read.split(",", -1);
        if (cells.length != width) {
            throw fault("expected " + width + " columns, found " + cells.length + ": '" + shorten(read) + "'");
        }
        return true;
    }

    boolean has(String column) {
        return columns.containsKey(column);
    }

    /** The cell of this row. */
    String cell(String column) {
        return plain(cells[columns.get(column)]);
    }

    /** The cell, or another text where there is no such column. */
    String cell(String column, String otherwise) {
        return has(column) ? cell(column) : otherwise;
    }

    /** A whole number, also as {@code 12.0}. */
    long number(String column, long least, long most) {
        return number(column, 1, least, most);
    }

    /** A number of larger units, with decimals or without, in whole smaller ones. */
    long number(String column, int unit, long least, long most) {
        String written = cell(column);
        BigDecimal value;
        try {
            value = written.length() > 40 ? null : new BigDecimal(written);
        } catch (NumberFormatException wrong) {
            value = null;
        }
        if (value == null || Math.abs((long) value.scale()) > 40) {
            throw fault(column + " '" + shorten(written) + "' is not a number");
        }
        if (unit == 1 && value.stripTrailingZeros().scale() > 0) {
            throw fault(column + " '" + shorten(written) + "' is not a whole number");
        }
        BigDecimal smaller = value.multiply(BigDecimal.valueOf(unit));
        if (smaller.compareTo(BigDecimal.valueOf(least)) < 0 || smaller.compareTo(BigDecimal.valueOf(most)) > 0) {
            throw fault(column + " " + shorten(written) + " is not in " + least / unit + ".." + most / unit);
        }
        return smaller.longValue();
    }

    private static String plain(String cell) {
        String plain = cell.strip();
        boolean quoted = plain.length() >= 2 && plain.startsWith("\"") && plain.endsWith("\"");
        return quoted ? plain.substring(1, plain.length() - 1).strip() : plain;
    }

    /** Reads one line without trusting the file to have any. */
    private String nextLine() throws IOException {
        StringBuilder read = null;
        line++;
        while (true) {
            int next = text.read();
            if (next == '\n' && skipFeed) {
                skipFeed = false;
                continue;
            }
            skipFeed = false;
            if (next < 0) {
                return read == null ? null : read.toString();
            }
            read = read == null ? new StringBuilder(48) : read;
            if (next == '\n' || next == '\r') {
                skipFeed = next == '\r';
                return read.toString();
            }
            if (next == 0) {
                throw fault("this is no text; a trace is CSV, plain or gzip");
            }
            read.append((char) next);
            if (read.length() > MOST_LINE) {
                throw fault("the line is longer than " + MOST_LINE + " characters");
            }
        }
    }

    AcceleratorException fault(String what) {
        return new AcceleratorException(
                ErrorCode.BAD_DOCUMENT, "read trace", place + ":" + Math.max(1, line) + ": " + what);
    }

    /** What reading threw, in words. */
    AcceleratorException fault(IOException failure) {
        return switch (failure) {
            case EOFException _, ZipException _ -> fault("the gzip data are cut off or damaged here");
            case CharacterCodingException _ -> fault("this is no text; a trace is CSV, plain or gzip");
            default -> fault("cannot be read: " + failure.getMessage());
        };
    }

    static String shorten(String text) {
        String clean = text.replaceAll("[^\\x20-\\x7e]", "?");
        return clean.length() <= 60 ? clean : clean.substring(0, 57) + "...";
    }
}
