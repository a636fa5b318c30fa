// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.integration.Artifacts.Artifact;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;

/** What Maven Central asks of everything that is published there, and what a user of a BOM may expect. */
class PublishedPomsTest {

    static Stream<Artifact> published() throws IOException {
        return Artifacts.published().stream();
    }

    @ParameterizedTest
    @MethodSource("published")
    void aPomSaysWhatCentralAsksFor(Artifact artifact) throws IOException {
        Element own = artifact.pom();
        Element shared = artifact.hasParent() ? Artifacts.published().getFirst().pom() : own;
        assertAll(
                artifact.artifactId(),
                () -> assertFalse(Artifacts.text(own, "name").isEmpty(), "name"),
                () -> assertFalse(Artifacts.text(own, "description").isEmpty(), "description"),
                () -> assertFalse(Artifacts.text(shared, "url").isEmpty(), "url"),
                () -> {
                    Element licence = Artifacts.child(Artifacts.child(shared, "licenses"), "license");
                    assertNotNull(licence, "license");
                    assertEquals("Apache-2.0", Artifacts.text(licence, "name"));
                    assertFalse(Artifacts.text(licence, "url").isEmpty(), "license url");
                },
                () -> {
                    Element developer = Artifacts.child(Artifacts.child(shared, "developers"), "developer");
                    assertNotNull(developer, "developer");
                    assertFalse(Artifacts.text(developer, "name").isEmpty(), "developer name");
                },
                () -> {
                    Element scm = Artifacts.child(shared, "scm");
                    assertNotNull(scm, "scm");
                    for (String part : List.of("connection", "developerConnection", "url")) {
                        assertFalse(Artifacts.text(scm, part).isEmpty(), "scm " + part);
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("published")
    void aPomNamesNoRepository(Artifact artifact) {
        for (String element : List.of("repositories", "pluginRepositories", "distributionManagement")) {
            assertNull(Artifacts.child(artifact.pom(), element), element);
        }
    }

    @ParameterizedTest
    @MethodSource("published")
    void everyPomHasTheVersionOfTheBuild(Artifact artifact) {
        Element project = artifact.hasParent() ? Artifacts.child(artifact.pom(), "parent") : artifact.pom();
        assertEquals(Checkout.version(), Artifacts.text(project, "version"));
        assertEquals("io.weft", Artifacts.text(project, "groupId"));
        assertFalse(Checkout.version().endsWith("-SNAPSHOT"), "Central takes no snapshots");
    }

    @ParameterizedTest
    @MethodSource("published")
    void everyJarComesWithItsSourcesAndJavadoc(Artifact artifact) {
        assumeTrue(Checkout.sourcesAndJavadoc(), "-Dfast makes neither");
        for (Path jar : artifact.jars()) {
            assertTrue(Files.isRegularFile(jar), jar + " is missing");
        }
    }

    @Test
    void theBomListsEveryPublishedJarAndNothingElse() throws IOException {
        Artifact bom = Artifacts.published().stream()
                .filter(artifact -> artifact.artifactId().equals("weft-bom"))
                .findFirst()
                .orElseThrow();
        Element managed = Artifacts.child(Artifacts.child(bom.pom(), "dependencyManagement"), "dependencies");
        Set<String> listed = Artifacts.children(managed, "dependency").stream()
                .map(dependency -> Artifacts.text(dependency, "artifactId"))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> jars = published()
                .filter(artifact -> artifact.packaging().equals("jar"))
                .map(Artifact::artifactId)
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(jars, listed);
    }
}
