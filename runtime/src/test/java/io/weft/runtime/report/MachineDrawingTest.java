// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Platform;
import io.weft.runtime.sketch.SketchPlatform;
import java.io.StringReader;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

final class MachineDrawingTest {
    private static String dot(Platform platform) {
        return MachineDrawing.dot(MachineDrawing.describe(platform));
    }

    private static String svg(Platform platform) {
        return MachineDrawing.svg(MachineDrawing.describe(platform));
    }

    private static Document parse(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
    }

    @Test
    void dotDrawsBothDirectionsAsOneWhenTheyAreAlike() {
        String dot = dot(SketchPlatform.ring(4, 50, "device \"x\"\nof a name"));
        assertEquals("""
                // ring (sketch:ring-4, model figures): GB/s each way
                digraph "ring (sketch:ring-4, model figures)" {
                  node [shape=box, style=rounded, fontname="sans-serif"];
                  0 [label="0\\ndevice \\"x\\"\\nof a name"];
                  1 [label="1\\ndevice \\"x\\"\\nof a name"];
                  2 [label="2\\ndevice \\"x\\"\\nof a name"];
                  3 [label="3\\ndevice \\"x\\"\\nof a name"];
                  0 -> 1 [label="wire x2 50.0", penwidth=2, dir=both];
                  0 -> 3 [label="wire x2 50.0", penwidth=2, dir=both];
                  1 -> 2 [label="wire x2 50.0", penwidth=2, dir=both];
                  2 -> 3 [label="wire x2 50.0", penwidth=2, dir=both];
                }
                """, dot);
    }

    @Test
    void dotDrawsUnlikeDirectionsApart() {
        String dot = dot(SketchPlatform.ring(3, 25, "d"));
        assertTrue(dot.contains("0 -> 1 [label=\"wire x2 50.0\", penwidth=2];"), dot);
        assertTrue(dot.contains("1 -> 0 [label=\"wire x2 25.0\", penwidth=2];"), dot);
        assertFalse(dot.contains("dir=both"), dot);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 8, 32, 33, 64, 65, 200})
    void theDrawingIsWellFormedAtEverySize(int devices) throws Exception {
        Document svg = parse(svg(SketchPlatform.ring(devices, 50, "d")));
        assertEquals("svg", svg.getDocumentElement().getTagName());
        assertEquals(
                devices <= 64 ? devices : 0, svg.getElementsByTagName("circle").getLength());
    }

    @Test
    void namesAreEscaped() throws Exception {
        Platform platform = SketchPlatform.ring(2, 50, "<script>");
        assertFalse(svg(platform).contains("<script>"));
        parse(svg(platform));
    }

    @Test
    void tooManyDevicesForADrawingAreRefusedWithTheWayOut() {
        AcceleratorException refusal =
                assertThrows(AcceleratorException.class, () -> svg(SketchPlatform.ring(513, 50, "d")));
        assertEquals("a drawing shows 512 devices at most, and this machine has 513; use --json", refusal.detail());
    }
}
