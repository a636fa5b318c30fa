// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import static org.junit.jupiter.api.Assumptions.abort;

import io.weft.amd.AmdProvider;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.standin.StandInLibrary;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The stand-in for AMD's libraries, under the names that the plugin looks for. Tests that need it are skipped, saying so, where there is no C compiler. */
final class HipStandIn {
    private static final Map<List<String>, HipStandIn> BUILT = new ConcurrentHashMap<>();

    private final StandInLibrary library;

    private HipStandIn(StandInLibrary library) {
        this.library = library;
    }

    /** The stand-in; defines such as {@code HIP_MAJOR=5} and {@code WITHOUT_NCCL} change it. */
    static HipStandIn with(String... defines) {
        String compiler = StandInLibrary.compiler()
                .orElseGet(() ->
                        abort("the stand-in is not built: there is no C compiler (gcc, cc or clang) on the PATH"));
        return BUILT.computeIfAbsent(List.of(defines), key -> new HipStandIn(build(compiler, key)));
    }

    /** The whole stand-in once more, with faults of its own. */
    static HipStandIn alone(String name) {
        return new HipStandIn(with().library.twin(name));
    }

    /** The same with faults of its own. */
    HipStandIn twin(String name) {
        return new HipStandIn(library.twin(name));
    }

    private static StandInLibrary build(String compiler, List<String> defines) {
        int major = defines.stream()
                .filter(define -> define.startsWith("HIP_MAJOR="))
                .map(define -> Integer.parseInt(define.substring("HIP_MAJOR=".length())))
                .findFirst()
                .orElse(6);
        List<String> names = List.of(
                "libamdhip64.so." + major,
                "librccl.so.1",
                "libhipblaslt.so." + (major == 7 ? 1 : 0),
                "libhiprtc.so." + major);
        return StandInLibrary.build(
                compiler, Path.of("").toAbsolutePath(), "src/test/native/hip_shim.c", names, defines);
    }

    /** Opens a platform on it; options as in {@code devices=0}. */
    Platform open(String... options) {
        PlatformUri uri = PlatformUri.parse(uri(options));
        return new Platform(uri, new AmdProvider().open(uri));
    }

    String uri(String... options) {
        StringBuilder text = new StringBuilder("amd:native?libraries=").append(library.folder());
        for (String option : options) {
            text.append('&').append(option);
        }
        return text.toString();
    }

    /** Sets a fault or a figure, by the names in standin_core.h and hip_shim.c. */
    void set(String name, long value) {
        library.set(name, value);
    }

    /** A fault or a figure. */
    long get(String name) {
        return library.get(name);
    }
}
