// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import static org.junit.jupiter.api.Assumptions.abort;

import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The stand-in for the vendor's libraries, under the five names that the plugin looks for, in a folder of its own for each variant. It is compiled once and linked for each variant, which takes a few hundredths of a second. Tests that need it are
 * skipped, saying so, where there is no C compiler.
 */
final class StandIn {
    private static final List<String> NAMES =
            List.of("libcudart.so.13", "libcuda.so.1", "libcublasLt.so.13", "libnccl.so.2", "libnvidia-ml.so.1");

    private static final Map<String, StandIn> BUILT = new ConcurrentHashMap<>();

    private final Path folder;
    private final MethodHandle set;
    private final MethodHandle get;

    @SuppressWarnings("restricted")
    private StandIn(Path folder) {
        this.folder = folder;
        SymbolLookup symbols = SymbolLookup.libraryLookup(folder.resolve(NAMES.getFirst()), Arena.global());
        Linker linker = Linker.nativeLinker();
        set = linker.downcallHandle(
                symbols.findOrThrow("standin_set"),
                FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
        get = linker.downcallHandle(
                symbols.findOrThrow("standin_get"), FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
    }

    /** The whole stand-in. */
    static StandIn whole() {
        return without("whole");
    }

    /**
     * A stand-in that shares no state with others.
     *
     * @param name of the variant
     * @param hidden functions that it lacks, {@code *} for any letters
     */
    static StandIn without(String name, String... hidden) {
        return BUILT.computeIfAbsent(name, key -> new StandIn(link(key, hidden)));
    }

    private static Path link(String key, String... hidden) {
        Path module = Path.of("").toAbsolutePath();
        Path core = module.resolveSibling("native-stand-in");
        try {
            Path folder =
                    Files.createDirectories(module.resolve("target/stand-in").resolve(key));
            Path library = folder.resolve("libstandin.so");
            List<String> command = new ArrayList<>(List.of(compiler(), "-shared", "-o", library.toString()));
            for (Path source : List.of(module.resolve("src/test/native/cuda_shim.c"), core.resolve("standin_core.c"))) {
                command.add(compiled(source, core).toString());
            }
            if (hidden.length > 0) {
                Path script = folder.resolve("hidden.map");
                Files.writeString(script, "{ local: " + String.join("; ", hidden) + "; };\n");
                command.add("-Wl,--version-script=" + script);
            }
            command.addAll(List.of("-lpthread", "-lm"));
            run(command);
            for (String name : NAMES) {
                Path link = folder.resolve(name);
                Files.deleteIfExists(link);
                Files.createSymbolicLink(link, library.getFileName());
            }
            return folder;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** The object of a source, which is compiled when it is newer. */
    private static synchronized Path compiled(Path source, Path core) throws IOException {
        Path folder = Files.createDirectories(
                Path.of("").toAbsolutePath().resolve("target/stand-in").resolve("objects"));
        Path object = folder.resolve(source.getFileName() + ".o");
        if (Files.exists(object) && isNewer(object, source) && isNewer(object, core.resolve("standin_core.h"))) {
            return object;
        }
        Path fresh = Files.createTempFile(folder, "fresh", ".o");
        run(List.of(
                compiler(),
                "-O2",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-c",
                "-fPIC",
                "-fvisibility=hidden",
                "-I" + core,
                "-o",
                fresh.toString(),
                source.toString()));
        Files.move(fresh, object, StandardCopyOption.REPLACE_EXISTING);
        return object;
    }

    private static boolean isNewer(Path one, Path other) throws IOException {
        return Files.getLastModifiedTime(one).compareTo(Files.getLastModifiedTime(other)) > 0;
    }

    private static String compiler() {
        for (String name : List.of("gcc", "cc", "clang")) {
            for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
                if (Files.isExecutable(Path.of(folder, name))) {
                    return name;
                }
            }
        }
        return abort("the stand-in is not built: there is no C compiler (gcc, cc or clang) on the PATH");
    }

    private static void run(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IllegalStateException("the stand-in does not compile:\n" + said);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stop);
        }
    }

    /** Where its libraries lie. */
    Path folder() {
        return folder;
    }

    /** Opens a platform on it; options as in {@code devices=0}. */
    Platform open(String... options) {
        PlatformUri uri = PlatformUri.parse(uri(options));
        return new Platform(uri, new CudaProvider().open(uri));
    }

    String uri(String... options) {
        StringBuilder text = new StringBuilder("cuda:native?libraries=").append(folder);
        for (String option : options) {
            text.append('&').append(option);
        }
        return text.toString();
    }

    /** Sets a fault or a figure, by the names in standin_core.h. */
    void set(String name, long value) {
        try (Arena arena = Arena.ofConfined()) {
            set.invoke(arena.allocateFrom(name), value);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** A fault or a figure. */
    long get(String name) {
        try (Arena arena = Arena.ofConfined()) {
            return (long) get.invoke(arena.allocateFrom(name));
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }
}
