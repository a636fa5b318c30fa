// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class MachineReaderTest {
    private static final String GOOD = MachineCatalog.text("ring-4");

    /** What is changed in a good document, and what the refusal must say. */
    static List<Arguments> faults() {
        List<Arguments> faults = new ArrayList<>();
        faults.add(Arguments.of(
                "an unknown key",
                "max_split_k: 4",
                "max_splitk: 4",
                "compute.max_splitk: unknown key, did you mean 'max_split_k'?"));
        faults.add(Arguments.of(
                "a misspelt key",
                "units: 110",
                "unit: 110",
                "compute.units: this key is missing; there is an unknown key 'unit'"));
        faults.add(Arguments.of(
                "a text for a number",
                "clock_ghz: 1.7",
                "clock_ghz: fast",
                "compute.clock_ghz: found 'fast', expected a number above 0"));
        faults.add(Arguments.of(
                "a quoted number", "clock_ghz: 1.7", "clock_ghz: '1.7'", "clock_ghz: found '1.7', expected a number"));
        faults.add(Arguments.of(
                "a negative number",
                "size_gib: 64 ",
                "size_gib: -64 ",
                "memory.size_gib: found '-64', expected a number above 0"));
        faults.add(Arguments.of(
                "zero",
                "bandwidth_gb_per_s: 1638",
                "bandwidth_gb_per_s: 0",
                "memory.bandwidth_gb_per_s: found '0', expected a number above 0"));
        faults.add(Arguments.of(
                "not a number",
                "setup_ns: 500",
                "setup_ns: .nan",
                "copy_engines.setup_ns: found '.nan', expected a number"));
        faults.add(Arguments.of(
                "infinity",
                "setup_ns: 500",
                "setup_ns: .inf",
                "copy_engines.setup_ns: found '.inf', expected a number"));
        faults.add(Arguments.of(
                "a share above 1",
                "efficiency: 0.77",
                "efficiency: 77",
                "links[0].efficiency: found '77', expected a number above 0 and at most 1"));
        faults.add(Arguments.of(
                "half a queue",
                "hardware_queues: 4",
                "hardware_queues: 4.5",
                "hardware_queues: found '4.5', expected a whole number"));
        faults.add(Arguments.of(
                "a route over no link",
                "links:\n",
                "routes:\n  - {path: [0, 2]}\n\nlinks:\n",
                "routes[0].path: a route leads from 0 to 2, which no link joins"));
        faults.add(Arguments.of(
                "a route in a circle",
                "links:\n",
                "routes:\n  - {path: [0, 1, 0]}\n\nlinks:\n",
                "routes[0].path: a route needs two or more different devices"));
        faults.add(Arguments.of(
                "a missing key",
                "      size_gib: 64            # data sheet\n",
                "",
                "memory.size_gib: this key is missing"));
        faults.add(
                Arguments.of("a missing block", "    host_link:", "    hostlink:", "host_link: this key is missing"));
        faults.add(Arguments.of(
                "an empty value",
                "architecture: ring",
                "architecture:",
                "architecture: found nothing, expected a text"));
        faults.add(Arguments.of(
                "a list for a block",
                "    memory:\n",
                "    memory: [1, 2]\n    rest:\n",
                "memory: found a list of 2, expected a block of keys"));
        faults.add(Arguments.of(
                "a block for a list",
                "      tiles: ",
                "      tiles: {a: 1}\n      more: ",
                "tiles: found a block of keys, expected a list"));
        faults.add(
                Arguments.of(
                        "an unknown choice",
                        "kind: fabric",
                        "kind: fabrik",
                        "links[0].kind: found 'fabrik', expected one of fabric, in-package, pcie, host, network, did you mean 'fabric'?"));
        faults.add(Arguments.of(
                "a dangling link",
                "ring: all",
                "between: [0, 9]",
                "links[0].between: found '9', expected a device from 0 to 3"));
        faults.add(Arguments.of(
                "an unknown switch", "ring: all", "between: [0, core]", "found 'core', expected a device from 0 to 3"));
        faults.add(Arguments.of(
                "a link to itself",
                "ring: all",
                "between: [1, 1]",
                "links[0].between: a link joins vertex 1 with itself"));
        faults.add(Arguments.of("one end", "ring: all", "between: [1]", "between: found 1 ends, expected two"));
        faults.add(Arguments.of(
                "no ends", "    ring: all\n", "", "found no ends, expected one of between, mesh, ring, attach"));
        faults.add(Arguments.of(
                "two shapes", "ring: all", "ring: all\n    mesh: all", "found beside 'mesh', expected only one"));
        faults.add(Arguments.of(
                "a device out of range",
                "ring: all",
                "ring: [0-4]",
                "ring: found '0-4', expected a device or range of devices between 0 and 3"));
        faults.add(Arguments.of("a device twice", "ring: all", "ring: [0-3, 2]", "ring: one device stands twice"));
        faults.add(Arguments.of(
                "unreachable devices", "ring: all", "ring: [0-2]", "no path of links leads from device 0 to device 3"));
        faults.add(
                Arguments.of(
                        "a link twice",
                        "\nforwarding",
                        "  - {kind: fabric, between: [0, 1], bandwidth_gb_per_s: 1, latency_ns: 1}\n\nforwarding",
                        "links[1].between: two FABRIC links join device 0 and device 1; parallel links are one link with a width"));
        faults.add(Arguments.of(
                "too many devices",
                "count: 4",
                "count: 65537",
                "count: the machine would have 65537 devices; expected at most 65536"));
        faults.add(Arguments.of(
                "a key twice",
                "fp8: none",
                "fp8: none\n    fp8: ocp",
                "fp8: this key stands twice; it was first given in line"));
        faults.add(Arguments.of(
                "fp8 without an encoding",
                "int8: 191.5",
                "fp8: 191.5",
                "peak_tflops.fp8: this device has no 8-bit floats"));
        faults.add(Arguments.of(
                "an unknown operation",
                "operations: [barrier]",
                "operations: [barier]",
                "operations: found 'barier', expected one of all-reduce"));
        faults.add(Arguments.of(
                "ranges out of order",
                "up_to_bytes: 131072, ",
                "up_to_bytes: 131072, algorithm: ring, base_ns: 1, compute_units: 1}\n      - {up_to_bytes: 10, ",
                "up_to_bytes: found 10, expected more than in the range before"));
        faults.add(Arguments.of(
                "sizes that no way serves",
                "  - ranges:\n",
                "  - choose: fastest\n    ranges:\n      - {above_bytes: 5, algorithm: ring, base_ns: 1, compute_units: 1}\n  - ranges:\n",
                "ranges: no way serves 0 bytes"));
        faults.add(Arguments.of(
                "a way without sizes",
                "  - ranges:\n      - {up_to_bytes: 131072, ",
                "  - choose: fastest\n    ranges:\n      - {above_bytes: 200, up_to_bytes: 100, ",
                "up_to_bytes: found 100, expected more than above_bytes, 200"));
        faults.add(Arguments.of(
                "an odd alignment",
                "allocation_alignment_bytes: 256",
                "allocation_alignment_bytes: 300",
                "allocation_alignment_bytes: the allocation alignment must be a power of two"));
        faults.add(Arguments.of(
                "an engine that is not there",
                "map: per-peer",
                "map: [0, 1, 2, 9]",
                "copy_engines.map: found '9', expected an engine from 0 to 4"));
        faults.add(Arguments.of(
                "a short engine map",
                "map: per-peer",
                "map: [0, 1]",
                "copy_engines.map: found 2 engines, expected one for each of 4 devices"));
        faults.add(Arguments.of("bad syntax", "machine: ring-4", "machine: [ring-4", "not valid YAML"));
        faults.add(Arguments.of("a tab", "    name: Ring", "\tname: Ring", "not valid YAML"));
        faults.add(Arguments.of(
                "an anchor", "    compute:\n", "    compute: &n\n", "found the anchor '&n'; anchors are not accepted"));
        faults.add(Arguments.of("an alias", "machine: ring-4", "machine: *x", "aliases are not accepted"));
        faults.add(Arguments.of(
                "two documents", "\nforwarding_efficiency", "\n---\nforwarding_efficiency", "expected one machine"));
        return faults;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("faults")
    void aFaultIsRefusedWithFileLineKeyAndWhatIsExpected(String what, String from, String to, String expected) {
        assertTrue(GOOD.contains(from), "the document has no longer: " + from);
        String bad =
                GOOD.replaceFirst(java.util.regex.Pattern.quote(from), java.util.regex.Matcher.quoteReplacement(to));
        String message = refusal(bad);
        assertTrue(message.contains(expected), what + ": " + message);
        assertTrue(message.matches("(?s).*mine\\.yaml:\\d+: .*"), message);
        assertFalse(message.contains("\n"), message);
    }

    @Test
    void theLineIsTheOneOfTheFault() {
        int line = (int) GOOD.substring(0, GOOD.indexOf("clock_ghz")).lines().count();
        String message = refusal(GOOD.replace("clock_ghz: 1.7", "clock_ghz: fast"));
        assertTrue(message.contains("mine.yaml:" + line + ": devices[0].compute.clock_ghz"), message);
    }

    @Test
    void aMeshThatWouldNotFitIsRefusedBeforeItIsMade() {
        String message = refusal(GOOD.replace("count: 4", "count: 60000").replace("ring: all", "mesh: all"));
        assertTrue(
                message.contains("mesh: the machine would have 1799970000 links; expected at most 4194304"), message);
    }

    @Test
    void anAliasBombIsRefusedAtItsFirstAnchor() {
        StringBuilder bomb = new StringBuilder("a: &a [x, x, x, x, x, x, x, x, x]\n");
        for (char c = 'b'; c < 'j'; c++) {
            char before = (char) (c - 1);
            bomb.append(c).append(": &").append(c).append(" [");
            bomb.append(("*" + before + ", ").repeat(8))
                    .append('*')
                    .append(before)
                    .append("]\n");
        }
        assertTrue(refusal(bomb.toString()).contains("anchors are not accepted"));
    }

    @Test
    void deepNestingIsRefused() {
        assertTrue(refusal("machine: " + "[".repeat(5000)).contains("nest"), refusal("machine: " + "[".repeat(5000)));
    }

    @Test
    void anEmptyDocumentAndAListAreRefused() {
        assertTrue(refusal("").contains("mine.yaml:1: the document is empty"));
        assertTrue(refusal("# nothing\n").contains("the document is empty"));
        assertTrue(refusal("- a\n- b\n").contains("found a list of 2, expected the keys of a machine"));
    }

    @Test
    void aDirectoryAMissingFileAndBytesThatAreNoTextAreRefused(@TempDir Path folder) throws Exception {
        assertTrue(refusal(folder).contains("this is a directory; expected a machine document"));
        assertTrue(refusal(folder.resolve("none.yaml")).contains("there is no such file"));
        Path latin = folder.resolve("latin.yaml");
        Files.write(latin, "machine: a\nname: caf\u00e9\n".getBytes(StandardCharsets.ISO_8859_1));
        assertTrue(refusal(latin).contains("latin.yaml:2: byte 20 is not UTF-8"), refusal(latin));
        Path binary = folder.resolve("binary.yaml");
        Files.write(binary, new byte[] {0, 1, 2, 3});
        assertTrue(refusal(binary).contains("not valid YAML"), refusal(binary));
    }

    @Test
    void aPrescribedPathIsTakenInBothDirections() {
        Machine machine = MachineReader.read("mine.yaml", GOOD + "\nroutes:\n  - {path: [0, 3, 2, 1]}\n");
        assertEquals(3, machine.route(0, 1).hops());
        assertEquals(3, machine.route(1, 0).hops());
        assertEquals(1, machine.route(1, 2).hops());
        for (int i = 0; i < 3; i++) {
            assertEquals(machine.route(0, 1).link(i) ^ 1, machine.route(1, 0).link(2 - i));
        }
    }

    @Test
    void thePathBackIsThePathThere() {
        Machine ring = MachineReader.read("mine.yaml", GOOD);
        assertEquals(ring.route(0, 2).link(0) ^ 1, ring.route(2, 0).link(1));
        assertEquals(ring.route(0, 2).link(1) ^ 1, ring.route(2, 0).link(0));
    }

    @Test
    void aByteOrderMarkDoesNoHarm(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("marked.yaml");
        Files.writeString(file, "\uFEFF" + GOOD);
        assertEquals("ring-4", MachineReader.read(file).name());
    }

    private static String refusal(String text) {
        AcceleratorException refused =
                assertThrows(AcceleratorException.class, () -> MachineReader.read("mine.yaml", text));
        assertEquals(ErrorCode.BAD_DOCUMENT, refused.code());
        return refused.getMessage();
    }

    private static String refusal(Path file) {
        AcceleratorException refused = assertThrows(AcceleratorException.class, () -> MachineReader.read(file));
        assertEquals(ErrorCode.BAD_DOCUMENT, refused.code());
        return refused.getMessage();
    }
}
