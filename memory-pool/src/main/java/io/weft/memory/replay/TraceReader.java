// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Reads traces that are CSV, plain or gzip, and knows their format by the first line:
 *
 * <ul>
 *   <li>{@code op,id,bytes,stream,t_us}: a PyTorch memory timeline; stream and time may be missing. {@code i} is live before the trace, {@code a} allocates,
 *       {@code f} frees; {@code I}, {@code S} and {@code s} are the recorded allocator's own segments and give its reserved bytes. PyTorch's own words ({@code
 *       alloc}, {@code free_requested}, {@code segment_alloc}, ...) are known as well.
 *   <li>{@code op,id,bytes,dev,thread,t_us}: Kineto memory events; those of the first device that is not {@code cpu} are taken, or those of a device named.
 *   <li>{@code id,lower,upper,size}: a minimalloc problem; each block is allocated at {@code lower} and freed at {@code upper}, frees first. Its other names for
 *       columns are known: {@code buffer} and {@code buffer_id}, {@code start} and {@code begin}, and {@code end}, which is the last step of a block's life and
 *       not the first after it.
 *   <li>{@code Thread,Time,Action,Pointer,Size,Stream}: an RMM log. Pointers and streams are numbers, whether {@code 0x0} or {@code 0}.
 *   <li>{@code weft-pool-recording,1}: our own; then lines {@code a,id,bytes,stream,ns}, {@code f,id,,stream,ns}, {@code u,id,,stream,ns} for a use on another
 *       stream and {@code n,,,,ns} at the end of an iteration.
 * </ul>
 *
 * <p>Columns are found by their names, so their order, further columns, capitals, blanks and quotes do not matter, and neither do line breaks, a byte order mark
 * or a missing last line break. Traces begin and end in the middle of things, so this is no fault but one of the trace's notes: a free of memory that was never
 * allocated (it was live before the trace, when the free tells its size), a second free, and an allocation at an address that is still out (its free is missing).
 *
 * <p>Whatever is wrong with a file is said in one sentence with file and line, as {@link ErrorCode#BAD_DOCUMENT}.
 */
public final class TraceReader {
    /** First line of our own recordings. */
    public static final String RECORDING_HEADER = "weft-pool-recording,1";

    private static final List<String> TIMELINE = List.of("op", "id", "bytes");
    private static final List<String> KINETO = List.of("op", "id", "bytes", "dev");
    private static final List<String> MINIMALLOC = List.of("id", "lower", "upper", "size");
    private static final String LAST = "end";
    private static final Map<String, String> MINIMALLOC_NAMES =
            Map.of("buffer", "id", "buffer_id", "id", "start", "lower", "begin", "lower", LAST, "upper");
    private static final List<String> RMM = List.of("action", "pointer", "size");
    private static final List<String> RECORDING = List.of("op", "id", "bytes", "stream", "ns");

    /** The first lines that are known, for refusals. */
    public static final String FIRST_LINES = "'op,id,bytes,stream,t_us', 'op,id,bytes,dev,thread,t_us',"
            + " 'id,lower,upper,size', 'Thread,Time,Action,Pointer,Size,Stream' and '" + RECORDING_HEADER + "'";

    private static final String ACCEPTED = "accepted are " + FIRST_LINES;

    /** More than any address range holds; guards sums against overflow. */
    private static final long MOST_BYTES = 1L << 46;

    private static final long MOST_TIME = Long.MAX_VALUE / 4;
    private static final int MOST_STREAMS = 4096;
    private static final int NANOS_PER_MICRO = 1000;

    private final TraceText text;
    private final TraceBuilder trace;
    private final String device;
    private final Map<String, Integer> streams = new HashMap<>();

    private TraceReader(String place, String name, String device) {
        this.text = new TraceText(place);
        this.trace = new TraceBuilder(name);
        this.device = device;
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
        if (Files.isDirectory(file)) {
            throw new AcceleratorException(ErrorCode.BAD_DOCUMENT, "read trace", file + " is a folder, not a trace");
        }
        try (InputStream in = Files.newInputStream(file)) {
            return new TraceReader(file.toString(), String.valueOf(file.getFileName()), device).read(in);
        } catch (NoSuchFileException missing) {
            throw new AcceleratorException(ErrorCode.NOT_FOUND, "read trace", file + " does not exist");
        } catch (AccessDeniedException denied) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT, "read trace", file + " cannot be read: permission denied", denied);
        } catch (IOException failure) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT, "read trace", file + " cannot be read: " + failure.getMessage(), failure);
        }
    }

    /** Reads a trace from a stream, which stays open. */
    public static Trace read(InputStream in, String name, String device) {
        return read(in, name, name, device);
    }

    /**
     * Reads a trace from a stream, which stays open.
     *
     * @param place the file as refusals name it
     * @param name the trace's name
     */
    public static Trace read(InputStream in, String place, String name, String device) {
        return new TraceReader(place, name, device).read(in);
    }

    /** Whether a first line is that of a format that is read here. */
    public static boolean isFirstLine(String line) {
        List<String> names = TraceText.names(line);
        return names.equals(TraceText.names(RECORDING_HEADER))
                || names.containsAll(KINETO)
                || names.containsAll(TIMELINE)
                || names.containsAll(RMM)
                || minimallocNames(names).containsAll(MINIMALLOC);
    }

    private Trace read(InputStream in) {
        try {
            text.open(in);
            String header = text.first();
            if (header == null) {
                throw text.fault("the file is empty; " + ACCEPTED);
            }
            rows(header);
        } catch (IOException failure) {
            throw text.fault(failure);
        } catch (UncheckedIOException failure) {
            throw text.fault(failure.getCause());
        }
        Trace read = trace.build();
        if (read.allocations() == 0) {
            throw text.fault("the trace allocates nothing" + (device == null ? "" : " on device " + device));
        }
        return read;
    }

    private void rows(String header) throws IOException {
        List<String> names = TraceText.names(header);
        if (names.equals(TraceText.names(RECORDING_HEADER))) {
            trace.origin("recording of Weft", "");
            text.columns(RECORDING);
            recording();
            return;
        }
        if (names.containsAll(KINETO)) {
            text.columns(names);
            kineto();
        } else if (names.containsAll(TIMELINE)) {
            trace.origin("PyTorch memory timeline (CSV)", "");
            text.columns(names);
            timeline();
        } else if (names.containsAll(RMM)) {
            trace.origin("RMM log", "");
            text.columns(names);
            rmm();
        } else if (minimallocNames(names).containsAll(MINIMALLOC)) {
            trace.origin("minimalloc problem", "");
            text.columns(minimallocNames(names));
            minimalloc(names.contains(LAST) ? 1 : 0);
        } else {
            throw text.fault("unknown first line '" + TraceText.shorten(header) + "'; " + ACCEPTED);
        }
    }

    private long bytes(String column) {
        return text.number(column, 0, MOST_BYTES);
    }

    /** ns; the line's number where there is no time. */
    private long micros() {
        return text.has("t_us") ? text.number("t_us", NANOS_PER_MICRO, 0, MOST_TIME) : text.line();
    }

    private void timeline() throws IOException {
        if (text.has("t_us")) {
            trace.timed();
        }
        while (text.next()) {
            long time = micros();
            String id = text.cell("id");
            String op = text.cell("op");
            switch (op) {
                case "i" -> trace.liveBefore(id, bytes("bytes"), stream(text.cell("stream", "0")), text.line());
                case "a", "alloc" -> allocate(id, "bytes", text.cell("stream", "0"), time);
                case "f", "free", "free_requested" -> free(id, "bytes", text.cell("stream", "0"), time);
                case "I", "S", "segment_alloc" -> trace.segment(id, text.number("bytes", 1, MOST_BYTES), text.line());
                case "s", "segment_free" -> trace.segmentReturned(id, text.line());
                case "free_completed", "oom", "snapshot" -> {}
                default ->
                    throw text.fault("unknown op '" + TraceText.shorten(op) + "'; accepted are I, i, a, f, S and s");
            }
        }
    }

    private void kineto() throws IOException {
        if (text.has("t_us")) {
            trace.timed();
        }
        String chosen = null;
        while (text.next()) {
            String on = text.cell("dev");
            if (chosen == null && (device == null ? !on.equals("cpu") : on.equals(device))) {
                chosen = on;
            }
            long time = micros();
            bytes("bytes");
            String op = text.cell("op");
            boolean allocates = op.equals("a");
            if (!allocates && !op.equals("f")) {
                throw text.fault("unknown op '" + TraceText.shorten(op) + "'; accepted are a and f");
            }
            if (on.equals(chosen)) {
                if (allocates) {
                    allocate(text.cell("id"), "bytes", "0", time);
                } else {
                    free(text.cell("id"), "bytes", "0", time);
                }
            }
        }
        trace.origin("Kineto memory events (CSV)", chosen == null ? "" : chosen);
    }

    private record Edge(long time, boolean starts, String id, long bytes) {}

    private static List<String> minimallocNames(List<String> names) {
        return names.stream()
                .map(name -> MINIMALLOC_NAMES.getOrDefault(name, name))
                .toList();
    }

    /** @param beyond what lies between a block's end as the file gives it and the first step at which it is gone */
    private void minimalloc(int beyond) throws IOException {
        List<Edge> edges = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        while (text.next()) {
            String id = text.cell("id");
            long lower = text.number("lower", -MOST_TIME, MOST_TIME);
            long upper = text.number("upper", -MOST_TIME, MOST_TIME) + beyond;
            long size = text.number("size", 1, MOST_BYTES);
            if (upper <= lower) {
                throw text.fault("block " + TraceText.shorten(id) + " ends at " + (upper - beyond)
                        + (beyond == 0 ? ", not after" : ", before") + " its start at " + lower);
            }
            if (!seen.add(id)) {
                throw text.fault("block " + TraceText.shorten(id) + " is there twice");
            }
            edges.add(new Edge(lower, true, id, size));
            edges.add(new Edge(upper, false, id, size));
        }
        edges.sort(Comparator.comparingLong(Edge::time).thenComparing(Edge::starts));
        for (Edge edge : edges) {
            if (edge.starts) {
                trace.allocate(edge.id, edge.bytes, 0, edge.time, text.line());
            } else {
                trace.free(edge.id, edge.bytes, 0, edge.time, text.line());
            }
        }
    }

    private void rmm() throws IOException {
        while (text.next()) {
            String action = text.cell("action").toLowerCase(Locale.ROOT);
            String pointer = plain(text.cell("pointer"));
            if (pointer.equals("0") && !action.startsWith("allocate f")) {
                // Nothing was asked for, or nothing was freed.
                bytes("size");
                continue;
            }
            switch (action) {
                case "allocate" -> allocate(pointer, "size", text.cell("stream", "0"), text.line());
                case "free", "deallocate" -> free(pointer, "size", text.cell("stream", "0"), text.line());
                case "allocate failure" -> {}
                default ->
                    throw text.fault("unknown action '" + TraceText.shorten(action)
                            + "'; accepted are allocate, allocate failure and free");
            }
        }
    }

    private void recording() throws IOException {
        trace.timed();
        while (text.next()) {
            long time = text.number("ns", 0, MOST_TIME);
            String id = text.cell("id");
            String op = text.cell("op");
            switch (op) {
                case "a" -> allocate(id, "bytes", text.cell("stream"), time);
                case "f" -> free(id, "bytes", text.cell("stream"), time);
                case "u" -> trace.use(id, stream(text.cell("stream")), time, text.line());
                case "n" -> trace.iteration(time);
                case "S" -> trace.reserved(bytes("bytes"), text.line());
                case "s" -> trace.reserved(-bytes("bytes"), text.line());
                default ->
                    throw text.fault("unknown op '" + TraceText.shorten(op) + "'; accepted are a, f, u, n, S and s");
            }
        }
    }

    private void allocate(String id, String column, String on, long time) {
        trace.allocate(id, bytes(column), stream(on), time, text.line());
    }

    private void free(String id, String column, String on, long time) {
        long freed = text.cell(column).isEmpty() ? -1 : bytes(column);
        long out = trace.bytes(id);
        if (out >= 0 && freed >= 0 && out != freed) {
            throw text.fault("block " + TraceText.shorten(id) + " was allocated with " + out
                    + " bytes and is freed with " + freed);
        }
        trace.free(id, freed, stream(on), time, text.line());
    }

    /** A number as it is compared: RMM writes pointers and streams with {@code 0x} or without. */
    private static String plain(String number) {
        String low = number.toLowerCase(Locale.ROOT);
        if (low.equals("(nil)") || low.isEmpty()) {
            return "0";
        }
        int start = low.startsWith("0x") ? 2 : 0;
        while (start < low.length() - 1 && low.charAt(start) == '0') {
            start++;
        }
        return start == low.length() ? "0" : low.substring(start);
    }

    private int stream(String written) {
        String name = plain(written);
        Integer known = streams.get(name);
        if (known == null) {
            if (streams.size() == MOST_STREAMS) {
                throw text.fault("more than " + MOST_STREAMS + " streams");
            }
            known = streams.size();
            streams.put(name, known);
        }
        return known;
    }
}
