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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The stand-in for the vendor's libraries: compiled here, in a folder of its own for each variant, under the five names that the plugin looks for. Tests that need it are skipped, saying so, where there is no C compiler.
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

    /** The stand-in; defines such as {@code WITHOUT_NCCL} leave parts out. */
    static StandIn with(String... defines) {
        return BUILT.computeIfAbsent(String.join("-", defines), key -> new StandIn(build(key, defines)));
    }

    private static Path build(String key, String... defines) {
        Path module = Path.of("").toAbsolutePath();
        Path core = module.resolveSibling("native-stand-in");
        try {
            Path folder =
                    Files.createDirectories(module.resolve("target/stand-in").resolve(key.isEmpty() ? "whole" : key));
            Path library = folder.resolve("libstandin.so");
            List<String> command = new ArrayList<>(List.of(
                    compiler(),
                    "-O2",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-shared",
                    "-fPIC",
                    "-fvisibility=hidden",
                    "-I" + core,
                    "-o",
                    library.toString(),
                    module.resolve("src/test/native/cuda_shim.c").toString(),
                    core.resolve("standin_core.c").toString(),
                    "-lpthread",
                    "-lm"));
            Stream.of(defines).forEach(define -> command.add("-D" + define));
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
