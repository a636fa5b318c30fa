// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Our own plugins can be found in every way in which an application may be put together. */
class PluginsTest {

    private static final String SERVICE = "io.weft.spi.AcceleratorProvider";

    @TestFactory
    Stream<DynamicTest> aPluginNamesItsProvidersForClassPathsToo() {
        return plugins()
                .map(plugin -> dynamicTest(plugin.name(), () -> {
                    try (JarFile jar = new JarFile(plugin.jar().toFile())) {
                        var file = jar.getEntry("META-INF/services/" + SERVICE);
                        assertNotNull(file, "META-INF/services/" + SERVICE + " is missing in " + plugin.jar());
                        List<String> named = new String(jar.getInputStream(file).readAllBytes(), StandardCharsets.UTF_8)
                                .lines()
                                .map(line -> line.replaceFirst("#.*", "").strip())
                                .filter(line -> !line.isEmpty())
                                .toList();
                        assertEquals(plugin.providers(), named, "module-info and the file disagree");
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> aPluginHasAFolderOfItsOwnInTheImage() {
        return plugins()
                .map(plugin -> dynamicTest(plugin.name(), () -> {
                    String jar = plugin.jar().getFileName().toString();
                    Path folder = Checkout.image()
                            .resolve("plugins")
                            .resolve(plugin.name().substring(plugin.name().lastIndexOf('.') + 1));
                    assertTrue(Files.exists(folder.resolve(jar)), folder + " lacks " + jar);
                    assertFalse(Files.exists(Checkout.image().resolve("lib").resolve(jar)), "lib/ must not have it");
                    try (Stream<Path> files = Files.list(folder)) {
                        for (Path file : files.toList()) {
                            Path twin = Checkout.image().resolve("lib").resolve(file.getFileName());
                            assertFalse(Files.exists(twin), file + " is in lib/ as well");
                        }
                    } catch (IOException unreadable) {
                        throw new AssertionError(unreadable);
                    }
                }));
    }

    private record Plugin(String name, Path jar, List<String> providers) {}

    private static Stream<Plugin> plugins() {
        return DependencyTableTest.TABLE.stream().flatMap(row -> {
            Path jar = DependencyTableTest.jar(row);
            ModuleDescriptor descriptor =
                    ModuleFinder.of(jar).find(row.module()).orElseThrow().descriptor();
            return descriptor.provides().stream()
                    .filter(provides -> provides.service().equals(SERVICE))
                    .map(provides -> new Plugin(row.module(), jar, provides.providers()));
        });
    }
}
