// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.spi.AcceleratorProvider;
import java.io.IOException;
import java.lang.module.Configuration;
import java.lang.module.FindException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.lang.module.ResolutionException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.jar.JarFile;
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
            if (PluginDirectory.class.getModule().isNamed()) {
                ModuleLayer layer = layer(plugin);
                Candidate.collect(ServiceLoader.load(layer, AcceleratorProvider.class), name, layer, found);
            } else {
                loadFromClassPath(plugin, name, found);
            }
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

    private static ModuleLayer layer(Path plugin) {
        ModuleFinder finder = ModuleFinder.of(plugin);
        Set<String> roots = finder.findAll().stream()
                .map(ModuleReference::descriptor)
                .map(ModuleDescriptor::name)
                .collect(Collectors.toSet());
        List<ModuleLayer> parents = new ArrayList<>();
        parents.add(PluginDirectory.class.getModule().getLayer());
        parents.addAll(OptionalModules.layers(finder, parents.getFirst()));
        Configuration configuration = Configuration.resolveAndBind(
                ModuleFinder.of(),
                parents.stream().map(ModuleLayer::configuration).toList(),
                finder,
                roots);
        ModuleLayer.Controller controller =
                ModuleLayer.defineModulesWithOneLoader(configuration, parents, PluginDirectory.class.getClassLoader());
        controller.layer().modules().forEach(module -> enableNativeAccess(controller, module));
        return controller.layer();
    }

    /** A plugin binds vendor libraries; it may do so where this module may. */
    @SuppressWarnings("restricted")
    private static void enableNativeAccess(ModuleLayer.Controller controller, Module module) {
        if (PluginDirectory.class.getModule().isNativeAccessEnabled()) {
            controller.enableNativeAccess(module);
        }
    }

    /** On a class path the API is no named module that a layer could resolve, so the plugin gets a class loader of its own. */
    @SuppressWarnings("StreamResourceLeak") // the loader serves the plugin's classes as long as the process lives
    private static void loadFromClassPath(Path plugin, String name, List<Candidate> found) throws IOException {
        List<URL> jars = new ArrayList<>();
        if (Files.isDirectory(plugin)) {
            try (Stream<Path> entries = Files.list(plugin)) {
                for (Path jar : entries.filter(entry -> entry.toString().endsWith(".jar"))
                        .sorted()
                        .toList()) {
                    jars.add(readable(jar));
                }
            }
        } else {
            jars.add(readable(plugin));
        }
        URLClassLoader loader = new URLClassLoader(jars.toArray(URL[]::new), PluginDirectory.class.getClassLoader());
        List<Candidate> all = new ArrayList<>();
        Candidate.collect(ServiceLoader.load(AcceleratorProvider.class, loader), name, loader, all);
        found.addAll(all);
    }

    /** A class loader skips what is no jar without a word, so it is opened here once. */
    private static URL readable(Path jar) throws IOException {
        new JarFile(jar.toFile()).close();
        return jar.toUri().toURL();
    }
}
