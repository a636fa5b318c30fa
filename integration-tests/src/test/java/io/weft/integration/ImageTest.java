// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The directory image starts from anywhere, quietly, with and without its cache. */
class ImageTest {

    private static final String VERSION = "weft " + Checkout.version() + " ";

    /** Temporary folders on the file system of the image, so that copies of it can share its files. */
    static final class InTarget implements TempDirFactory {
        @Override
        public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
            return Files.createTempDirectory(Files.createDirectories(Checkout.scratch("images")), "image");
        }
    }

    @Test
    void itStartsFromAnyFolderThroughASymbolicLink(@TempDir(factory = InTarget.class) Path folder) throws Exception {
        Path link = Files.createSymbolicLink(
                folder.resolve("linked"), Checkout.image().resolve("bin/weft"));
        Program.Result result =
                Program.of(link.toString(), "--version").in(folder).run().expect(0);
        Files.delete(link); // or JUnit warns about a link that leads out of its folder
        assertTrue(result.out().startsWith(VERSION), result::out);
        assertEquals("", result.err());
    }

    @Test
    void theCacheBelongsToThePlaceWhereTheImageStands() throws Exception {
        Path cache = Checkout.image().resolve("cache");
        assertTrue(Files.size(cache.resolve("weft.aot")) > 0);
        assertEquals(Checkout.image().toRealPath() + "\n", Files.readString(cache.resolve("place")));
    }

    @Test
    void aMovedImageStartsQuietlyAndMakesItselfACache(@TempDir(factory = InTarget.class) Path folder) throws Exception {
        Path moved = folder.resolve("moved image");
        copyTo(moved);
        for (int start = 0; start < 2; start++) {
            Program.Result result = Program.of(moved.resolve("bin/weft").toString(), "--version")
                    .run()
                    .expect(0);
            assertTrue(result.out().startsWith(VERSION), result::out);
            assertEquals("", result.err());
        }
        assertEquals(moved.toRealPath() + "\n", Files.readString(moved.resolve("cache/place")));
    }

    @Test
    void anUnfitCacheIsPassedOverInSilence(@TempDir(factory = InTarget.class) Path folder) throws Exception {
        Path other = folder.resolve("other");
        copyTo(other);
        // As if a disk had filled up while it was written.
        Files.writeString(other.resolve("cache/weft.aot"), "no cache");
        Files.writeString(other.resolve("cache/place"), other.toRealPath() + "\n");
        Program.Result result = Program.of(other.resolve("bin/weft").toString(), "--version")
                .run()
                .expect(0);
        assertTrue(result.out().startsWith(VERSION), result::out);
        assertEquals("", result.err());
    }

    @Test
    void exitCodesAndArgumentsWithSpacesPassThrough() throws Exception {
        Program.Result result = Program.weft("no such command").run().expect(2);
        assertTrue(result.err().contains("no such command"), result::err);
    }

    @Test
    void itStartsWhereAddressesAreLimited() throws Exception {
        String start = "ulimit -v 2000000 && exec \"$0\" --version";
        Program.Result result = Program.of(
                        "sh", "-c", start, Checkout.image().resolve("bin/weft").toString())
                .run()
                .expect(0);
        assertTrue(result.out().startsWith(VERSION), result::out);
        assertEquals("", result.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"LANG=C", "LC_ALL=C", "LC_CTYPE=POSIX", "LANG="})
    void filesOfAnyNameAreFoundWithoutALocale(String locale) throws Exception {
        // The name is made by the shell: this JVM may have no locale, either.
        String start =
                "exec env -u LC_ALL -u LC_CTYPE -u LANG \"$1\" \"$0\" pool replay \"$(printf '\\303\\274.csv')\"";
        Program.Result result = Program.of(
                        "sh", "-c", start, Checkout.image().resolve("bin/weft").toString(), locale)
                .run()
                .expect(2);
        assertEquals("weft: read trace: \u00fc.csv does not exist\n", result.err());
    }

    @Test
    void itHoldsWhatTheArchitectureSays() {
        for (String part : List.of("bin/weft", "lib", "runtime/bin/java", "LICENSE")) {
            assertTrue(Files.exists(Checkout.image().resolve(part)), part);
        }
        Path sim = Checkout.image().resolve("lib/weft-hal-sim-" + Checkout.version() + ".jar");
        assertFalse(Files.exists(sim), "a plugin is never on the command's own module path");
    }

    @Test
    void aReadOnlyImageStillStarts(@TempDir(factory = InTarget.class) Path folder) throws Exception {
        Path other = folder.resolve("other");
        copyTo(other);
        Files.delete(other.resolve("cache/place"));
        Files.delete(other.resolve("cache/weft.aot"));
        Files.delete(other.resolve("cache"));
        Program.Result result = Program.of(other.resolve("bin/weft").toString(), "--version")
                .run()
                .expect(0);
        assertTrue(result.out().startsWith(VERSION), result::out);
        assertEquals("", result.err());
    }

    /** A copy with its own cache; all that is only read is linked, not copied. */
    private static void copyTo(Path other) throws Exception {
        // Not every file system has hard links.
        String copy = "cp -al \"$0\" \"$1\" 2>/dev/null || { rm -rf \"$1\"; cp -a \"$0\" \"$1\"; }";
        Program.of("sh", "-c", copy, Checkout.image().toString(), other.toString())
                .run()
                .expect(0);
        Path cache = other.resolve("cache");
        Program.of("rm", "-r", cache.toString()).run().expect(0);
        Program.of("cp", "-a", Checkout.image().resolve("cache").toString(), cache.toString())
                .run()
                .expect(0);
    }
}
