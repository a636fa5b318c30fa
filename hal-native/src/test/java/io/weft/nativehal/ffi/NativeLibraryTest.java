// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Libraries, functions, and what is missing; on the C library, which is everywhere. */
class NativeLibraryTest {
    @TempDir
    Path folder;

    private static NativeLibrary c() {
        Optional<NativeLibrary> found =
                NativeLibrary.open(List.of("libc.so.6"), List.of(), List.of(), new ArrayList<>());
        assumeTrue(found.isPresent(), "there is no libc.so.6 here");
        return found.orElseThrow();
    }

    @Test
    void aFunctionIsFoundAndCalled() {
        MemorySegment strlen = c().find("strlen");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom("shuttle");
            assertEquals(7, Native.call(strlen, text.address()));
            assertEquals("shuttle", Native.text(text.address()));
        }
        assertEquals("", Native.text(0));
    }

    @Test
    void aMissingFunctionIsNotedAndNamedWhenItIsNeeded() {
        NativeLibrary library = c();
        assertNull(library.find("weft_is_not_here"));
        assertEquals(Set.of("weft_is_not_here"), library.missing());
        AcceleratorException refused =
                assertThrows(AcceleratorException.class, () -> library.need(null, "weft_is_not_here", "weave"));
        assertEquals(ErrorCode.UNSUPPORTED, refused.code());
        assertTrue(refused.getMessage().contains("libc.so.6 has no function weft_is_not_here"), refused.getMessage());
        MemorySegment there = library.find("strlen");
        assertEquals(there, library.need(there, "strlen", "weave"));
    }

    @Test
    void aFileThatIsNoLibraryIsRefusedByItsNameAndTheNextOneTried() throws IOException {
        Files.writeString(folder.resolve("libc.so.6"), "not a library");
        List<String> refusals = new ArrayList<>();
        assertNotNull(NativeLibrary.open(List.of("libc.so.6"), List.of(folder), List.of(), refusals));
        assertEquals(List.of(folder.resolve("libc.so.6") + " cannot be loaded"), refusals);
    }

    @Test
    void foldersAreSplitAtColonsAndBlanksLeftOut() {
        assertEquals(List.of(Path.of("/a"), Path.of("/b c")), NativeLibrary.folders("/a::/b c: "));
        assertEquals(List.of(), LibraryFolders.ofSetting("io.weft.no.such.property", "WEFT_NO_SUCH_VARIABLE"));
        assertEquals(List.of(), LibraryFolders.children(folder.resolve("none")));
    }
}
