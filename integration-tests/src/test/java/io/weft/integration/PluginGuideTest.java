// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The guide for plugin authors: its own files are built, judged by their own build, and dropped into a plugin folder. */
class PluginGuideTest {
    private static final Path GUIDE = Checkout.root().resolve("docs/writing-a-plugin.md");

    private static OutsideProject toy;

    @BeforeAll
    static void follow() throws IOException, InterruptedException {
        toy = OutsideProject.create("writing-a-plugin");
        for (Map.Entry<String, String> file : Fences.files(GUIDE).entrySet()) {
            toy.write(file.getKey(), file.getValue());
        }
        toy.maven("verify").expect(0);
    }

    @Test
    void itsOwnBuildJudgedItRuleByRule() throws IOException {
        String report = Files.readString(
                toy.folder().resolve("target/surefire-reports/TEST-com.example.toy.ToyConformanceTest.xml"));
        assertTrue(report.contains("MEM-004"), "a test is named after its rule");
    }

    @Test
    void theCommandFindsItInAPluginFolderAndItPassesCore() throws Exception {
        List<String> said = conform(toy.jar(), "toy:host", 0);
        for (String line : documented("text conform-core")) {
            assertTrue(said.contains(line), () -> "missing: " + line + " in " + said);
        }
    }

    @Test
    void aBrokenCopyIsNamedAsTheGuideShows() throws Exception {
        OutsideProject broken = OutsideProject.create("writing-a-plugin-broken");
        for (Map.Entry<String, String> file : Fences.files(GUIDE).entrySet()) {
            String text = file.getValue()
                    .replace("case Command.Copy copy -> ToyKernels.copy(copy);", "case Command.Copy copy -> {}")
                    .replace(
                            "case Command.CopyStrided copy -> ToyKernels.copy(copy);",
                            "case Command.CopyStrided copy -> {}");
            broken.write(file.getKey(), text);
        }
        broken.maven("package", "-DskipTests").expect(0);
        List<String> said = conform(broken.jar(), "toy:host", 1);
        assertTrue(Fences.matches(documented("text conform-broken"), said), () -> String.join("\n", said));
    }

    /** Runs the suite on a plugin that lies in a folder by itself. */
    static List<String> conform(Path jar, String uri, int exitCode) throws IOException, InterruptedException {
        Path plugins = Files.createDirectories(jar.resolveSibling("plugins"));
        Files.copy(jar, plugins.resolve(jar.getFileName()), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        return Program.weft("conform", "--on", uri, "--level", "core")
                .with("WEFT_PLUGINS_PATH", plugins.toString())
                .run()
                .expect(exitCode)
                .out()
                .lines()
                .filter(Predicate.not(String::isBlank))
                .toList();
    }

    private static List<String> documented(String info) throws IOException {
        List<List<String>> blocks = Fences.blocks(GUIDE, info);
        assertEquals(1, blocks.size(), "the guide has one block of " + info);
        return blocks.getFirst().stream().filter(Predicate.not(String::isBlank)).toList();
    }
}
