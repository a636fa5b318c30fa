// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.spi.AcceleratorProvider;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** A provider, or a plugin that may hold one, before it is loaded. */
final class Candidate {
    /** A service loader that throws for ever must not hold up discovery. */
    private static final int MAX_BROKEN_ENTRIES = 16;

    private final String name;
    private final String origin;
    private final Supplier<AcceleratorProvider> loader;
    private final ModuleLayer layer;

    Candidate(String name, String origin, ModuleLayer layer, Supplier<AcceleratorProvider> loader) {
        this.name = name;
        this.origin = origin;
        this.layer = layer;
        this.loader = loader;
    }

    /** A candidate that failed before it could be loaded. */
    static Candidate broken(String name, String origin, Throwable failure) {
        return new Candidate(name, origin, null, () -> {
            throw new ServiceConfigurationError(explain(failure), failure);
        });
    }

    /** The class, or the plugin's file name. */
    String name() {
        return name;
    }

    /** Where it was found. */
    String origin() {
        return origin;
    }

    /** The plugin's own layer, or null. */
    ModuleLayer layer() {
        return layer;
    }

    /** Whether a deny list names it before it is loaded. */
    boolean isDenied(Set<String> denied) {
        return denied.contains(name) || denied.contains(origin);
    }

    AcceleratorProvider load() {
        return loader.get();
    }

    static List<Candidate> find(DiscoveryOptions options) {
        List<Candidate> found = new ArrayList<>();
        if (options.classPath()) {
            walk(ServiceLoader.load(AcceleratorProvider.class), null, null, type -> true, found);
        }
        found.addAll(new PluginFolders(options.denied()).candidates(options.pluginDirectories()));
        return found;
    }

    /** As the other one, for providers of one plugin's module layer; its parents' providers are left to the walk of the application's own path. */
    static void collect(
            ServiceLoader<AcceleratorProvider> services, String plugin, ModuleLayer layer, List<Candidate> found) {
        walk(services, plugin, layer, type -> layer.equals(type.getModule().getLayer()), found);
    }

    /** As the other one, for providers of one plugin's class loader. */
    static void collect(
            ServiceLoader<AcceleratorProvider> services, String plugin, ClassLoader loader, List<Candidate> found) {
        walk(services, plugin, null, type -> loader.equals(type.getClassLoader()), found);
    }

    /**
     * Turns a service loader's providers into candidates. An entry that cannot be read becomes a broken candidate and the walk goes on, as far as the loader allows.
     */
    private static void walk(
            ServiceLoader<AcceleratorProvider> services,
            String plugin,
            ModuleLayer layer,
            Predicate<Class<?>> wanted,
            List<Candidate> found) {
        Iterator<ServiceLoader.Provider<AcceleratorProvider>> walk =
                services.stream().iterator();
        int failures = 0;
        while (failures < MAX_BROKEN_ENTRIES) {
            try {
                if (!walk.hasNext()) {
                    return;
                }
                ServiceLoader.Provider<AcceleratorProvider> provider = walk.next();
                Class<? extends AcceleratorProvider> type = provider.type();
                if (wanted.test(type)) {
                    found.add(new Candidate(type.getName(), plugin == null ? origin(type) : plugin, layer, provider));
                }
            } catch (ServiceConfigurationError | LinkageError failure) {
                failures++;
                found.add(broken(
                        plugin == null ? "service file" : plugin, plugin == null ? "class path" : plugin, failure));
            }
        }
    }

    private static String origin(Class<?> type) {
        return type.getModule().isNamed() ? "module " + type.getModule().getName() : "class path";
    }

    /** One line that names the innermost cause worth reading. */
    static String explain(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null
                && (cause instanceof ServiceConfigurationError
                        || cause instanceof ExceptionInInitializerError
                        || cause instanceof java.lang.reflect.InvocationTargetException
                        || cause instanceof java.lang.module.FindException)) {
            cause = cause.getCause();
        }
        String text = cause.getMessage() == null
                ? ""
                : ": " + cause.getMessage().lines().findFirst().orElse("");
        return cause.getClass().getSimpleName() + text;
    }
}
