// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.spi.AcceleratorProvider;
import java.io.IOException;
import java.lang.module.FindException;
import java.lang.module.ResolutionException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The folders of plugins. Each jar, and each sub-folder of jars, is one plugin and gets a module layer of its own, so that plugins may bring different versions of the
 * same library and a broken one hurts nobody else. A plugin may build on another one, of whichever folder: it then shares that one's classes. Where two offer the same
 * module, the first counts.
 */
final class PluginFolders {
    private final Set<String> denied;
    private final List<Plugin> plugins = new ArrayList<>();

    PluginFolders(Set<String> denied) {
        this.denied = denied;
    }

    List<Candidate> candidates(List<Path> folders) {
        List<Candidate> found = new ArrayList<>();
        for (Path folder : folders) {
            try {
                plugins.addAll(list(folder));
            } catch (IOException failure) {
                found.add(Candidate.broken(folder.toString(), folder.toString(), failure));
            }
        }
        for (Plugin plugin : plugins) {
            if (denied.contains(plugin.name())) {
                // judged DISABLED before it is loaded
                found.add(new Candidate(plugin.name(), plugin.name(), null, () -> null));
            } else {
                load(plugin, found);
            }
        }
        return found;
    }

    private List<Plugin> list(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of(); // a folder that is not there holds no plugins
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry ->
                            Files.isDirectory(entry) || entry.toString().endsWith(".jar"))
                    .filter(entry -> !entry.getFileName().toString().startsWith("."))
                    .sorted()
                    .map(entry -> new Plugin(entry, this))
                    .toList();
        }
    }

    private static void load(Plugin plugin, List<Candidate> found) {
        String name = plugin.name();
        int before = found.size();
        try {
            plugin.collect(found);
            if (found.size() == before) {
                found.add(Candidate.broken(
                        name,
                        name,
                        new ServiceConfigurationError("it provides no " + AcceleratorProvider.class.getName())));
            }
        } catch (FindException
                | ResolutionException
                | LayerInstantiationException
                | ServiceConfigurationError
                | LinkageError
                | SecurityException
                | IOException failure) {
            found.add(Candidate.broken(name, name, failure));
        }
    }

    /**
     * The plugin that holds a module.
     *
     * @return null when there is none
     * @throws FindException when it is turned off
     */
    Plugin holderOf(String module, Plugin asker) {
        for (Plugin plugin : plugins) {
            if (!plugin.equals(asker) && plugin.holds(module)) {
                if (denied.contains(plugin.name())) {
                    throw new FindException("it needs " + module + " of the plugin '" + plugin.name()
                            + "', which is turned off by a setting");
                }
                return plugin;
            }
        }
        return null;
    }
}
