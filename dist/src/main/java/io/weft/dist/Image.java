// SPDX-License-Identifier: Apache-2.0
package io.weft.dist;

import java.io.File;
import java.io.IOException;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.lang.module.ResolvedModule;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Lays out the directory image from the jars of the build.
 *
 * <pre>
 * runtime/   a Java runtime of JDK modules only
 * lib/       the command and what it needs, one module path
 * plugins/   one folder for each plugin: its jar and those of its needs that neither lib/ nor a plugin it builds on has
 * bin/weft   the launcher
 * cache/     the JDK's ahead-of-time cache, made by the launcher
 * </pre>
 *
 * <p>Module descriptors decide what goes where, so a new dependency needs no edit here. Only what changed is written:
 * the runtime takes seconds to link, and a running command keeps its files.
 */
final class Image {

    /** Whoever provides this is a plugin. */
    private static final String PLUGIN_SERVICE = "io.weft.spi.AcceleratorProvider";

    private static final String MAIN_MODULE = "io.weft.cli";

    /**
     * Beyond what our own modules ask for: all of Java SE, so that a plugin author knows what to count on; the Vector
     * API, which {@code sim} uses when it is there; what a profiler needs; jar files as file systems.
     */
    private static final List<String> EXTRA_MODULES =
            List.of("java.se", "jdk.incubator.vector", "jdk.jfr", "jdk.management", "jdk.zipfs");

    private final Path image;

    private Image(Path image) {
        this.image = image;
    }

    /**
     * Builds or refreshes the image.
     *
     * @param arguments the jars as one class path, the folder of files to copy as they are, the licence, the image,
     *     and when the build began
     * @throws IOException if a jar cannot be read or the image cannot be written
     */
    public static void main(String[] arguments) throws IOException {
        List<Path> jars = Stream.of(arguments[0].split(Pattern.quote(File.pathSeparator), -1))
                .map(Path::of)
                .toList();
        new Image(Path.of(arguments[3]))
                .build(jars, Path.of(arguments[1]), Path.of(arguments[2]), Instant.parse(arguments[4]));
    }

    private void build(List<Path> jars, Path files, Path licence, Instant began) throws IOException {
        Map<String, ModuleReference> modules = new TreeMap<>();
        for (Path jar : jars) {
            for (ModuleReference module : ModuleFinder.of(jar).findAll()) {
                modules.put(module.descriptor().name(), module);
            }
        }
        List<String> plugins = modules.values().stream()
                .filter(Image::isPlugin)
                .map(module -> module.descriptor().name())
                .toList();

        ModuleFinder withoutPlugins = finder(modules.values().stream().filter(module -> !isPlugin(module)));
        Configuration command =
                Configuration.empty().resolveAndBind(withoutPlugins, ModuleFinder.ofSystem(), Set.of(MAIN_MODULE));
        Set<String> jdk = new TreeSet<>(EXTRA_MODULES);
        Map<Path, Path> wanted = new TreeMap<>();
        sort(command.modules(), image.resolve("lib"), wanted, jdk);
        for (String plugin : plugins) {
            Configuration own = command.resolve(
                    ModuleFinder.of(),
                    ModuleFinder.compose(finder(modules.values().stream()), ModuleFinder.ofSystem()),
                    Set.of(plugin));
            String folder = plugin.substring(plugin.lastIndexOf('.') + 1);
            sort(ofItsOwn(own, plugin, plugins), image.resolve("plugins").resolve(folder), wanted, jdk);
        }
        try (Stream<Path> copied = Files.walk(files)) {
            for (Path file : copied.filter(Files::isRegularFile).toList()) {
                wanted.put(image.resolve(files.relativize(file)), file);
            }
        }
        wanted.put(image.resolve(licence.getFileName()), licence);

        Path place = image.resolve("cache/place");
        boolean linked = linkRuntime(jdk);
        boolean copied = copy(wanted);
        Files.createDirectories(place.getParent());
        if (linked || copied) {
            Files.deleteIfExists(place);
        }
        // The first start makes the ahead-of-time cache, and shows that the image runs.
        run(List.of(image.resolve("bin/weft").toString(), "--version"));
        // What the root script compares the sources with. A source may change while the build runs.
        Path built = Files.writeString(image.resolve("built"), "");
        Files.setLastModifiedTime(built, FileTime.from(began));
    }

    private static boolean isPlugin(ModuleReference module) {
        return module.descriptor().provides().stream()
                .anyMatch(provides -> provides.service().equals(PLUGIN_SERVICE));
    }

