// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.spi.AcceleratorProvider;
import java.io.IOException;
import java.lang.module.Configuration;
import java.lang.module.FindException;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.lang.module.ResolutionException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A folder of plugins. Each jar, and each sub-folder of jars, is one plugin and gets a module layer of its own, so that plugins may bring different versions of the
 * same library and a broken one hurts nobody else.
 */
final class PluginDirectory {
    private PluginDirectory() {}

    static List<Candidate> candidates(Path directory, Set<String> denied) {
        List<Candidate> found = new ArrayList<>();
        if (!Files.isDirectory(directory)) {
            return found; // a folder that is not there holds no plugins
        }
        List<Path> plugins;
        try (Stream<Path> entries = Files.list(directory)) {
            plugins = entries.filter(entry ->
                            Files.isDirectory(entry) || entry.toString().endsWith(".jar"))
                    .filter(entry -> !entry.getFileName().toString().startsWith("."))
                    .sorted()
                    .toList();
        } catch (IOException failure) {
            found.add(Candidate.broken(directory.toString(), directory.toString(), failure));
            return found;
        }
        for (Path plugin : plugins) {
            String name = plugin.getFileName().toString();
            if (denied.contains(name)) {
                found.add(new Candidate(name, name, null, () -> null)); // judged DISABLED before it is loaded
            } else {
                load(plugin, name, found);
            }
        }
        return found;
    }

    private static void load(Path plugin, String name, List<Candidate> found) {
        int before = found.size();
        try {
            ModuleLayer layer = layer(plugin);
            Candidate.collect(ServiceLoader.load(layer, AcceleratorProvider.class), name, layer, found);
            if (found.size() == before) {
                found.add(Candidate.broken(
                        name,
                        name,
                        new ServiceConfigurationError("it provides no " + AcceleratorProvider.class.getName())));
            }
        } catch (FindException
                | ResolutionException
                | java.lang.LayerInstantiationException
                | ServiceConfigurationError
                | LinkageError
                | SecurityException failure) {
            found.add(Candidate.broken(name, name, failure));
        }
    }

    private static ModuleLayer layer(Path plugin) {
        ModuleFinder finder = ModuleFinder.of(plugin);
        Set<String> roots = finder.findAll().stream()
                .map(ModuleReference::descriptor)
                .map(java.lang.module.ModuleDescriptor::name)
                .collect(Collectors.toSet());
        ModuleLayer own = PluginDirectory.class.getModule().getLayer();
        ModuleLayer parent = own != null ? own : ModuleLayer.boot();
        List<ModuleLayer> parents = new ArrayList<>(List.of(parent));
        parents.addAll(OptionalModules.layers(finder, parent));
        // On a class path the API is no named module, so plugins resolve it from the loader alone.
        Configuration configuration = Configuration.resolveAndBind(
                ModuleFinder.of(),
                parents.stream().map(ModuleLayer::configuration).toList(),
                finder,
                roots);
        ModuleLayer.Controller controller =
                ModuleLayer.defineModulesWithOneLoader(configuration, parents, PluginDirectory.class.getClassLoader());
        for (Module module : controller.layer().modules()) {
            enableNativeAccess(controller, module);
        }
        return controller.layer();
    }

    /** A plugin binds vendor libraries; it may do so where this module may. */
    @SuppressWarnings("restricted")
    private static void enableNativeAccess(ModuleLayer.Controller controller, Module module) {
        if (PluginDirectory.class.getModule().isNativeAccessEnabled()) {
            controller.enableNativeAccess(module);
        }
    }
}
