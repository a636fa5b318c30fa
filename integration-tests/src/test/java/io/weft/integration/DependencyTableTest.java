// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The table of modules in the architecture, as a test: who may depend on whom, by packages and by module descriptors.
 * A new module is a new row here.
 */
class DependencyTableTest {

    /**
     * One row of the table.
     *
     * @param folder the Maven module
     * @param module its module name
     * @param packages its packages, as ArchUnit writes them
     * @param ours our modules that it may use
     * @param others packages outside the JDK that it may use
     * @param otherModules modules outside the JDK that it may require
     */
    record Row(
            String folder,
            String module,
            List<String> packages,
            Set<String> ours,
            List<String> others,
            Set<String> otherModules) {
        @Override
        public String toString() {
            return folder;
        }
    }

    private static final Set<String> JACKSON =
            Set.of("tools.jackson.core", "tools.jackson.databind", "com.fasterxml.jackson.annotation");

    /** The JDK's own, and the nameless one of primitives and their arrays. */
    private static final List<String> JDK_PACKAGES =
            List.of("", "java..", "javax..", "jdk.incubator.vector..", "jdk.jfr..", "com.sun.management..");

    static final List<Row> TABLE = List.of(
            new Row("api", "io.weft.api", List.of("io.weft.api..", "io.weft.spi.."), Set.of(), List.of(), Set.of()),
            new Row(
                    "memory-pool",
                    "io.weft.memory",
                    List.of("io.weft.memory.."),
                    Set.of("io.weft.api"),
                    List.of(),
                    Set.of()),
            new Row(
                    "core-scheduler",
                    "io.weft.scheduler",
                    List.of("io.weft.scheduler.."),
                    Set.of("io.weft.api", "io.weft.memory"),
                    List.of(),
                    Set.of()),
            new Row(
                    "hal-sim",
                    "io.weft.sim",
                    List.of("io.weft.sim.."),
                    Set.of("io.weft.api"),
                    List.of("tools.jackson..", "com.fasterxml.jackson.annotation.."),
                    union(JACKSON, "tools.jackson.dataformat.yaml")),
            new Row(
                    "hal-native",
                    "io.weft.nativehal",
                    List.of("io.weft.nativehal.."),
                    Set.of("io.weft.api"),
                    List.of(),
                    Set.of()),
            new Row(
                    "hal-amd-instinct",
                    "io.weft.amd",
                    List.of("io.weft.amd.."),
                    Set.of("io.weft.api", "io.weft.sim", "io.weft.nativehal"),
                    List.of("org.xml.sax..", "tools.jackson..", "com.fasterxml.jackson.annotation.."),
                    JACKSON),
            new Row(
                    "hal-ascend-hcomm",
                    "io.weft.ascend",
                    List.of("io.weft.ascend.."),
                    Set.of("io.weft.api", "io.weft.memory", "io.weft.sim", "io.weft.nativehal"),
                    List.of("tools.jackson..", "com.fasterxml.jackson.annotation.."),
                    JACKSON),
            new Row(
                    "conformance-tests",
                    "io.weft.conformance",
                    List.of("io.weft.conformance.."),
                    Set.of("io.weft.api"),
                    List.of(
                            "org.junit.jupiter.api..",
                            "org.opentest4j..",
                            "tools.jackson..",
                            "com.fasterxml.jackson.annotation.."),
                    union(JACKSON, "tools.jackson.dataformat.yaml", "org.junit.jupiter.api")),
            new Row(
                    "hal-nvidia-cuda",
                    "io.weft.cuda",
                    List.of("io.weft.cuda.."),
                    Set.of("io.weft.api", "io.weft.sim", "io.weft.nativehal"),
                    List.of(),
                    Set.of()),
            new Row(
                    "runtime",
                    "io.weft.runtime",
                    List.of("io.weft.runtime.."),
                    Set.of("io.weft.api", "io.weft.memory", "io.weft.scheduler"),
                    List.of(
                            "com.google.common..",
                            "com.google.inject..",
                            "com.sun.net.httpserver..",
                            "io.micrometer..",
                            "jakarta.inject..",
                            "net.razorvine.pickle..",
                            "org.apache.commons..",
                            "org.slf4j..",
                            "tools.jackson..",
                            "com.fasterxml.jackson.annotation.."),
                    union(
                            JACKSON,
                            "com.google.common",
                            "com.google.guice",
                            "jakarta.inject",
                            "micrometer.core",
                            "micrometer.registry.prometheus",
                            "org.apache.commons.configuration2",
                            "org.apache.commons.lang3",
                            "org.apache.commons.text",
                            "org.slf4j",
                            "pickle")),
            new Row(
                    "cli",
                    "io.weft.cli",
                    List.of("io.weft.cli.."),
                    Set.of(
                            "io.weft.api",
                            "io.weft.memory",
                            "io.weft.scheduler",
                            "io.weft.runtime",
                            "io.weft.conformance"),
                    List.of("picocli..", "tools.jackson..", "com.fasterxml.jackson.annotation..", "org.slf4j.."),
                    union(JACKSON, "info.picocli", "org.slf4j")));

