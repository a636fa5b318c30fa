// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.sweep;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.runtime.report.OutputFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The file of a sweep. While the sweep runs, a row is appended by one write as soon as it is there, in whatever order; a process that is killed loses what it was
 * working on and nothing else, at worst a last line that is not whole and is dropped when the sweep goes on. Once complete, the file is replaced by one in the
 * order of the space. Locked, so that two sweeps do not share a file. Safe for any thread.
 */
final class SweepFile implements AutoCloseable {
    private final Path file;
    private final SweepFormat format;
    private final FileChannel channel;
    private final FileLock lock;
    private final Map<List<String>, SweepRow> rows = new HashMap<>();

    private SweepFile(Path file, SweepFormat format, FileChannel channel, FileLock lock) {
        this.file = file;
        this.format = format;
        this.channel = channel;
        this.lock = lock;
    }

    /**
     * Opens or makes a file and reads what an earlier sweep left.
     *
     * @param settings what its rows must have been made with
     * @param points the points that may be in it, by {@link SweepRow#key}
     * @throws AcceleratorException BAD_DOCUMENT when it is no file of this sweep or cannot be written
     */
    static SweepFile open(Path file, String settings, Map<List<String>, SweepRequest.Point> points) {
        SweepFormat format = SweepFormat.of(file);
        if (Files.isDirectory(file)) {
            throw refusal(file + " is a directory; accepted is the name of a file", null);
        }
        try {
            FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            try {
                FileLock lock = lock(channel, file);
                SweepFile opened = new SweepFile(file, format, channel, lock);
                opened.read(settings, points);
                return opened;
            } catch (IOException | RuntimeException failure) {
                channel.close();
                throw failure;
            }
        } catch (NoSuchFileException failure) {
            throw refusal(file + " cannot be written: its folder does not exist", failure);
        } catch (AccessDeniedException failure) {
            throw refusal(file + " cannot be written: permission denied", failure);
        } catch (IOException failure) {
            throw refusal(file + " cannot be written: " + failure.getMessage(), failure);
        }
    }

    private static FileLock lock(FileChannel channel, Path file) throws IOException {
        FileLock lock;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException ours) {
            lock = null;
        }
        if (lock == null) {
            throw refusal(file + " is being written by another sweep; accepted is a file of its own", null);
        }
        return lock;
    }

    private void read(String settings, Map<List<String>, SweepRequest.Point> points) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int whole = bytes.length;
        while (whole > 0 && bytes[whole - 1] != '\n') {
            whole--; // the last line of a process that was killed while it wrote
        }
        List<String> lines =
                new String(bytes, 0, whole, StandardCharsets.UTF_8).lines().toList();
        if (lines.isEmpty()) {
            String opening = format.opening();
            if (!opening.startsWith(new String(bytes, StandardCharsets.UTF_8))) {
                throw foreign(1);
            }
            channel.truncate(0);
            append(opening);
            return;
        }
        if (!lines.getFirst().equals(format.opening())) {
            throw foreign(1);
        }
        for (int i = 1; i < lines.size(); i++) {
            SweepRow row = format.row("sweep", file.toString(), lines.get(i));
            if (row == null) {
                throw foreign(i + 1);
            }
            if (row.equals(SweepFormat.END)) {
                continue;
            }
            if (!row.cell("settings").equals(settings) || !points.containsKey(row.key())) {
                throw refusal(
                        file + ":" + (i + 1) + ": this row was made by other settings (" + row.cell("settings")
                                + ", these are " + settings
                                + "); accepted is another file, or the same options, machine, model and Weft",
                        null);
            }
            rows.put(row.key(), row);
        }
        channel.truncate(whole);
        channel.position(whole);
    }

    private AcceleratorException foreign(int line) {
        return refusal(
                file + ":" + line
                        + ": this is no line of a sweep, so the file is left alone; accepted is a new file, or"
                        + " one that a sweep began",
                null);
    }

    /** Rows that are there, by their points. */
    synchronized Map<List<String>, SweepRow> rows() {
        return Map.copyOf(rows);
    }

    /** Adds a row and writes it at once. */
    synchronized void add(SweepRow row) {
        rows.put(row.key(), row);
        append(format.line(row));
    }

    private void append(String line) {
        ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException failure) {
            throw refusal(file + " cannot be written: " + failure.getMessage(), failure);
        }
    }

    /** Puts the file in order; every point has its row by now. */
    synchronized List<SweepRow> complete(List<SweepRequest.Point> points) {
        List<SweepRow> ordered = new ArrayList<>(points.size());
        for (SweepRequest.Point point : points) {
            ordered.add(rows.get(SweepRow.key(point)));
        }
        OutputFile.write(file, format.whole(ordered));
        return ordered;
    }

    private static AcceleratorException refusal(String what, Throwable cause) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "sweep", what, cause);
    }

    @Override
    public void close() {
        try (channel) {
            lock.release();
        } catch (IOException failure) {
            throw refusal(file + " cannot be closed: " + failure.getMessage(), failure);
        }
    }
}