    private static ModuleFinder finder(Stream<ModuleReference> modules) {
        return ModuleFinder.of(modules.map(Image::file).toArray(Path[]::new));
    }

    private static Path file(ModuleReference module) {
        return Path.of(module.location().orElseThrow());
    }

    /** What is left of a plugin's graph without the plugins that it builds on and all that those bring. */
    private static Set<ResolvedModule> ofItsOwn(Configuration graph, String plugin, List<String> plugins) {
        Set<ResolvedModule> own = new HashSet<>(graph.modules());
        for (ResolvedModule module : graph.modules()) {
            if (plugins.contains(module.name()) && !module.name().equals(plugin)) {
                remove(module, own);
            }
        }
        return own;
    }

    private static void remove(ResolvedModule module, Set<ResolvedModule> from) {
        if (from.remove(module)) {
            module.reads().forEach(needed -> remove(needed, from));
        }
    }

    /** Sends the jars of resolved modules to a folder, and notes which of the JDK's modules they ask for. */
    private static void sort(Set<ResolvedModule> modules, Path folder, Map<Path, Path> wanted, Set<String> jdk) {
        for (ResolvedModule module : modules) {
            // Not the graph's own JDK modules: service binding drew in every provider that the JDK has.
            if (isOfJdk(module)) {
                continue;
            }
            Path jar = file(module.reference());
            wanted.put(folder.resolve(jar.getFileName()), jar);
            for (ResolvedModule needed : module.reads()) {
                boolean named = module.reference().descriptor().requires().stream()
                        .anyMatch(requires -> requires.name().equals(needed.name()));
                if (named && isOfJdk(needed)) {
                    jdk.add(needed.name());
                }
            }
        }
    }

    private static boolean isOfJdk(ResolvedModule module) {
        return module.reference().location().orElseThrow().getScheme().equals("jrt");
    }

    /** Links the runtime unless it is there, of the same JDK and the same modules. */
    private boolean linkRuntime(Set<String> modules) throws IOException {
        Path runtime = image.resolve("runtime");
        Path stamp = runtime.resolve("weft-modules");
        String wanted = Runtime.version() + " " + String.join(",", modules);
        if (Files.exists(stamp) && Files.readString(stamp).equals(wanted)) {
            return false;
        }
        delete(runtime);
        Files.createDirectories(image);
        run(List.of(
                Path.of(System.getProperty("java.home"), "bin", "jlink").toString(),
                "--add-modules",
                String.join(",", modules),
                // Not --strip-debug, which also runs binutils' objcopy and fails where there is none; a JDK's libraries
                // have nothing to strip.
                "--strip-java-debug-attributes",
                "--no-header-files",
                "--no-man-pages",
                // For starts that the ahead-of-time cache does not fit.
                "--generate-cds-archive",
                "--output",
                runtime.toString()));
        // Only for JVMs without compressed pointers, which is to say heaps of 32 GiB and more.
        Files.deleteIfExists(runtime.resolve("lib/server/classes_nocoops.jsa"));
        Files.writeString(stamp, wanted);
        return true;
    }

    /** Makes the image's files those wanted, leaving the runtime, the cache and plugins that others dropped in. */
    private boolean copy(Map<Path, Path> wanted) throws IOException {
        boolean changed = false;
        Path list = image.resolve("files");
        Set<String> names = new TreeSet<>();
        for (Map.Entry<Path, Path> entry : wanted.entrySet()) {
            Path to = entry.getKey();
            Path from = entry.getValue();
            names.add(image.relativize(to).toString());
            if (Files.exists(to) && Files.mismatch(from, to) < 0) {
                continue;
            }
            changed = true;
            Files.createDirectories(to.getParent());
            // A running command may have the old file open: replace it, never write into it.
            Path fresh = to.resolveSibling(to.getFileName() + ".new");
            Files.copy(from, fresh, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
            Files.move(fresh, to, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        }
        if (Files.exists(list)) {
            for (String name : Files.readAllLines(list)) {
                if (!names.contains(name)) {
                    changed = true;
                    Files.deleteIfExists(image.resolve(name));
                }
            }
        }
        Files.write(list, names);
        return changed;
    }

    /** Runs a command to its end, and shows what it said only if it fails. */
    private static void run(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status;
        try {
            status = process.waitFor();
        } catch (InterruptedException stop) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while running " + command.getFirst(), stop);
        }
        if (status != 0) {
            throw new IOException(String.join(" ", command) + " ended with exit code " + status + ": " + said);
        }
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> walk = Files.walk(folder)) {
            for (Path path : walk.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
