// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.spi.AcceleratorProvider;
import java.io.IOException;
import java.lang.module.Configuration;
import java.lang.module.FindException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One plugin of a folder: a jar, or a sub-folder of jars. Loaded at most once, by whoever asks first. */
final class Plugin {
    private static final Module HOST = Plugin.class.getModule();

    private final Path path;
    private final PluginFolders folders;
    private final ModuleFinder finder;
    private ModuleLayer layer;
    private ClassLoader loader;
    private boolean entered;

    Plugin(Path path, PluginFolders folders) {
        this.path = path;
        this.folders = folders;
        this.finder = ModuleFinder.of(path);
    }

    String name() {
        return path.getFileName().toString();
    }

    /** Whether a module of that name is here; false too when the files cannot be read as modules. */
    boolean holds(String module) {
        try {
            return finder.find(module).isPresent();
        } catch (FindException unreadable) {
            return false; // said when this plugin's own turn comes
        }
    }

    /**
     * Adds the providers of this plugin, and of no other.
     *
     * @throws IOException when a jar cannot be read
     */
    void collect(List<Candidate> found) throws IOException {
        if (HOST.isNamed()) {
            ModuleLayer own = layer();
            Candidate.collect(ServiceLoader.load(own, AcceleratorProvider.class), name(), own, found);
        } else {
            // On a class path the API is no named module that a layer could resolve: a class loader must do.
            ClassLoader own = loader();
            Candidate.collect(ServiceLoader.load(AcceleratorProvider.class, own), name(), own, found);
        }
    }

    private ModuleLayer layer() throws IOException {
        if (layer == null) {
            enter();
            List<ModuleLayer> parents = new ArrayList<>();
            parents.add(HOST.getLayer());
            for (Plugin base : bases()) {
                parents.add(base.layer());
            }
            parents.addAll(OptionalModules.layers(finder, parents.getFirst()));
            layer = define(parents);
        }
        return layer;
    }

    /** Whoever comes here again before the first visit led to a result requires itself. */
    private void enter() {
        if (entered) {
            throw new FindException(
                    "the plugin '" + name() + "' could not be loaded, or requires itself through others");
        }
        entered = true;
    }

    private ModuleLayer define(List<ModuleLayer> parents) {
        Configuration configuration = Configuration.resolveAndBind(
                ModuleFinder.of(),
                parents.stream().map(ModuleLayer::configuration).toList(),
                finder,
                names());
        ModuleLayer.Controller controller =
                ModuleLayer.defineModulesWithOneLoader(configuration, parents, Plugin.class.getClassLoader());
        controller.layer().modules().forEach(module -> enableNativeAccess(controller, module));
        return controller.layer();
    }

    /** A plugin binds vendor libraries; it may do so where this module may. */
    @SuppressWarnings("restricted")
    private static void enableNativeAccess(ModuleLayer.Controller controller, Module module) {
        if (HOST.isNativeAccessEnabled()) {
            controller.enableNativeAccess(module);
        }
    }

    @SuppressWarnings("StreamResourceLeak") // the loader serves the plugin's classes as long as the process lives
    private ClassLoader loader() throws IOException {
        if (loader == null) {
            enter();
            List<URL> jars = jars();
            List<ClassLoader> parents = new ArrayList<>();
            for (Plugin base : bases()) {
                parents.add(base.loader());
            }
            ClassLoader host = Plugin.class.getClassLoader();
            loader = new URLClassLoader(
                    jars.toArray(URL[]::new), parents.isEmpty() ? host : new SeveralParents(host, parents));
        }
        return loader;
    }

    /** The plugins that hold what this one requires and neither has itself nor finds in the application. */
    private Set<Plugin> bases() {
        Set<Plugin> bases = new LinkedHashSet<>();
        for (ModuleReference module : modules()) {
            for (Requires requires : module.descriptor().requires()) {
                String needed = requires.name();
                if (requires.modifiers().contains(Requires.Modifier.STATIC) || isPresent(needed)) {
                    continue;
                }
                Plugin base = folders.holderOf(needed, this);
                if (base != null) {
                    bases.add(base);
                }
            }
        }
        return bases;
    }

    /** On a class path nothing tells which modules the application's jars are; there its classes come first anyway. */
    private boolean isPresent(String module) {
        return holds(module)
                || ModuleFinder.ofSystem().find(module).isPresent()
                || (HOST.isNamed() && HOST.getLayer().findModule(module).isPresent());
    }

    private Set<ModuleReference> modules() {
        try {
            return finder.findAll();
        } catch (FindException unreadable) {
            if (HOST.isNamed()) {
                throw unreadable;
            }
            return Set.of(); // jars that are no modules are good enough for a class path
        }
    }

    private Set<String> names() {
        return finder.findAll().stream()
                .map(ModuleReference::descriptor)
                .map(ModuleDescriptor::name)
                .collect(Collectors.toSet());
    }

    private List<URL> jars() throws IOException {
        List<URL> jars = new ArrayList<>();
        if (Files.isDirectory(path)) {
            try (Stream<Path> entries = Files.list(path)) {
                for (Path jar : entries.filter(entry -> entry.toString().endsWith(".jar"))
                        .sorted()
                        .toList()) {
                    jars.add(readable(jar));
                }
            }
        } else {
            jars.add(readable(path));
        }
        return jars;
    }

    /** A class loader skips what is no jar without a word, so it is opened here once. */
    private static URL readable(Path jar) throws IOException {
        new JarFile(jar.toFile()).close();
        return jar.toUri().toURL();
    }

    /** The host's classes first, then those of the plugins that this one builds on. */
    private static final class SeveralParents extends ClassLoader {
        private final List<ClassLoader> others;

        SeveralParents(ClassLoader host, List<ClassLoader> others) {
            super(host);
            this.others = others;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            for (ClassLoader other : others) {
                try {
                    return other.loadClass(name);
                } catch (ClassNotFoundException elsewhere) {
                    // the next one may have it
                }
            }
            throw new ClassNotFoundException(name);
        }
    }
}
