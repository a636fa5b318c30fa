// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A project as a stranger builds it: outside the reactor, with our artifacts from a repository that holds nothing but
 * what this build would publish, and everybody else's from where Maven keeps them.
 *
 * @param scratch a folder of this project's own
 */
record OutsideProject(Path scratch) {

    /** An empty one; what an earlier run left is removed. */
    static OutsideProject create(String name) throws IOException {
        Path scratch = Checkout.scratch(name);
        delete(scratch);
        OutsideProject project = new OutsideProject(scratch);
        Files.createDirectories(project.folder());
        Artifacts.publishTo(project.published());
        return project;
    }

    /** Where its files are. */
    Path folder() {
        return scratch.resolve("project");
    }

    private Path published() {
        return scratch.resolve("published");
    }

    /** Where its build gets artifacts from. */
    Path repository() {
        return scratch.resolve("repository");
    }

    /** Copies a project's files. */
    OutsideProject copyFrom(Path from) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path inside = from.relativize(file);
                if (!inside.startsWith("target")) {
                    write(inside.toString(), Files.readString(file));
                }
            }
        }
        return this;
    }

    /** Writes one file. */
    OutsideProject write(String name, String text) throws IOException {
        Path file = folder().resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
        return this;
    }

    /** Runs Maven on it; the caller says which exit code is expected. */
    Program.Result maven(String... arguments) throws IOException, InterruptedException {
        Path settings = Files.writeString(scratch.resolve("settings.xml"), settings(published()));
        List<String> command = new ArrayList<>(List.of(
                Checkout.root().resolve("mvnw").toString(),
                "-B",
                "-q",
                "-f",
                folder().resolve("pom.xml").toString(),
                // The global settings, so that the user's own, with their mirrors, still count.
                "-gs",
                settings.toString(),
                "-Dmaven.repo.local=" + localRepositoryWithoutOurs()));
        command.addAll(List.of(arguments));
        // So short a build ends before the second compiler has paid for itself.
        Map<String, String> environment = Map.of(
                "JAVA_HOME", System.getProperty("java.home"), "MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
        return new Program(command, folder(), environment).run();
    }

    /** The one jar that it built. */
    Path jar() throws IOException {
        try (Stream<Path> built = Files.list(folder().resolve("target"))) {
            List<Path> jars =
                    built.filter(file -> file.toString().endsWith(".jar")).toList();
            if (jars.size() != 1) {
                throw new AssertionError("the project should build one jar, not " + jars);
            }
            return jars.getFirst();
        }
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
    private Path localRepositoryWithoutOurs() throws IOException {
        Path view = repository();
        if (Files.exists(view)) {
            return view;
        }
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
