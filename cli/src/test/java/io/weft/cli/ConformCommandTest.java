// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConformCommandTest {
    @Test
    void oneRuleIsJudgedAlone() {
        Invocation call = Invocation.of("conform", "--on", "sim:mesh-8", "--rule", "STR-003");
        assertEquals(0, call.code(), call.err());
        assertTrue(call.out().contains("1 rules: 1 passed"), call.out());
        assertTrue(call.out().contains("The backend conforms, as far as this run asked."), call.out());
    }

    @Test
    void aReportIsWrittenAndPrintedAsJson(@TempDir Path folder) throws Exception {
        Path out = folder.resolve("report");
        Invocation call = Invocation.of(
                "conform", "--on", "sim:mesh-8", "--rule", "DEV-001,MEM-002", "--report", out.toString(), "--json");
        assertEquals(0, call.code(), call.err());
        assertEquals(
                call.out().strip(), Files.readString(out.resolve("report.json")).strip());
        assertTrue(Files.exists(out.resolve("TEST-conformance.xml")));
        assertTrue(Files.exists(out.resolve("index.html")));
    }

    @Test
    void aBadRunEndsWithOneAndSaysWhatIsWrong() {
        Invocation call = Invocation.of("conform", "--on", "sim:mesh-8?mode=timing", "--level", "core", "--strict");
        assertEquals(1, call.code(), call.out());
        assertTrue(call.out().contains("PROBLEM the platform does not declare STORAGE"), call.out());
        assertTrue(call.out().contains("The backend does not conform."), call.out());
    }

    @Test
    void aStaleWaiverIsABrokenRunWithTheCommandToRunItAgain(@TempDir Path folder) throws Exception {
        Path waivers = Files.writeString(folder.resolve("waivers.yaml"), """
                known-failures:
                  - rule: DEV-003
                    reason: none
                    issue: https://example.org/1
                    device: .
                    expires: 2999-01-01
                """);
        Invocation call =
                Invocation.of("conform", "--on", "sim:mesh-8", "--rule", "DEV-003", "--waivers", waivers.toString());
        assertEquals(1, call.code(), call.out());
        assertTrue(call.out().contains("UNEXPECTED PASS DEV-003"), call.out());
        assertTrue(call.out().contains("weft conform --on 'sim:mesh-8' --rule DEV-003 --seed 1"), call.out());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--on sim:mesh-8 --rule STR-999|STR has STR-001 to",
                "--on sim:mesh-8 --rule nonsense|areas are",
                "--on sim:mesh-9|mesh-8",
                "--on nothing:mesh-8|there is no provider 'nothing'",
                "--on sim:mesh-8 --level most|CORE",
                "--on sim:mesh-8 --profile teleport|collectives, symmetric-memory, graphs, virtual-memory",
                "--on sim:mesh-8 --order backwards|CATALOGUE",
                "--on sim:mesh-8 --seed many|--seed",
                "--on sim:mesh-8 --patience 0|at least 1 second",
                "--on sim:mesh-8 --waivers no/such/file.yaml|no/such/file.yaml",
                "--on sim:mesh-8 --rule DEV-001 -D decorators=gold|there is no decorator 'gold'",
                "--level core|--on",
            })
    void unusableInputGetsOneLine(String options, String word) {
        Invocation call = Invocation.of(("conform " + options).split(" ", -1));
        assertEquals(2, call.code(), call.out() + call.err());
        assertEquals(1, call.err().strip().lines().count(), call.err());
        assertTrue(call.err().contains(word), call.err());
        assertFalse(call.err().contains("\tat "), call.err());
        assertEquals("", call.out());
    }
}
