// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OutputFileTest {
    @TempDir
    private Path folder;

    private static String refusal(Path file) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> OutputFile.write(file, "text"));
        assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code());
        assertEquals(1, refusal.getMessage().lines().count());
        return refusal.detail();
    }

    private void assertNothingElseIsLeft(String... names) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(
                    Set.of(names),
                    Set.copyOf(files.map(f -> f.getFileName().toString()).toList()));
        }
    }

    @Test
    void aFileIsWrittenAndReplacedWithItsPermissionsKept() throws IOException {
        Path file = folder.resolve("page.html");
        OutputFile.write(file, "one");
        Set<PosixFilePermission> shared = PosixFilePermissions.fromString("rw-rw-r--");
        Files.setPosixFilePermissions(file, shared);
        OutputFile.write(file, "two \u00e9");
        assertEquals("two \u00e9", Files.readString(file));
        assertEquals(shared, Files.getPosixFilePermissions(file));
        assertNothingElseIsLeft("page.html");
    }

    @Test
    void contentThatFailsLeavesTheOldFileAsItWas() throws IOException {
        Path file = folder.resolve("page.html");
        OutputFile.write(file, "old");
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class,
                () -> OutputFile.write(file, out -> {
                    out.write(new byte[100_000]);
                    throw new IOException("No space left on device");
                }));
        assertEquals(file + " cannot be written: No space left on device", refusal.detail());
        assertEquals("old", Files.readString(file));
        assertNothingElseIsLeft("page.html");
    }

    @Test
    void aFullDiskIsTold() {
        Path full = Path.of("/dev/full");
        Assumptions.assumeTrue(Files.exists(full), "this system has no /dev/full");
        assertEquals("/dev/full cannot be written: " + spaceless(full), refusal(full));
    }

    /** The system's own words, which follow the machine's language. */
    private static String spaceless(Path full) {
        return assertThrows(IOException.class, () -> Files.write(full, new byte[1]))
                .getMessage();
    }

    @Test
    void aFullDiskIsToldByAStreamedTraceToo() {
        Path full = Path.of("/dev/full");
        Assumptions.assumeTrue(Files.exists(full), "this system has no /dev/full");
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class,
                () -> OutputFile.write(
                        full,
                        out -> TraceWriter.write(
                                out, "sketch:ring-2", io.weft.api.Figures.MODEL, TimelineSketch.sections())));
        assertEquals("/dev/full cannot be written: " + spaceless(full), refusal.detail());
    }

    @Test
    void aDirectoryIsRefused() {
        assertEquals(folder + " is a directory; accepted is the name of a file", refusal(folder));
    }

    @Test
    void aFolderThatDoesNotExistIsTold() {
        Path file = folder.resolve("no/such/page.html");
        assertEquals(file + " cannot be written: its folder does not exist", refusal(file));
    }

    @Test
    void aFolderThatMayNotBeWrittenIsTold() throws IOException {
        Path closed = Files.createDirectories(folder.resolve("closed"));
        Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("r-x------"));
        Assumptions.assumeFalse(Files.isWritable(closed), "this user writes everywhere");
        Path file = closed.resolve("page.html");
        assertEquals(file + " cannot be written: permission denied", refusal(file));
    }

    @Test
    void aLinkKeepsPointingWhereItDid() throws IOException {
        Path real = Files.writeString(folder.resolve("real.html"), "old");
        Path link = Files.createSymbolicLink(folder.resolve("link.html"), real);
        OutputFile.write(link, "new");
        assertTrue(Files.isSymbolicLink(link));
        assertEquals("new", Files.readString(real));
    }
}
