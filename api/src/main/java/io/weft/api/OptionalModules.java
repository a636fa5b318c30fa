// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Requires.Modifier;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.util.ArrayList;
import java.util.List;

/**
 * JDK modules that a plugin would like but does not need ({@code requires static}), brought into the running JVM.
 *
 * <p>The JVM resolves such a module only when it was named in {@code --add-modules}, and then prints a warning at
 * every start if the module incubates, as {@code jdk.incubator.vector} does. The JDK can also load one of its modules
 * later, into a layer of its own, with the loader and the rights that it always has; it does so for its agents. That
 * way is open when the JVM was started with {@code --add-exports java.base/jdk.internal.module=io.weft.api}, as the
 * {@code weft} launcher does. Otherwise the plugin goes without, as it said it can.
 */
final class OptionalModules {
    /**
     * A system property: {@code true} leaves every such module out. The launcher sets it while the JDK records its
     * ahead-of-time cache, which cannot hold classes of modules that come late.
     */
    private static final String OFF = "io.weft.optionalModulesOff";

    private OptionalModules() {}

    /**
     * The layers that hold what the given plugin would like and the parent lacks.
     *
     * @param plugin finds the plugin's modules
     * @param parent the layer that the plugin is resolved against
     * @return layers of JDK modules, without the parent; empty if nothing is wanted or nothing can be had
     */
    static List<ModuleLayer> layers(ModuleFinder plugin, ModuleLayer parent) {
        List<ModuleLayer> layers = new ArrayList<>();
        if (Boolean.getBoolean(OFF)) {
            return layers;
        }
        for (ModuleReference module : plugin.findAll()) {
            for (ModuleDescriptor.Requires requires : module.descriptor().requires()) {
                String name = requires.name();
                if (requires.modifiers().contains(Modifier.STATIC)
                        && parent.findModule(name).isEmpty()
                        && ModuleFinder.ofSystem().find(name).isPresent()) {
                    ModuleLayer layer = load(name);
                    if (layer != null && !layers.contains(layer)) {
                        layers.add(layer);
                    }
                }
            }
        }
        return layers;
    }

    private static ModuleLayer load(String name) {
        try {
            // Not linked directly: the class is the JDK's own, and the export may be missing.
            Module module = (Module) Class.forName("jdk.internal.module.Modules")
                    .getMethod("loadModule", String.class)
                    .invoke(null, name);
            return module.getLayer();
        } catch (ReflectiveOperationException | RuntimeException | LinkageError refused) {
            return null; // optional by its own word
        }
    }
}
