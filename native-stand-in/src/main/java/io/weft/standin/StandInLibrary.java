// SPDX-License-Identifier: Apache-2.0
package io.weft.standin;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A stand-in for a vendor's libraries: compiled for a test, and linked in a folder of its own for each variant, under the names that the plugin looks for. Loading it here and opening a platform on its folder reach the same library, so faults
 * switched here are faults there; variants share no state.
 */
public final class StandInLibrary {
    /** No -Werror: the next compiler has new warnings. */
    private static final List<String> FLAGS = List.of("-O2", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden");

    private final Path folder;
    private final StandInSwitches switches;

    private StandInLibrary(Path folder, String name) {
        this.folder = folder;
        switches = new StandInSwitches(folder.resolve(name));
    }

    /**
     * What a variant is made of.
     *
     * @param compiler the C compiler
     * @param module the plugin's folder in a checkout, beside which the shared sources lie
     * @param shim the plugin's own source, by its path from there
     * @param names what the library is called; the first is loaded
     * @param define passed as {@code -D} to the plugin's own source; empty for none
     */
    public record Recipe(String compiler, Path module, String shim, List<String> names, String define) {
        public Recipe {
            names = List.copyOf(names);
        }
    }

    /**
     * Links a variant, and compiles what is newer than its object.
     *
     * @param name of the variant
     * @param hidden functions that it lacks, {@code *} for any letters
     * @throws IllegalStateException with the compiler's words
     */
    public static synchronized StandInLibrary link(Recipe recipe, String name, String... hidden) {
        Path place = recipe.module().resolve("target/stand-in");
        Path shared = recipe.module().resolveSibling("native-stand-in");
        try {
            Path folder = Files.createDirectories(place.resolve(name));
            Path library = folder.resolve("libstandin.so");
            List<String> command = new ArrayList<>(List.of(recipe.compiler(), "-shared", "-o", library.toString()));
            List<Path> sources = new ArrayList<>();
            List<Path> headers = new ArrayList<>();
            try (Stream<Path> files = Files.list(shared)) {
                files.sorted().forEach(file -> {
                    if (file.toString().endsWith(".c")) {
                        sources.add(file);
                    } else if (file.toString().endsWith(".h")) {
                        headers.add(file);
                    }
                });
            }
            for (Path source : sources) {
                command.add(compiled(recipe, source, "", headers).toString());
            }
            command.add(compiled(recipe, recipe.module().resolve(recipe.shim()), recipe.define(), headers)
                    .toString());
            if (hidden.length > 0) {
                Path script = folder.resolve("hidden.map");
                Files.writeString(script, "{ local: " + String.join("; ", hidden) + "; };\n");
                command.add("-Wl,--version-script=" + script);
            }
            command.addAll(List.of("-lpthread", "-lm"));
            CCompiler.run(command);
            for (String file : recipe.names()) {
                Path link = folder.resolve(file);
                Files.deleteIfExists(link);
                Files.createSymbolicLink(link, library.getFileName());
            }
            return new StandInLibrary(folder, recipe.names().getFirst());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** The object of a source, which is compiled when it or a header is newer. */
    private static Path compiled(Recipe recipe, Path source, String define, List<Path> headers) throws IOException {
        Path folder = Files.createDirectories(recipe.module().resolve("target/stand-in/objects"));
        Path object = folder.resolve(source.getFileName() + (define.isEmpty() ? "" : "-" + define) + ".o");
        List<Path> needs = new ArrayList<>(headers);
        needs.add(source);
        boolean fresh = Files.exists(object);
        for (Path need : needs) {
            fresh = fresh && Files.getLastModifiedTime(object).compareTo(Files.getLastModifiedTime(need)) > 0;
        }
        if (fresh) {
            return object;
        }
        Path made = Files.createTempFile(folder, "fresh", ".o");
        List<String> command = new ArrayList<>(List.of(recipe.compiler()));
        command.addAll(FLAGS);
        if (!define.isEmpty()) {
            command.add("-D" + define);
        }
        command.addAll(List.of(
                "-I" + recipe.module().resolveSibling("native-stand-in"),
                "-c",
                "-o",
                made.toString(),
                source.toString()));
        CCompiler.run(command);
        Files.move(made, object, StandardCopyOption.REPLACE_EXISTING);
        return object;
    }

    /** Where its libraries lie. */
    public Path folder() {
        return folder;
    }

    /** Sets a fault or a figure, by the names in standin_core.h and the shim. */
    public void set(String name, long value) {
        switches.set(name, value);
    }

    /** A fault or a figure. */
    public long get(String name) {
        return switches.get(name);
    }
}
