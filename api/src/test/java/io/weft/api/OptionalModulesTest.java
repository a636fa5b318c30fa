// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Requires.Modifier;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Runs in a JVM with the launcher's export; see the POM. */
class OptionalModulesTest {
    private static final String VECTOR = "jdk.incubator.vector";

    @Test
    void aModuleThatAPluginWouldLikeIsBroughtInWithTheLoaderItAlwaysHas() {
        assertTrue(ModuleLayer.boot().findModule(VECTOR).isEmpty(), "the test JVM must start without it");
        List<ModuleLayer> layers = OptionalModules.layers(pluginThatLikes(VECTOR), ModuleLayer.boot());
        assertEquals(1, layers.size());
        Module vector = layers.getFirst().findModule(VECTOR).orElseThrow();
        assertNull(vector.getClassLoader(), "compiled code is only fast from the boot loader");
    }

    @Test
    void aModuleThatTheRuntimeLacksIsLeftOut() {
        assertEquals(List.of(), OptionalModules.layers(pluginThatLikes("no.such.module"), ModuleLayer.boot()));
    }

    @Test
    void nothingIsBroughtInWhileTheCacheIsRecorded() {
        System.setProperty("io.weft.optionalModulesOff", "true");
        try {
            assertEquals(List.of(), OptionalModules.layers(pluginThatLikes(VECTOR), ModuleLayer.boot()));
        } finally {
            System.clearProperty("io.weft.optionalModulesOff");
        }
    }

    @Test
    void aModuleThatIsThereAlreadyNeedsNoLayer() {
        assertEquals(List.of(), OptionalModules.layers(pluginThatLikes("java.logging"), ModuleLayer.boot()));
    }

    private static ModuleFinder pluginThatLikes(String name) {
        var descriptor = ModuleDescriptor.newModule("some.plugin")
                .requires(Set.of(Modifier.STATIC), name)
                .build();
        var reference = new ModuleReference(descriptor, null) {
            @Override
            public ModuleReader open() {
                throw new UnsupportedOperationException("only its descriptor is read");
            }
        };
        return new ModuleFinder() {
            @Override
            public Optional<ModuleReference> find(String module) {
                return module.equals("some.plugin") ? Optional.of(reference) : Optional.empty();
            }

            @Override
            public Set<ModuleReference> findAll() {
                return Set.of(reference);
            }
        };
    }
}
