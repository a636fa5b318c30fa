// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import static org.junit.jupiter.api.Assumptions.abort;

import io.weft.amd.AmdProvider;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.standin.CCompiler;
import io.weft.standin.StandInLibrary;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The stand-in for AMD's libraries, under the names that the plugin looks for. Tests that need it are skipped, saying so, where there is no C compiler. */
final class HipStandIn {
    private static final Map<String, HipStandIn> BUILT = new ConcurrentHashMap<>();

    private final StandInLibrary library;

    private HipStandIn(StandInLibrary library) {
        this.library = library;
    }

    /** HIP 6, whole; its faults are never switched. */
    static HipStandIn whole() {
        return alone("whole");
    }

    /** HIP 6, whole, sharing no state with others. */
    static HipStandIn alone(String name) {
        return of(6, name);
    }

    /** HIP 6 without some functions, {@code *} for any letters. */
    static HipStandIn without(String name, String... hidden) {
        return BUILT.computeIfAbsent(name, key -> new HipStandIn(StandInLibrary.link(recipe(6), key, hidden)));
    }

    /**
     * A generation of HIP, sharing no state with others.
     *
     * @param major 5, 6 or 7; RCCL is as old as it
     */
    static HipStandIn of(int major, String name) {
        String[] hidden = major == 5 ? new String[] {"ncclCommInitRankConfig", "ncclCommSplit"} : new String[0];
        return BUILT.computeIfAbsent(
                "hip" + major + "-" + name, key -> new HipStandIn(StandInLibrary.link(recipe(major), key, hidden)));
    }

    private static StandInLibrary.Recipe recipe(int major) {
        String compiler = CCompiler.find()
                .orElseGet(() -> abort(
                        "the stand-in is not built: no C compiler on the PATH (gcc, cc or clang) makes libraries"));
        List<String> names = List.of(
                "libamdhip64.so." + major,
                "librccl.so.1",
                "libhipblaslt.so." + (major == 7 ? 1 : 0),
                "libhiprtc.so." + major);
        return new StandInLibrary.Recipe(
                compiler, Path.of("").toAbsolutePath(), "src/test/native/hip_shim.c", names, "HIP_MAJOR=" + major);
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
