// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import tools.jackson.core.JacksonException;

/**
 * Writes a file whole or not at all: the content goes to a file beside it, which takes its place once complete. A device or pipe in place of
 * a file is written straight.
 */
public final class OutputFile {
    private OutputFile() {}

    /** What writes the content. */
    @FunctionalInterface
    public interface Content {
        /** Writes everything; the stream is buffered and closed by the caller. */
        void writeTo(OutputStream out) throws IOException;
    }

    /**
     * Writes a text in UTF-8.
     *
     * @throws AcceleratorException {@link ErrorCode#BAD_DOCUMENT} when the file cannot be written, with the reason
     */
    public static void write(Path file, String text) {
        write(file, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Writes a file.
     *
     * @throws AcceleratorException {@link ErrorCode#BAD_DOCUMENT} when the file cannot be written, with the reason
     */
    public static void write(Path file, Content content) {
        if (file.toString().isEmpty()) {
            throw refusal(Path.of("''"), "names no file", null);
        }
        if (Files.isDirectory(file)) {
            throw refusal(file, "is a directory; accepted is the name of a file", null);
        }
        try {
            // A link keeps pointing where it did.
            Path target = Files.exists(file) ? file.toRealPath() : file.toAbsolutePath();
            if (Files.exists(target, LinkOption.NOFOLLOW_LINKS) && !Files.isRegularFile(target)) {
                writeStraight(target, content);
            } else {
                writeBeside(target, content);
            }
        } catch (NoSuchFileException failure) {
            throw refusal(file, "cannot be written: its folder does not exist", failure);
        } catch (AccessDeniedException failure) {
            throw refusal(file, "cannot be written: permission denied", failure);
        } catch (IOException failure) {
            throw refusal(file, "cannot be written: " + reason(failure), failure);
        } catch (UncheckedIOException | JacksonException failure) {
            throw refusal(file, "cannot be written: " + reason(failure.getCause()), failure);
        }
    }

    private static void writeStraight(Path target, Content content) throws IOException {
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(target, StandardOpenOption.WRITE))) {
            content.writeTo(out);
        }
    }

    private static void writeBeside(Path target, Content content) throws IOException {
        boolean replaces = Files.exists(target);
        if (replaces && !Files.isWritable(target)) {
            throw new AccessDeniedException(target.toString()); // moving over it would succeed against its owner's will
        }
        Path beside = target.resolveSibling(
                "." + target.getFileName() + "." + ProcessHandle.current().pid() + ".part");
        try {
            // CREATE, so that what a killed process of the same number left is no hindrance.
            try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(
                    beside,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.WRITE))) {
                content.writeTo(out);
            }
            if (replaces && Files.getFileStore(target).supportsFileAttributeView("posix")) {
                Files.setPosixFilePermissions(beside, Files.getPosixFilePermissions(target));
            }
            try {
                Files.move(beside, target, StandardCopyOption.ATOMIC_MOVE);
            } catch (AtomicMoveNotSupportedException withoutAtomicity) {
                Files.move(beside, target, StandardCopyOption.REPLACE_EXISTING);
            }
        } finally {
            Files.deleteIfExists(beside);
        }
    }

    private static String reason(Throwable failure) {
        if (failure instanceof FileSystemException refusal && refusal.getReason() != null) {
            return refusal.getReason();
        }
        String message = failure == null ? null : failure.getMessage();
        return message == null ? "unknown reason" : message.lines().findFirst().orElse("unknown reason");
    }

    private static AcceleratorException refusal(Path file, String what, Throwable cause) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "write", file + " " + what, cause);
    }
}
