// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** Reads what a tool printed, however it came to be in a file: with colours, with any line ends, in the encodings of any shell. Bounded, so that no file exhausts memory. */
final class InputText {
    /** The largest real file seen is 18 kB. */
    static final int MAX_BYTES = 8 << 20;

    private static final Pattern ESCAPES =
            Pattern.compile("\u001b\\[[0-9;?]*[ -/]*[@-~]|\u001b\\][^\u0007]*\u0007|\u001b[@-_]");

    private InputText() {}

    /** A refusal of a file. */
    static AcceleratorException refused(Path file, String what) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "topology file", file + ": " + what);
    }

    /** The file's bytes. */
    static byte[] bytes(Path file, String accepted) {
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

    /** The file's text, without colours, with line feeds alone. */
    static String read(Path file, String accepted) {
        String text = decoded(file, accepted);
        if (text.indexOf('\0') >= 0) {
            throw refused(
                    file,
                    "is no text (it holds a zero byte at offset " + text.indexOf('\0') + "); accepted is " + accepted);
        }
        text = ESCAPES.matcher(text).replaceAll("").replace("\r\n", "\n").replace('\r', '\n');
        if (text.isBlank()) {
            throw refused(
                    file,
                    "is empty, which is what the SMI tools leave, with exit code 0, when the driver is not loaded; "
                            + "accepted is " + accepted);
        }
        return text;
    }

    /** The file's characters, whatever the shell's encoding was; bytes that are none become a replacement sign. */
    static String decoded(Path file, String accepted) {
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

    /** The first line that says something, for messages. */
    static String begins(String text) {
        String line = text.lines()
                .map(String::strip)
                .filter(s -> !s.isEmpty())
                .findFirst()
                .orElse("");
        return line.length() <= 60 ? line : line.substring(0, 60) + "...";
    }

    /** What kind of file it is, when it is one of the others; empty when it looks like none. */
    static String otherwise(String text) {
        String start = text.stripLeading();
        if (start.startsWith("<")) {
            return "this looks like XML; RCCL's topology files go to --amd-xml";
        }
        if (start.contains("TABLE:")
                && List.of("ACCESS", "WEIGHT", "HOPS", "LINK TYPE", "NUMA BW").stream()
                        .anyMatch(title -> start.contains(title + " TABLE:"))) {
            return "this looks like 'amd-smi topology', which goes to --amd-smi";
        }
        if (start.contains("between two GPUs") || start.contains("(Topology) Numa")) {
            return "this looks like 'rocm-smi --showtopo', which goes to --showtopo";
        }
        if (start.contains("\"link_type\"") || start.contains("\"link_status\"")) {
            return "this looks like 'amd-smi topology --json', which goes to --amd-smi";
        }
        return "";
    }
}
