// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime;

import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The folders in which plugins are looked for: the image's own, then those of the settings. */
final class PluginFolders {
    private PluginFolders() {}

    static List<Path> of(EffectiveSettings settings) {
        List<Path> folders = new ArrayList<>();
        ownLocation().flatMap(PluginFolders::besides).ifPresent(folders::add);
        for (Path more : settings.value(Catalogue.PLUGINS_PATH)) {
            if (!folders.contains(more)) {
                folders.add(more);
            }
        }
        return folders;
    }

    /**
     * The image's plugin folder, given where this module was loaded from: an image keeps its jars in {@code lib} and its plugins in {@code
     * plugins} beside it. Empty when Weft runs from anywhere else, such as a build's class folder or a local repository.
     */
    static Optional<Path> besides(Path location) {
        Path lib = location.getParent();
        if (!Files.isRegularFile(location) || lib == null || !lib.endsWith("lib")) {
            return Optional.empty();
        }
        return Optional.of(lib.resolveSibling("plugins")).filter(Files::isDirectory);
    }

    private static Optional<Path> ownLocation() {
        CodeSource source = PluginFolders.class.getProtectionDomain().getCodeSource();
        if (source == null || source.getLocation() == null) {
            return Optional.empty();
        }
        try {
            URI location = source.getLocation().toURI();
            // Linked into a runtime image (jrt:) or packed into another archive: no folder beside it.
            return "file".equals(location.getScheme()) ? Optional.of(Path.of(location)) : Optional.empty();
        } catch (URISyntaxException odd) {
            return Optional.empty();
        }
    }
}
