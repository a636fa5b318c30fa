// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.memory.replay.Trace;
import io.weft.memory.replay.TraceReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.zip.ZipException;

/**
 * Reads a trace from a file of any known format. What the file is, is told by its content and never by its name:
 *
 * <ul>
 *   <li>a pickle: a memory snapshot of PyTorch;
 *   <li>JSON: the same snapshot, a Chrome trace of {@code torch.profiler} with memory events, or a raw memory timeline;
 *   <li>CSV by its first line: what {@link TraceReader} reads.
 * </ul>
 *
 * Each may be gzip. Whatever is wrong is one sentence with the place.
 */
public final class TraceFile {
    private static final String ACCEPTED =
            "accepted, plain or gzip, are pickles and JSON of torch.cuda.memory snapshots,"
                    + " Chrome traces of torch.profiler with [memory] events, memory timelines (.raw.json), and CSV with one of the"
                    + " first lines " + TraceReader.FIRST_LINES;

    private static final int SHORT = 60;

    private TraceFile() {}

    /**
     * Reads a file.
     *
     * @param device of a trace with several devices, the one to take; null for the first that is not the host
     * @throws AcceleratorException NOT_FOUND or BAD_DOCUMENT
     */
    public static Trace read(Path file, String device) {
        if (file.toString().isEmpty()) {
            throw fault("''", "this names no file", null);
        }
        if (Files.isDirectory(file)) {
            throw fault(file.toString(), "this is a folder, not a trace", null);
        }
        try (InputStream in = Files.newInputStream(file)) {
            return read(in, file.toString(), String.valueOf(file.getFileName()), device);
        } catch (NoSuchFileException missing) {
            throw new AcceleratorException(ErrorCode.NOT_FOUND, "read trace", file + " does not exist", missing);
        } catch (AccessDeniedException denied) {
            throw fault(file.toString(), "cannot be read: permission denied", denied);
        } catch (EOFException | ZipException damaged) {
            throw fault(file.toString(), "the gzip data are cut off or damaged", damaged);
        } catch (IOException failure) {
            throw fault(file.toString(), "cannot be read: " + failure.getMessage(), failure);
        } catch (OutOfMemoryError tooLarge) {
            // What was read is garbage by now, so there is room to say so.
            throw fault(file.toString(), "the trace is too large for this process's " + memory(), tooLarge);
        }
    }

    /** What this process has of memory, and how to give it more. */
    static String memory() {
        return (Runtime.getRuntime().maxMemory() >> 20) + " MiB of memory; JDK_JAVA_OPTIONS=-Xmx8g gives more";
    }

    private static Trace read(InputStream raw, String place, String name, String device) throws IOException {
        TraceInput in = TraceInput.open(raw);
        byte[] start = in.peek(TraceInput.MOST_AHEAD);
        Trace trace = switch (kind(start)) {
            case PICKLE -> SnapshotPickle.read(in, place, name, device);
            case JSON -> new JsonTraces(in, place, name, device).read();
            case HTML ->
                throw fault(
                        place,
                        "this is a page for people, with no allocations to read; export_memory_timeline writes them"
                                + " to a name that ends in .raw.json.gz, and torch.cuda.memory._dump_snapshot to a pickle",
                        null);
            case ZIP ->
                throw fault(
                        place,
                        "this is a zip archive, as torch.save writes it; save a snapshot with"
                                + " torch.cuda.memory._dump_snapshot instead",
                        null);
            case TEXT -> {
                String line = firstLine(start);
                if (line != null && !TraceReader.isFirstLine(line)) {
                    throw fault(place + ":1", "unknown first line '" + shorten(line) + "'; " + ACCEPTED, null);
                }
                yield TraceReader.read(in, place, name, device);
            }
            case NOTHING -> throw fault(place + ":1", "the file is empty; " + ACCEPTED, null);
            case PACKED ->
                throw fault(
                        place,
                        "this is packed by xz, zstd or bzip2; unpack it first (xz -d, zstd -d, bzip2 -d) or pack it by"
                                + " gzip",
                        null);
            case BINARY -> throw fault(place, "this is neither text nor a pickle; " + ACCEPTED, null);
        };
        if (device != null && trace.device().isEmpty()) {
            throw fault(place, "a " + trace.format() + " names no devices; leave --device out", null);
        }
        if (trace.allocations() == 0) {
            throw fault(place, "the trace allocates nothing" + (device == null ? "" : " on device " + device), null);
        }
        return trace;
    }

    private enum Kind {
        PICKLE,
        JSON,
        HTML,
        ZIP,
        PACKED,
        TEXT,
        NOTHING,
        BINARY
    }

    /** What a file is, by its first bytes. */
    private static Kind kind(byte[] start) {
        if (start.length == 0) {
            return Kind.NOTHING;
        }
        String text = new String(start, 0, Math.min(start.length, 4), StandardCharsets.ISO_8859_1);
        if (text.startsWith("PK\3\4")) {
            return Kind.ZIP;
        }
        if (text.startsWith("\u00fd7zX") || text.equals("(\u00b5/\u00fd") || text.startsWith("BZh")) {
            return Kind.PACKED;
        }
        // Protocol 2 and later say so; before, a dictionary or a list begins by a mark, or empty and put into the memo.
        if (text.charAt(0) == 0x80
                || text.startsWith("(d")
                || text.startsWith("(l")
                || text.matches("(?s)[}\\]][qr(.].*")) {
            return Kind.PICKLE;
        }
        int at = text.startsWith("\u00ef\u00bb\u00bf") ? 3 : 0;
        while (at < start.length && (start[at] == ' ' || start[at] == '\t' || start[at] == '\r' || start[at] == '\n')) {
            at++;
        }
        if (at == start.length) {
            return start.length < TraceInput.MOST_AHEAD ? Kind.NOTHING : Kind.BINARY;
        }
        return switch (start[at]) {
            case '{', '[' -> Kind.JSON;
            case '<' -> Kind.HTML;
            default -> isText(start) ? Kind.TEXT : Kind.BINARY;
        };
    }

    private static boolean isText(byte[] start) {
        for (int i = 0; i < Math.min(start.length, 512); i++) {
            if (start[i] >= 0 && start[i] < ' ' && start[i] != '\n' && start[i] != '\r' && start[i] != '\t') {
                return false;
            }
        }
        return true;
    }

    /** The first line that is not blank, null when it does not end in what was looked at. */
    private static String firstLine(byte[] start) {
        String text = new String(start, StandardCharsets.UTF_8);
        return (text.startsWith("\uFEFF") ? text.substring(1) : text)
                .lines()
                .filter(line -> !line.isBlank())
                .findFirst()
                .orElse(null);
    }

    static AcceleratorException fault(String place, String what, Throwable cause) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "read trace", place + ": " + what, cause);
    }

    /** A text of a file, fit for a sentence. */
    static String shorten(String text) {
        String clean = text.replaceAll("[^\\x20-\\x7e]", "?");
        return clean.length() <= SHORT ? clean : clean.substring(0, SHORT - 3) + "...";
    }
}
