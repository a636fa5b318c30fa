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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The example application, as a stranger builds it: a copy outside the reactor, with our artifacts from a repository
 * that holds nothing but what this build would publish, and everybody else's from where Maven keeps them.
 */
class FirstApplicationTest {

    private static final Path EXAMPLE = Checkout.root().resolve("docs/examples/first-app");

    private static Path jar;
    private static List<Path> path;

    @BeforeAll
    static void build() throws IOException, InterruptedException {
        assumeTrue(Files.exists(EXAMPLE.resolve("pom.xml")), "docs/examples/first-app is not there yet");
        Path scratch = Checkout.scratch("first-app");
        delete(scratch);
        Path project = scratch.resolve("project");
        copy(EXAMPLE, project);

        Path published = scratch.resolve("published");
        Artifacts.publishTo(published);
        Path settings = Files.writeString(scratch.resolve("settings.xml"), settings(published));
        Path local = localRepositoryWithoutOurs(scratch.resolve("repository"));
        Path classPath = scratch.resolve("classpath.txt");
        new Program(
                        List.of(
                                Checkout.root().resolve("mvnw").toString(),
                                "-B",
                                "-q",
                                "-f",
                                project.resolve("pom.xml").toString(),
                                // The global settings, so that the user's own, with their mirrors, still count.
                                "-gs",
                                settings.toString(),
                                "-Dmaven.repo.local=" + local,
                                "-Dmdep.outputFile=" + classPath,
                                "package",
                                "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:build-classpath"),
                        project,
                        Map.of("JAVA_HOME", System.getProperty("java.home")),
                        Duration.ofMinutes(5))
                .run()
                .expect(0);

        try (Stream<Path> built = Files.list(project.resolve("target"))) {
            List<Path> jars =
                    built.filter(file -> file.toString().endsWith(".jar")).toList();
            assertEquals(1, jars.size(), "the example builds one jar");
            jar = jars.getFirst();
        }
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
        Path local = Checkout.scratch("first-app").resolve("repository/io/weft").toRealPath();
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

    private static String settings(Path published) {
        return """
                <settings>
                  <profiles>
                    <profile>
                      <id>published</id>
                      <repositories>
                        <repository>
                          <id>published</id>
                          <url>%s</url>
                          <releases><checksumPolicy>ignore</checksumPolicy></releases>
                        </repository>
                      </repositories>
                    </profile>
                  </profiles>
                  <activeProfiles><activeProfile>published</activeProfile></activeProfiles>
                </settings>
                """.formatted(published.toUri());
    }

    /**
     * A view of the user's local repository that lacks our artifacts: what the reactor or an earlier test left there
     * must not help, and nothing of this test may stay in it.
     */
    private static Path localRepositoryWithoutOurs(Path view) throws IOException {
        Path real = Checkout.localRepository();
        Path group = view.resolve("io");
        Files.createDirectories(group);
        Files.createDirectories(real.resolve("io"));
        linkAll(real, view, Set.of("io"));
        linkAll(real.resolve("io"), group, Set.of("weft"));
        return view;
    }

    private static void linkAll(Path from, Path to, Set<String> except) throws IOException {
        try (Stream<Path> entries = Files.list(from)) {
            for (Path entry : entries.toList()) {
                String name = entry.getFileName().toString();
                if (!except.contains(name)) {
                    Files.createSymbolicLink(to.resolve(name), entry);
                }
            }
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path inside = from.relativize(file);
                if (!inside.startsWith("target")) {
                    Files.createDirectories(to.resolve(inside).getParent());
                    Files.copy(file, to.resolve(inside));
                }
            }
        }
    }

    private static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            // Links are removed, not followed.
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