    private static JavaClasses classes;

    @BeforeAll
    static void readClasses() throws IOException {
        List<JarFile> jars = new ArrayList<>();
        try {
            for (Row row : TABLE) {
                jars.add(new JarFile(jar(row).toFile()));
            }
            classes = new ClassFileImporter()
                    .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_PACKAGE_INFOS)
                    .importJars(jars);
        } finally {
            for (JarFile jar : jars) {
                jar.close();
            }
        }
    }

    static Stream<Row> rows() {
        return TABLE.stream();
    }

    @ParameterizedTest
    @MethodSource("rows")
    void aModulesClassesUseOnlyWhatItsRowAllows(Row row) {
        List<String> allowed = new ArrayList<>(row.packages());
        allowed.addAll(JDK_PACKAGES);
        for (Row other : TABLE) {
            if (row.ours().contains(other.module())) {
                allowed.addAll(other.packages());
            }
        }
        allowed.addAll(row.others());
        classes()
                .that()
                .resideInAnyPackage(row.packages().toArray(String[]::new))
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(allowed.toArray(String[]::new))
                .because("the architecture's table says so for " + row.folder())
                // A module may have no class yet; theRulesSeeClasses looks after the others.
                .allowEmptyShould(true)
                .check(classes);
    }

    @ParameterizedTest
    @MethodSource("rows")
    void aModulesDescriptorRequiresOnlyWhatItsRowAllows(Row row) {
        ModuleDescriptor descriptor =
                ModuleFinder.of(jar(row)).find(row.module()).orElseThrow().descriptor();
        Set<String> required = descriptor.requires().stream()
                .map(ModuleDescriptor.Requires::name)
                .filter(name -> !name.startsWith("java.") && !name.startsWith("jdk."))
                .collect(Collectors.toCollection(TreeSet::new));
        required.removeAll(row.ours());
        required.removeAll(row.otherModules());
        assertEquals(Set.of(), required, row.module() + " requires what the architecture's table does not allow");
    }

    @Test
    void everyPublishedModuleHasARow() throws Exception {
        Set<String> published = Artifacts.published().stream()
                .filter(artifact -> artifact.packaging().equals("jar"))
                .map(artifact -> artifact.folder().getFileName().toString())
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(published, TABLE.stream().map(Row::folder).collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void everyClassIsInAPackageOfItsOwnModule() {
        Map<String, Set<String>> strays = new TreeMap<>();
        for (Row row : TABLE) {
            ModuleReference module =
                    ModuleFinder.of(jar(row)).find(row.module()).orElseThrow();
            Set<String> packages = new TreeSet<>(module.descriptor().packages());
            packages.removeIf(name -> row.packages().stream()
                    .map(pattern -> pattern.substring(0, pattern.length() - 2))
                    .anyMatch(root -> name.equals(root) || name.startsWith(root + ".")));
            if (!packages.isEmpty()) {
                strays.put(row.folder(), packages);
            }
        }
        assertEquals(Map.of(), strays);
    }

    @Test
    void onlyTheRuntimeInjectsDependencies() {
        noClasses()
                .that()
                .resideOutsideOfPackages("io.weft.runtime..", "io.weft.cli..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("com.google.inject..", "jakarta.inject..", "javax.inject..")
                .because("a plugin author needs the JDK alone, and the runtime is the only composition root")
                .check(classes);
    }

    @Test
    void theRulesSeeClasses() {
        // A rule over nothing would pass.
        for (String module : List.of("io.weft.api", "io.weft.spi", "io.weft.sim", "io.weft.cli")) {
            assertTrue(
                    classes.stream().anyMatch(type -> type.getPackageName().startsWith(module)),
                    "no class of " + module + " was read");
        }
    }

    static Path jar(Row row) {
        return Checkout.root()
                .resolve(row.folder())
                .resolve("target")
                .resolve("weft-" + row.folder() + "-" + Checkout.version() + ".jar");
    }

    private static Set<String> union(Set<String> some, String... more) {
        Set<String> all = new TreeSet<>(some);
        all.addAll(List.of(more));
        return all;
    }
}
