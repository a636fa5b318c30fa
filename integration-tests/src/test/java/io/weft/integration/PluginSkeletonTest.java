// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The skeleton that plugin authors copy: it builds as it is, is found, opens, and its conformance run is a list of things to do. */
class PluginSkeletonTest {
    private static final Path SKELETON = Checkout.root().resolve("docs/plugin-skeleton");

    @Test
    void itBuildsIsFoundAndItsConformanceRunReadsAsAListOfThingsToDo() throws Exception {
        OutsideProject skeleton = OutsideProject.create("plugin-skeleton").copyFrom(SKELETON);
        // Its tests fail, and the jar is built all the same.
        skeleton.maven("verify", "-Dmaven.test.failure.ignore=true").expect(0);
        String report = Files.readString(skeleton.folder()
                .resolve("target/surefire-reports/TEST-com.example.skeleton.SkeletonConformanceTest.xml"));
        assertTrue(report.contains("MEM-002"), "a test is named after its rule");
        assertTrue(
                Pattern.compile("<testsuite [^>]*failures=\"[1-9]")
                        .matcher(report)
                        .find(),
                "a plugin that refuses everything must not pass its own tests");
        List<String> said = PluginGuideTest.conform(skeleton.jar(), "skeleton:none", 1);
        assertTrue(said.stream().anyMatch(line -> line.startsWith("BROKEN MEM-002")), () -> String.join("\n", said));
        assertTrue(
                said.stream().anyMatch(line -> line.contains("allocate: this plugin does not do it yet")),
                () -> String.join("\n", said));
        assertTrue(
                said.stream().anyMatch(line -> line.contains("not judged")),
                () -> "later rules wait for earlier ones: " + String.join("\n", said));
        assertFalse(said.stream().anyMatch(line -> line.startsWith("HUNG")), () -> String.join("\n", said));
    }
}
