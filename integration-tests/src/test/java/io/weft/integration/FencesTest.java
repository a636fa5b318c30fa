// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FencesTest {

    @Test
    void commandsAreFoundWithTheirPlaceAndOutput(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("a.md"), """
                text
                ```sh
                $ ./weft --version
                weft 1
                $ ./weft plan \\
                    --on x
                ```
                ```text
                $ not a command
                ```
                """);
        assertEquals(
                List.of(
                        new Fences.Shown(file, 3, "./weft --version", List.of("weft 1")),
                        new Fences.Shown(file, 5, "./weft plan --on x", List.of())),
                Fences.commands(file));
        assertEquals(List.of(List.of("$ not a command")), Fences.blocks(file, "text"));
    }

    @Test
    void dotsStandForAnyNumberOfLines() {
        List<String> shown = List.of("first", "...", "last");
        assertTrue(Fences.matches(shown, List.of("first", "last")));
        assertTrue(Fences.matches(shown, List.of("first", "a", "b", "last")));
        assertFalse(Fences.matches(shown, List.of("first", "a", "b")));
        assertFalse(Fences.matches(List.of("first"), List.of("first", "more")));
    }
}
