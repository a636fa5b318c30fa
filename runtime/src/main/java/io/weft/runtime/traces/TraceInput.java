// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;

/**
 * The bytes of a file, unpacked when they are gzip, with a look ahead and the place where reading is. Unlike {@link java.io.BufferedInputStream} it takes no
 * locks: a pickle is read byte by byte. Not for several threads.
 */
final class TraceInput extends InputStream {
    /** The longest look ahead. */
    static final int MOST_AHEAD = 1 << 16;

    private final InputStream in;
    private final byte[] buffer = new byte[2 * MOST_AHEAD];
    private int at;
    private int end;
    private long before;

    private TraceInput(InputStream in) {
        this.in = in;
    }

    /** Opens what a stream has, which is gzip or not. */
    static TraceInput open(InputStream raw) throws IOException {
        TraceInput packed = new TraceInput(raw);
        byte[] magic = packed.peek(2);
        boolean gzip = magic.length == 2 && (magic[0] & 0xff) == 0x1f && (magic[1] & 0xff) == 0x8b;
        return gzip ? new TraceInput(new GZIPInputStream(packed, MOST_AHEAD)) : packed;
    }

    /** Bytes read so far, of what was unpacked. */
    long position() {
        return before + at;
    }

    /**
     * What comes next, without going there.
     *
     * @param count at most {@link #MOST_AHEAD}
     * @return so many bytes, or fewer at the end
     */
    byte[] peek(int count) throws IOException {
        fill(count);
        return Arrays.copyOfRange(buffer, at, Math.min(end, at + count));
    }

    /** How far it is to the next line break, itself not counted; -1 when there is none within {@link #MOST_AHEAD} bytes. */
    int lineAhead() throws IOException {
        int found = lineBreak(end - at);
        if (found < 0 && end - at < MOST_AHEAD) {
            fill(MOST_AHEAD);
            found = lineBreak(end - at);
        }
        return found;
    }

    private int lineBreak(int count) {
        for (int i = 0; i < Math.min(count, MOST_AHEAD); i++) {
            if (buffer[at + i] == '\n') {
                return i;
            }
        }
        return -1;
    }

    private void fill(int count) throws IOException {
        if (end - at >= count) {
            return;
        }
        if (at > 0) {
            System.arraycopy(buffer, at, buffer, 0, end - at);
            before += at;
            end -= at;
            at = 0;
        }
        while (end < count) {
            int read = in.read(buffer, end, buffer.length - end);
            if (read < 0) {
                return;
            }
            end += read;
        }
    }

    @Override
    public int read() throws IOException {
        if (at == end) {
            fill(1);
            if (at == end) {
                return -1;
            }
        }
        return buffer[at++] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (at == end) {
            fill(1);
            if (at == end) {
                return -1;
            }
        }
        int count = Math.min(length, end - at);
        System.arraycopy(buffer, at, bytes, offset, count);
        at += count;
        return count;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
