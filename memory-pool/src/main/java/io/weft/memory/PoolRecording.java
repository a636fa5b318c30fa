// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * A pool's calls in a file that {@code weft pool replay} reads, gzip when its name ends in {@code .gz}. First line {@code weft-pool-recording,1}, then {@code
 * a,id,bytes,stream,ns}, {@code f,id,,stream,ns}, {@code u,id,,stream,ns} (another stream uses it) and {@code n,,,,ns} (an iteration ends). Safe for any thread.
 */
public final class PoolRecording implements Closeable {
    private final BufferedWriter out;
    private final Map<Long, Long> ids = new HashMap<>();
    private long next;
    private long start = Long.MIN_VALUE;

    /** Starts a recording; an existing file is replaced. */
    public PoolRecording(Path file) {
        try {
            out = file.toString().endsWith(".gz")
                    ? new BufferedWriter(new java.io.OutputStreamWriter(
                            new GZIPOutputStream(Files.newOutputStream(file)), StandardCharsets.UTF_8))
                    : Files.newBufferedWriter(file);
            out.write("weft-pool-recording,1\n");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    synchronized void allocate(long address, long bytes, int stream, long now) {
        ids.put(address, next);
        line("a," + next++ + "," + bytes + "," + stream, now);
    }

    synchronized void free(long address, int stream, long now) {
        Long id = ids.remove(address);
        if (id != null) {
            line("f," + id + ",," + stream, now);
        }
    }

    synchronized void use(long address, int stream, long now) {
        Long id = ids.get(address);
        if (id != null) {
            line("u," + id + ",," + stream, now);
        }
    }

    synchronized void nextIteration(long now) {
        line("n,,,", now);
    }

    private void line(String text, long now) {
        if (start == Long.MIN_VALUE) {
            start = now;
        }
        try {
            out.write(text);
            out.write(',');
            out.write(Long.toString(Math.max(0, now - start)));
            out.write('\n');
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        out.close();
    }
}
