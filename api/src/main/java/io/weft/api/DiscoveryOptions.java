// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Where discovery looks and what it leaves out. Immutable.
 *
 * @param denied provider ids, and class or file names, that are never loaded
 * @param pluginDirectories folders of plugins; each jar or sub-folder of jars gets a module layer of its own
 * @param classPath whether providers on the application's own module path and class path are looked for
 * @param decorators names of decorators to wrap around every platform, innermost first
 */
public record DiscoveryOptions(
        Set<String> denied, List<Path> pluginDirectories, boolean classPath, List<String> decorators) {
    public DiscoveryOptions {
        denied = Set.copyOf(denied);
        pluginDirectories = List.copyOf(pluginDirectories);
        decorators = List.copyOf(decorators);
    }

    /** The application's own module path and class path, nothing denied, no decorators. */
    public static DiscoveryOptions defaults() {
        return new DiscoveryOptions(Set.of(), List.of(), true, List.of());
    }

    /** Also leaves out a provider id. */
    public DiscoveryOptions deny(String id) {
        Set<String> more = new LinkedHashSet<>(denied);
        more.add(id);
        return new DiscoveryOptions(more, pluginDirectories, classPath, decorators);
    }

    /** Also looks in a folder of plugins. */
    public DiscoveryOptions pluginDirectory(Path directory) {
        List<Path> more = new ArrayList<>(pluginDirectories);
        more.add(directory);
        return new DiscoveryOptions(denied, more, classPath, decorators);
    }

    /** Also wraps every platform in a decorator. */
    public DiscoveryOptions decorator(String name) {
        List<String> more = new ArrayList<>(decorators);
        more.add(name);
        return new DiscoveryOptions(denied, pluginDirectories, classPath, more);
    }
}
