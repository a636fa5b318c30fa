// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The example application, as a stranger builds it: a copy outside the reactor, with our artifacts from a repository
 * that holds nothing but what this build would publish, and everybody else's from where Maven keeps them.
 */
class FirstApplicationTest {

    private static final Path EXAMPLE = Checkout.root().resolve("docs/examples/first-app");

    private static OutsideProject project;
    private static Path jar;
    private static List<Path> path;

    @BeforeAll
    static void build() throws IOException, InterruptedException {
        assumeTrue(Files.exists(EXAMPLE.resolve("pom.xml")), "docs/examples/first-app is not there yet");
        project = OutsideProject.create("first-app").copyFrom(EXAMPLE);
        Path classPath = project.scratch().resolve("classpath.txt");
        project.maven(
                        "-Dmdep.outputFile=" + classPath,
                        "package",
                        "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:build-classpath")
                .expect(0);
        jar = project.jar();
        path = new ArrayList<>(List.of(jar));
        for (String entry : Files.readString(classPath).strip().split(File.pathSeparator, -1)) {
            path.add(Path.of(entry));
        }
    }

    @Test
    void itRunsOnTheClassPathAndPrintsWhatItsReadmeSays() throws Exception {
        assertEquals(documented(), run("--class-path", joined(), mainClass()));
    }

    @Test
    void itRunsOnTheModulePathAndPrintsWhatItsReadmeSays() throws Exception {
        String module =
                ModuleFinder.of(jar).findAll().iterator().next().descriptor().name();
        assertEquals(documented(), run("--module-path", joined(), "--module", module + "/" + mainClass()));
    }

    @Test
    void ourArtifactsCameFromThePublishedOnes() throws Exception {
        Path local = project.repository().resolve("io/weft").toRealPath();
        List<Path> ours = path.stream()
                .filter(entry -> entry.getFileName().toString().startsWith("weft-"))
                .toList();
        assertTrue(!ours.isEmpty(), () -> "no Weft artifact on " + path);
        for (Path artifact : ours) {
            assertTrue(artifact.toRealPath().startsWith(local), artifact + " came from elsewhere");
        }
    }

    private static String run(String... arguments) throws IOException, InterruptedException {
        Program.Result result = Program.java(arguments).run().expect(0);
        assertEquals("", result.err(), "a first program should not begin with warnings");
        return result.out().stripTrailing();
    }

    private static String joined() {
        return String.join(File.pathSeparator, path.stream().map(Path::toString).toList());
    }

    private static String mainClass() throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            String name = file.getManifest().getMainAttributes().getValue("Main-Class");
            assertTrue(name != null, "the example's jar names its Main-Class");
            return name;
        }
    }

    /** The one {@code text} block of the example's README. */
    private static String documented() throws IOException {
        List<List<String>> blocks = Fences.blocks(EXAMPLE.resolve("README.md"), "text");
        assertEquals(1, blocks.size(), "the example's README shows its output in one text block");
        return String.join("\n", blocks.getFirst()).stripTrailing();
    }
}
