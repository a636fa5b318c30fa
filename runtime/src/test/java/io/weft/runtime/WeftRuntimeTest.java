// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Accelerators;
import io.weft.api.ErrorCode;
import io.weft.api.ProviderVerdict;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.runtime.settings.SettingsSources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WeftRuntimeTest {
    @TempDir
    private Path folder;

    private EffectiveSettings settings(Map<String, String> commandLine) {
        return EffectiveSettings.load(new SettingsSources(
                folder.resolve("system"), false, folder.resolve("user"), folder, Map.of(), commandLine));
    }

    @Test
    void backendsAreDiscoveredOnce() {
        try (WeftRuntime runtime = WeftRuntime.start(EffectiveSettings.defaults())) {
            Accelerators first = runtime.accelerators();
            assertSame(first, runtime.accelerators());
        }
    }

    @Test
    void aPluginFolderOfTheSettingsIsSearched() throws IOException {
        Path plugins = Files.createDirectories(folder.resolve("plugins"));
        Files.writeString(plugins.resolve("broken.jar"), "this is no archive");
        try (WeftRuntime runtime = WeftRuntime.start(settings(Map.of("plugins.path", "plugins")))) {
            ProviderVerdict verdict = runtime.accelerators().verdicts().stream()
                    .filter(v -> v.origin().equals("broken.jar"))
                    .findFirst()
                    .orElseThrow();
            assertEquals(ProviderVerdict.State.FAILED, verdict.state());
        }
    }

    @Test
    void aDeniedPluginIsNotLoaded() throws IOException {
        Path plugins = Files.createDirectories(folder.resolve("plugins"));
        Files.writeString(plugins.resolve("broken.jar"), "this is no archive");
        EffectiveSettings settings = settings(Map.of("plugins.path", "plugins", "providers.deny", "broken.jar"));
        try (WeftRuntime runtime = WeftRuntime.start(settings)) {
            assertTrue(runtime.accelerators().verdicts().stream()
                    .anyMatch(v -> v.id().equals("broken.jar") && v.state() == ProviderVerdict.State.DISABLED));
        }
    }

    @Test
    void anUnknownDecoratorIsRefusedInItsOwnWords() {
        try (WeftRuntime runtime = WeftRuntime.start(settings(Map.of("decorators", "gold-plating")))) {
            AcceleratorException refusal = assertThrows(AcceleratorException.class, runtime::accelerators);
            assertEquals(ErrorCode.NOT_FOUND, refusal.code());
            assertTrue(refusal.detail().startsWith("there is no decorator 'gold-plating'"), refusal.detail());
        }
    }

    @Test
    void anUnknownProviderNamesTheKnownOnes() {
        try (WeftRuntime runtime = WeftRuntime.start(EffectiveSettings.defaults())) {
            AcceleratorException refusal =
                    assertThrows(AcceleratorException.class, () -> runtime.open("abacus:wooden"));
            assertEquals(ErrorCode.NOT_FOUND, refusal.code());
        }
    }

    @Test
    void aClosedRuntimeRefusesWorkAndMayBeClosedAgain() {
        WeftRuntime runtime = WeftRuntime.start(EffectiveSettings.defaults());
        runtime.close();
        assertDoesNotThrow(runtime::close);
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> runtime.open("sim:mesh-8"));
        assertEquals(ErrorCode.CLOSED, refusal.code());
    }

    @Test
    void theImagesPluginsAreBesideItsLib() throws IOException {
        Path jar = Files.createDirectories(folder.resolve("weft/lib")).resolve("weft-runtime.jar");
        assertEquals(Optional.empty(), PluginFolders.besides(jar));
        Files.createFile(jar);
        assertEquals(Optional.empty(), PluginFolders.besides(jar));
        Path plugins = Files.createDirectories(folder.resolve("weft/plugins"));
        assertEquals(Optional.of(plugins), PluginFolders.besides(jar));
        assertEquals(Optional.empty(), PluginFolders.besides(jar.getParent()));
    }

    @Test
    void theModuleIsNamed() {
        // Guice and the library modules must work in named modules, as the image runs them.
        assertEquals("io.weft.runtime", WeftRuntime.class.getModule().getName());
    }
}
