// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import static org.junit.jupiter.api.Assumptions.abort;

import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.standin.CCompiler;
import io.weft.standin.StandInLibrary;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The stand-in for NVIDIA's libraries: compiled once, and linked in a folder of its own for each variant, under the five names that the plugin looks for. Tests that need it are skipped, saying so, where there is no C compiler.
 */
final class StandIn {
    private static final List<String> NAMES =
            List.of("libcudart.so.13", "libcuda.so.1", "libcublasLt.so.13", "libnccl.so.2", "libnvidia-ml.so.1");

    private static final Map<String, StandIn> BUILT = new ConcurrentHashMap<>();

    private final StandInLibrary library;

    private StandIn(StandInLibrary library) {
        this.library = library;
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
        String compiler = CCompiler.find()
                .orElseGet(() -> abort(
                        "the stand-in is not built: no C compiler on the PATH (gcc, cc or clang) makes libraries"));
        StandInLibrary.Recipe recipe = new StandInLibrary.Recipe(
                compiler, Path.of("").toAbsolutePath(), "src/test/native/cuda_shim.c", NAMES, "");
        return BUILT.computeIfAbsent(name, key -> new StandIn(StandInLibrary.link(recipe, key, hidden)));
    }

    /** Where its libraries lie. */
    Path folder() {
        return library.folder();
    }

    /** Opens a platform on it; options as in {@code devices=0}. */
    Platform open(String... options) {
        PlatformUri uri = PlatformUri.parse(uri(options));
        return new Platform(uri, new CudaProvider().open(uri));
    }

    String uri(String... options) {
        StringBuilder text = new StringBuilder("cuda:native?libraries=").append(library.folder());
        for (String option : options) {
            text.append('&').append(option);
        }
        return text.toString();
    }

    /** Sets a fault or a figure, by the names in standin_core.h. */
    void set(String name, long value) {
        library.set(name, value);
    }

    /** A fault or a figure. */
    long get(String name) {
        return library.get(name);
    }
}
