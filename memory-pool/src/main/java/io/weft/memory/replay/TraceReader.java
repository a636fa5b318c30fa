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
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Reads traces, plain or gzip, and knows their format by the first line:
 *
 * <ul>
 *   <li>{@code op,id,bytes,stream,t_us}: a PyTorch memory timeline. {@code i} is live before the trace, {@code a} allocates, {@code f} frees; {@code I}, {@code
 *       S} and {@code s} are the recorded allocator's own segments and give its reserved bytes.
 *   <li>{@code op,id,bytes,dev,thread,t_us}: Kineto memory events; those of the first device that is not {@code cpu} are taken, or those of a device named.
 *   <li>{@code id,lower,upper,size}: a minimalloc problem; each block is allocated at {@code lower} and freed at {@code upper}, frees first.
 *   <li>{@code Thread,Time,Action,Pointer,Size,Stream}: an RMM log.
 *   <li>{@code weft-pool-recording,1}: our own; then lines {@code a,id,bytes,stream,ns}, {@code f,id,,stream,ns}, {@code u,id,,stream,ns} for a use on another
 *       stream and {@code n,,,,ns} at the end of an iteration.
 * </ul>
 *
 * <p>Whatever is wrong with a file is said in one sentence with file and line, as {@link ErrorCode#BAD_DOCUMENT}.
 */
public final class TraceReader {
    /** First line of our own recordings. */
    public static final String RECORDING_HEADER = "weft-pool-recording,1";

    private static final String TIMELINE = "op,id,bytes,stream,t_us";
    private static final String KINETO = "op,id,bytes,dev,thread,t_us";
    private static final String MINIMALLOC = "id,lower,upper,size";
    private static final String RMM = "Thread,Time,Action,Pointer,Size,Stream";
    /** More than any address range holds; guards sums against overflow. */
    private static final long MOST_BYTES = 1L << 46;

    private static final int MOST_LINE = 4096;

    private final String name;
    private final String device;
    private final Trace trace;
    private final Map<String, Integer> live = new HashMap<>();
    private final Map<String, Integer> freed = new HashMap<>();
    private final Map<String, Integer> streams = new HashMap<>();
    private final List<Long> sizes = new ArrayList<>();
    private long line;
    private String chosenDevice;
    private long reserved;
    private long reservedPeak;
    private boolean reservedKnown;
    private final Map<String, Long> segments = new HashMap<>();

    private TraceReader(String name, String device) {
        this.name = name;
        this.device = device;
        this.trace = new Trace(name);
    }

    /** Reads a trace. */
    public static Trace read(Path file) {
        return read(file, null);
    }

    /**
     * Reads a trace.
     *
     * @param device of a trace with several devices, the one to take; null for the first that is not {@code cpu}
     */
    public static Trace read(Path file, String device) {
        String name = String.valueOf(file.getFileName());
        if (Files.isDirectory(file)) {
            throw new AcceleratorException(ErrorCode.BAD_DOCUMENT, "read trace", file + " is a folder, not a trace");
        }
        try (InputStream in = Files.newInputStream(file)) {
            return read(in, name, device);
        } catch (NoSuchFileException missing) {
            throw new AcceleratorException(ErrorCode.NOT_FOUND, "read trace", file + " does not exist");
        } catch (IOException failure) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT, "read trace", file + " cannot be read: " + failure.getMessage(), failure);
        }
    }

    /** Reads a trace from a stream, which stays open. */
    public static Trace read(InputStream in, String name, String device) {
        TraceReader reader = new TraceReader(name, device);
        try {
            reader.parse(in);
        } catch (EOFException | ZipException broken) {
            throw reader.fault("the gzip data are cut off or damaged here");
        } catch (CharacterCodingException binary) {
            throw reader.fault("this is no text; a trace is CSV, plain or gzip");
        } catch (IOException | UncheckedIOException failure) {
            throw reader.fault("cannot be read: " + failure.getMessage());
        }
        return reader.trace;
    }

    private void parse(InputStream raw) throws IOException {
        BufferedInputStream buffered = new BufferedInputStream(raw, 1 << 16);
        buffered.mark(2);
        boolean gzip = buffered.read() == 0x1f && buffered.read() == 0x8b;
        buffered.reset();
        InputStream bytes = gzip ? new GZIPInputStream(buffered, 1 << 16) : buffered;
        BufferedReader text = new BufferedReader(new InputStreamReader(
                bytes,
                StandardCharsets.UTF_8
                        .newDecoder()
                        .onMalformedInput(CodingErrorAction.REPORT)
                        .onUnmappableCharacter(CodingErrorAction.REPORT)));
        line = 1;
        String header = nextLine(text);
        if (header == null) {
            throw fault("the file is empty; " + accepted());
        }
        switch (header.strip()) {
            case TIMELINE -> timeline(text);
            case KINETO -> kineto(text);
            case MINIMALLOC -> minimalloc(text);
            case RMM -> rmm(text);
            case RECORDING_HEADER -> recording(text);
            default -> throw fault("unknown first line '" + shorten(header) + "'; " + accepted());
        }
        if (trace.count() == 0) {
            throw fault("the trace has no events" + (device == null ? "" : " of device " + device));
        }
        if (reservedKnown) {
            trace.recordedReservedPeak(reservedPeak);
        }
    }

    private static String accepted() {
        return "accepted are '" + TIMELINE + "', '" + KINETO + "', '" + MINIMALLOC + "', '" + RMM + "' and '"
                + RECORDING_HEADER + "'";
    }

    /** Reads one line without trusting the file to have any. */
    private String nextLine(BufferedReader text) throws IOException {
        StringBuilder read = null;
        while (true) {
            int next = text.read();
            if (next < 0) {
                return read == null ? null : read.toString();
            }
            read = read == null ? new StringBuilder(48) : read;
            if (next == '\n') {
                return read.toString();
            }
            if (next == 0) {
                throw fault("this is no text; a trace is CSV, plain or gzip");
            }
            if (next != '\r') {
                read.append((char) next);
            }
            if (read.length() > MOST_LINE) {
                throw fault("the line is longer than " + MOST_LINE + " characters");
            }
        }
    }

    private String[] row(BufferedReader text, int columns) throws IOException {
        while (true) {
            line++;
            String read = nextLine(text);
            if (read == null) {
                return null;
            }
            if (read.isBlank()) {
                continue;
            }
            String[] fields = read.split(",", -1);
            if (fields.length != columns) {
                throw fault("expected " + columns + " columns, found " + fields.length + ": '" + shorten(read) + "'");
            }
            return fields;
        }
    }

    private void timeline(BufferedReader text) throws IOException {
        for (String[] row = row(text, 5); row != null; row = row(text, 5)) {
            long time = 1000 * number("t_us", row[4], 0, Long.MAX_VALUE / 1000);
            switch (row[0]) {
                case "i" -> {
                    allocate(row[1], row[2], row[3], time);
                    trace.liveBefore();
                }
                case "a" -> allocate(row[1], row[2], row[3], time);
                case "f" -> free(row[1], row[2], row[3], time);
                case "I", "S" -> segment(row[1], number("bytes", row[2], 1, MOST_BYTES));
                case "s" -> {
                    Long bytes = segments.remove(row[1]);
                    if (bytes == null) {
                        throw fault("segment " + shorten(row[1]) + " is returned, but it was not obtained before");
                    }
                    reserved -= bytes;
                }
                default -> throw fault("unknown op '" + shorten(row[0]) + "'; accepted are I, i, a, f, S and s");
            }
        }
    }

    private void segment(String id, long bytes) {
        if (segments.put(id, bytes) != null) {
            throw fault("segment " + shorten(id) + " is obtained twice");
        }
        reserved += bytes;
        reservedPeak = Math.max(reservedPeak, reserved);
        reservedKnown = true;
    }

    private void kineto(BufferedReader text) throws IOException {
        for (String[] row = row(text, 6); row != null; row = row(text, 6)) {
            if (chosenDevice == null && (device == null ? !row[3].equals("cpu") : row[3].equals(device))) {
                chosenDevice = row[3];
            }
            number("thread", row[4], 0, Integer.MAX_VALUE);
            long time = 1000 * number("t_us", row[5], 0, Long.MAX_VALUE / 1000);
            number("bytes", row[2], 0, MOST_BYTES);
            if (!row[0].equals("a") && !row[0].equals("f")) {
                throw fault("unknown op '" + shorten(row[0]) + "'; accepted are a and f");
            }
            if (row[3].equals(chosenDevice)) {
                if (row[0].equals("a")) {
                    allocate(row[1], row[2], "0", time);
                } else {
                    free(row[1], row[2], "0", time);
                }
            }
        }
    }

    private void minimalloc(BufferedReader text) throws IOException {
        List<long[]> events = new ArrayList<>();
        int block = 0;
        for (String[] row = row(text, 4); row != null; row = row(text, 4)) {
            long lower = number("lower", row[1], Long.MIN_VALUE / 4, Long.MAX_VALUE / 4);
            long upper = number("upper", row[2], Long.MIN_VALUE / 4, Long.MAX_VALUE / 4);
            long size = number("size", row[3], 1, MOST_BYTES);
            if (upper <= lower) {
                throw fault("block " + shorten(row[0]) + " ends at " + upper + ", not after its start at " + lower);
            }
            if (live.put(row[0], block) != null) {
                throw fault("block " + shorten(row[0]) + " is there twice");
            }
            events.add(new long[] {lower, 1, block, size});
            events.add(new long[] {upper, 0, block, size});
            block++;
        }
        events.sort(Comparator.<long[]>comparingLong(event -> event[0]).thenComparingLong(event -> event[1]));
        for (long[] event : events) {
            trace.add(event[1] == 1 ? Trace.Kind.ALLOCATE : Trace.Kind.FREE, (int) event[2], event[3], 0, event[0]);
        }
    }

    private void rmm(BufferedReader text) throws IOException {
        for (String[] row = row(text, 6); row != null; row = row(text, 6)) {
            String action = row[2].strip();
            long time = line;
            switch (action) {
                case "allocate" -> allocate(row[3].strip(), row[4].strip(), row[5].strip(), time);
                case "free", "deallocate" -> free(row[3].strip(), row[4].strip(), row[5].strip(), time);
                case "allocate failure" -> {}
                default ->
                    throw fault("unknown action '" + shorten(action)
                            + "'; accepted are allocate, allocate failure and free");
            }
        }
    }

    private void recording(BufferedReader text) throws IOException {
        for (String[] row = row(text, 5); row != null; row = row(text, 5)) {
            long time = number("ns", row[4], 0, Long.MAX_VALUE);
            switch (row[0]) {
                case "a" -> allocate(row[1], row[2], row[3], time);
                case "f" -> free(row[1], "", row[3], time);
                case "u" -> {
                    Integer block = live.get(row[1]);
                    if (block == null) {
                        throw fault("block " + shorten(row[1]) + " is used, but it is not live");
                    }
                    trace.add(Trace.Kind.USE, block, sizes.get(block), stream(row[3]), time);
                }
                case "n" -> trace.add(Trace.Kind.ITERATION, 0, 0, 0, time);
                default -> throw fault("unknown op '" + shorten(row[0]) + "'; accepted are a, f, u and n");
            }
        }
    }

    private void allocate(String id, String bytes, String stream, long time) {
        long size = number("bytes", bytes, 0, MOST_BYTES);
        int block = sizes.size();
        Integer before = live.put(id, block);
        if (before != null) {
            throw fault("block " + shorten(id) + " is allocated twice without a free between");
        }
        sizes.add(size);
        trace.add(Trace.Kind.ALLOCATE, block, size, stream(stream), time);
    }

    private void free(String id, String bytes, String stream, long time) {
        Integer block = live.remove(id);
        if (block == null) {
            throw fault(
                    freed.containsKey(id)
                            ? "block " + shorten(id) + " is freed twice"
                            : "block " + shorten(id) + " is freed, but it was not allocated before");
        }
        if (!bytes.isEmpty() && number("bytes", bytes, 0, MOST_BYTES) != sizes.get(block)) {
            throw fault("block " + shorten(id) + " was allocated with " + sizes.get(block) + " bytes and is freed with "
                    + shorten(bytes));
        }
        freed.put(id, block);
        trace.add(Trace.Kind.FREE, block, sizes.get(block), stream(stream), time);
    }

    private int stream(String text) {
        Integer known = streams.get(text);
        if (known == null) {
            if (streams.size() == 4096) {
                throw fault("more than 4096 streams");
            }
            known = streams.size();
            streams.put(text, known);
        }
        return known;
    }

    private long number(String column, String text, long least, long most) {
        long value;
        try {
            value = Long.parseLong(text.strip());
        } catch (NumberFormatException wrong) {
            throw fault(column + " '" + shorten(text) + "' is not a whole number");
        }
        if (value < least || value > most) {
            throw fault(column + " " + value + " is not in " + least + ".." + most);
        }
        return value;
    }

    private AcceleratorException fault(String what) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "read trace", name + " line " + line + ": " + what);
    }

    private static String shorten(String text) {
        String clean = text.replaceAll("[^\\x20-\\x7e]", "?");
        return clean.length() <= 60 ? clean : clean.substring(0, 57) + "...";
    }
}
