// SPDX-License-Identifier: Apache-2.0
package io.weft.amd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.amd.topology.Examples;
import io.weft.api.AcceleratorException;
import io.weft.api.Accelerators;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.topology.LinkKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineOfFilesTest {
    @TempDir
    Path folder;

    @Test
    void aNodesOwnFilesOpenAsAMachine() {
        for (String uri : new String[] {
            "amd:xml=" + Examples.ours("rccl-topology.xml") + "?mode=timing",
            "amd:kfd=" + Examples.ours("") + "?mode=timing"
        }) {
            try (Platform platform = Accelerators.discover().open(uri)) {
                assertEquals(4, platform.devices().size());
                assertEquals(
                        "0000:c1:00.0",
                        platform.devices().getFirst().properties().busId());
                assertEquals(LinkKind.IN_PACKAGE, platform.topology().link(0, 1).kind());
                assertEquals(2, platform.topology().link(0, 2).width());
                assertEquals(2, platform.topology().link(0, 3).hops());
                assertTrue(platform.topology().link(0, 1).bandwidth() > 140, uri);
            }
        }
    }

    @Test
    void theMi300xFileOpensAsAFullMesh() {
        try (Platform platform =
                Accelerators.discover().open("amd:xml=" + Examples.real("topo-xml/topo_8p_940.xml") + "?mode=timing")) {
            assertEquals(1, platform.topology().link(0, 7).hops());
            assertEquals(48, platform.topology().link(0, 7).bandwidth(), 0.5);
        }
    }

    @Test
    void whatHasNoModelOrContradictsItselfIsRefusedInOneLine() throws IOException {
        String text = Files.readString(Examples.ours("rccl-topology.xml"));
        refused(text.replace("gcn=\"910\"", "gcn=\"906\"").replace("0x7408", "0x66a1"), "accepted are MI100, MI250X");
        refused(text.replaceFirst("count=\"4\"", "count=\"1\""), "not alike in both directions");
        refused("<system>", "broken or cut off");
    }

    private void refused(String text, String words) throws IOException {
        Path file = folder.resolve("node.xml");
        Files.writeString(file, text);
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class, () -> Accelerators.discover().open("amd:xml=" + file));
        assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code());
        assertTrue(refusal.getMessage().contains(words), refusal.getMessage());
        assertEquals(1, refusal.getMessage().lines().count());
    }
}
