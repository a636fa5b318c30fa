// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.input;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Reads what a tool printed, however it came to be in a file: with colours, with any line ends, in the encodings of any shell. Bounded, so that no file exhausts memory. */
public final class ToolText {
    /** Bytes of the largest file that is read; no tool's output is nearly as large. */
    public static final int MAX_BYTES = 8 << 20;

    private static final Pattern ESCAPES =
            Pattern.compile("\u001b\\[[0-9;?]*[ -/]*[@-~]|\u001b\\][^\u0007]*\u0007|\u001b[@-_]");

    private ToolText() {}

    /** A refusal of a file: BAD_DOCUMENT, in one line. */
    public static AcceleratorException refused(Path file, String what) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "topology file", file + ": " + what);
    }

    /**
     * The file's bytes.
     *
     * @param accepted what would be accepted, for refusals
     * @throws AcceleratorException BAD_DOCUMENT when it is absent, a folder, unreadable or larger than {@link #MAX_BYTES}
     */
    public static byte[] bytes(Path file, String accepted) {
        if (!Files.exists(file)) {
            throw refused(file, "there is no such file; accepted is " + accepted);
        }
        if (Files.isDirectory(file)) {
            throw refused(file, "is a folder; accepted is " + accepted);
        }
        try (InputStream in = Files.newInputStream(file)) {
            if (Files.isRegularFile(file) && Files.size(file) > MAX_BYTES) {
                throw refused(
                        file,
                        "has " + Files.size(file) + " bytes; accepted are " + MAX_BYTES + " at most, as no real "
                                + "file is nearly that large");
            }
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            if (bytes.length > MAX_BYTES) {
                throw refused(file, "has more than " + MAX_BYTES + " bytes, which no real file has");
            }
            return bytes;
        } catch (IOException unreadable) {
            throw refused(file, "cannot be read: " + unreadable.getMessage());
        }
    }

    /**
     * The file's text, without colours, with line feeds alone.
     *
     * @param accepted what would be accepted, for refusals
     * @param whyEmpty what an empty file is a sign of, after "is empty"; may be empty
     * @throws AcceleratorException BAD_DOCUMENT, also for an empty file and one with zero bytes
     */
    public static String read(Path file, String accepted, String whyEmpty) {
        String text = decoded(file, accepted);
        if (text.indexOf('\0') >= 0) {
            throw refused(
                    file,
                    "is no text (it holds a zero byte at offset " + text.indexOf('\0') + "); accepted is " + accepted);
        }
        text = ESCAPES.matcher(text).replaceAll("").replace("\r\n", "\n").replace('\r', '\n');
        if (text.isBlank()) {
            throw refused(file, "is empty" + whyEmpty + "; accepted is " + accepted);
        }
        return text;
    }

    /** The file's characters, whatever the shell's encoding was; bytes that are none become a replacement sign. */
    public static String decoded(Path file, String accepted) {
        byte[] bytes = bytes(file, accepted);
        Charset charset = StandardCharsets.UTF_8;
        int skip = 0;
        if (startsWith(bytes, 0xEF, 0xBB, 0xBF)) {
            skip = 3;
        } else if (startsWith(bytes, 0xFF, 0xFE)) {
            charset = StandardCharsets.UTF_16LE;
            skip = 2;
        } else if (startsWith(bytes, 0xFE, 0xFF)) {
            charset = StandardCharsets.UTF_16BE;
            skip = 2;
        }
        return new String(bytes, skip, bytes.length - skip, charset);
    }

    private static boolean startsWith(byte[] bytes, int... prefix) {
        if (bytes.length < prefix.length) {
            return false;
        }
        for (int i = 0; i < prefix.length; i++) {
            if ((bytes[i] & 0xff) != prefix[i]) {
                return false;
            }
        }
        return true;
    }

    /** The first line that says something, cut to 60 characters, for messages. */
    public static String begins(String text) {
        String line = text.lines()
                .map(String::strip)
                .filter(s -> !s.isEmpty())
                .findFirst()
                .orElse("");
        return line.length() <= 60 ? line : line.substring(0, 60) + "...";
    }
}
