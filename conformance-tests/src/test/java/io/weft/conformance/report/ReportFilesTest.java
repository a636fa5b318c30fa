// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.conformance.Conformance;
import io.weft.conformance.Report;
import io.weft.conformance.RunOptions;
import io.weft.conformance.Subject;
import io.weft.conformance.UnusableInput;
import io.weft.conformance.mutants.Mutant;
import io.weft.conformance.mutants.MutantProvider;
import io.weft.conformance.mutants.Mutants;
import io.weft.sim.provider.SimProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ReportFilesTest {
    /** A run with one broken rule, one that holds and one that does not apply. */
    private static Report report() {
        Mutant mutant = Mutants.all().stream()
                .filter(one -> one.rule().equals("DEV-003"))
                .findFirst()
                .orElseThrow();
        Subject subject = Subject.of(
                new MutantProvider(new SimProvider(), mutant.mutation().get()), Mutant.MESH, List.of());
        return Conformance.run(
                subject, RunOptions.defaults().withSeed(11).withRules(List.of("DEV-001", "DEV-003", "PRV-013")));
    }

    @Test
    void theJsonHasEverythingThatAClaimNeeds(@TempDir Path folder) throws Exception {
        ReportFiles.write(report(), folder.resolve("made").resolve("here"));
        JsonNode root =
                JsonMapper.builder().build().readTree(Files.readString(folder.resolve("made/here/report.json")));
        assertEquals(1, root.get("format").intValue());
        assertFalse(root.get("good").booleanValue());
        assertEquals("sim", root.at("/environment/plugin/id").asString());
        assertEquals("mesh-8", root.at("/environment/machine").asString());
        assertEquals(8, root.at("/environment/devices").size());
        assertEquals(64, root.at("/environment/suite/sha256").asString().length());
        assertFalse(root.at("/environment/os").asString().isBlank());
        assertFalse(root.at("/environment/jdk").asString().isBlank());
        assertEquals(11, root.at("/options/seed").intValue());
        assertEquals(1, root.at("/counts/broken").intValue());
        assertEquals(1, root.at("/counts/not applicable").intValue());
        JsonNode broken = root.get("rules").get(1);
        assertEquals("DEV-003", broken.get("id").asString());
        assertEquals("broken", broken.get("outcome").asString());
        assertTrue(broken.get("again").asString().contains("--rule DEV-003"));
        assertEquals(
                0, root.get("figures").size(), "figures of a backend that breaks a rule would be of something else");
        assertEquals(0, root.at("/waivers/knownFailures").size());
    }

    @Test
    void theXmlIsWhatBuildServersRead(@TempDir Path folder) throws Exception {
        ReportFiles.write(report(), folder);
        Element suite = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(folder.resolve("TEST-conformance.xml").toFile())
                .getDocumentElement();
        assertEquals("testsuite", suite.getTagName());
        assertEquals("3", suite.getAttribute("tests"));
        assertEquals("1", suite.getAttribute("failures"));
        assertEquals("1", suite.getAttribute("skipped"));
        assertEquals(3, suite.getElementsByTagName("testcase").getLength());
    }

    @Test
    void thePageShowsWhatIsBroken(@TempDir Path folder) throws Exception {
        ReportFiles.write(report(), folder);
        String page = Files.readString(folder.resolve("index.html"));
        assertTrue(page.contains("The backend does not conform."), page);
        assertTrue(page.contains("DEV-003"), page);
        assertTrue(page.contains("check first:"), page);
        assertFalse(page.contains("http"), "the page must need nothing from elsewhere");
    }

    @Test
    void hostileTextIsEscaped() {
        assertEquals("&lt;b&gt;&amp;&quot;&#39;?", Text.xml("<b>&\"'\u0001"));
    }

    @Test
    void aFolderThatCannotBeWrittenIsNamed(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "in the way");
        Report report = report();
        UnusableInput refusal = assertThrows(UnusableInput.class, () -> ReportFiles.write(report, file.resolve("out")));
        assertTrue(refusal.getMessage().contains(file.toString()), refusal.getMessage());
    }
}
