// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.zip.GZIPOutputStream;

/**
 * Calls of pools in a file that {@code weft pool replay} reads. First line {@code weft-pool-recording,1}, then {@code a,id,bytes,stream,ns}, {@code
 * f,id,,stream,ns}, {@code u,id,,stream,ns} (another stream uses it) and {@code n,,,,ns} (an iteration ends). Ids are not used again; ns count from the first
 * call. {@code S,,bytes,,ns} and {@code s,,bytes,,ns} are what the pool itself gets from the device and gives back, so that {@link
 * io.weft.memory.replay.Recount} can count everything anew.
 *
 * <p>Several pools of one device may share a recording; each is a {@link Source} of its own. Pools of several devices need a recording each, as a trace is the
 * memory of one device. What a pool held before its recording began is not in it. Safe for any thread.
 */
public final class PoolRecording implements Closeable {
    private static final String HEADER = "weft-pool-recording,1\n";

    private final BufferedWriter out;
    private long nextId;
    private int nextStream;
    private long start;
    private boolean started;

    /**
     * Starts a recording in a file, gzip when its name ends in {@code .gz}; an existing file is replaced.
     *
     * @throws AcceleratorException {@link ErrorCode#BAD_DOCUMENT} when the file cannot be written
     */
    public PoolRecording(Path file) {
        this(open(file), isCompressed(file));
    }

    /**
     * Starts a recording in a stream, which is closed with it.
     *
     * @param compressed whether it is gzip
     */
    public PoolRecording(OutputStream stream, boolean compressed) {
        try {
            out = new BufferedWriter(new OutputStreamWriter(
                    compressed ? new GZIPOutputStream(stream) : stream, StandardCharsets.US_ASCII));
            out.write(HEADER);
        } catch (IOException failure) {
            throw refusal(failure);
        }
    }

    /** Whether a recording of this name is gzip. */
    public static boolean isCompressed(Path file) {
        return file.toString().endsWith(".gz");
    }

    private static OutputStream open(Path file) {
        try {
            return Files.newOutputStream(file);
        } catch (IOException failure) {
            throw refusal(failure);
        }
    }

    private static AcceleratorException refusal(IOException failure) {
        return new AcceleratorException(
                ErrorCode.BAD_DOCUMENT, "record", "the recording cannot be written: " + failure.getMessage(), failure);
    }

    /** A source of calls, whose addresses and streams are its own. */
    public Source source() {
        return new Source();
    }

    /** One pool's part in a recording. Times are ns of a clock that all sources of a recording share. */
    public final class Source {
        private final Map<Long, Long> ids = new HashMap<>();
        private final Map<Integer, Integer> streams = new HashMap<>();

        private Source() {}

        /** A buffer is allocated. */
        public void allocate(long address, long bytes, int stream, long now) {
            synchronized (PoolRecording.this) {
                ids.put(address, nextId);
                line("a," + nextId++ + "," + bytes + "," + stream(stream), now);
            }
        }

        /** A buffer is freed; one that was allocated before the recording is left out. */
        public void free(long address, int stream, long now) {
            synchronized (PoolRecording.this) {
                Long id = ids.remove(address);
                if (id != null) {
                    line("f," + id + ",," + stream(stream), now);
                }
            }
        }

        /** Another stream uses a buffer. */
        public void use(long address, int stream, long now) {
            synchronized (PoolRecording.this) {
                Long id = ids.get(address);
                if (id != null) {
                    line("u," + id + ",," + stream(stream), now);
                }
            }
        }

        /** The pool has got memory from the device. */
        public void obtained(long bytes, long now) {
            line("S,," + bytes + ",", now);
        }

        /** The pool has given memory back to the device. */
        public void givenBack(long bytes, long now) {
            line("s,," + bytes + ",", now);
        }

        /** A source of pages that does what another one does, and records it. */
        public PageSource recorded(PageSource pages, LongSupplier clock) {
            return new RecordedPages(pages, () -> this, clock);
        }

        private int stream(int number) {
            return streams.computeIfAbsent(number, ignored -> nextStream++);
        }
    }

    /** An iteration of the program ends. */
    public synchronized void nextIteration(long now) {
        line("n,,,", now);
    }

    private synchronized void line(String text, long now) {
        if (!started) {
            started = true;
            start = now;
        }
        try {
            out.write(text);
            out.write(',');
            out.write(Long.toString(Math.max(0, now - start)));
            out.write('\n');
        } catch (IOException failure) {
            throw refusal(failure);
        }
    }

    /**
     * Writes what was recorded so far; a compressed recording keeps some of it.
     *
     * @throws AcceleratorException {@link ErrorCode#BAD_DOCUMENT} when it cannot be written
     */
    public synchronized void flush() {
        try {
            out.flush();
        } catch (IOException failure) {
            throw refusal(failure);
        }
    }

    /** @throws AcceleratorException {@link ErrorCode#BAD_DOCUMENT} when the rest cannot be written */
    @Override
    public synchronized void close() {
        try {
            out.close();
        } catch (IOException failure) {
            throw refusal(failure);
        }
    }
}
