// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import static org.junit.jupiter.api.Assumptions.abort;

import io.weft.api.PlatformUri;
import io.weft.standin.CCompiler;
import io.weft.standin.StandInSwitches;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The stand-in for the vendor's libraries, in two editions: communicator calls in libhcomm as in newer versions, or in libhccl as in older ones. Skipped, saying so, where there is no C compiler. */
final class AclStandIn {
    private static final String CORE = "standin_core";

    /** Cores and editions that this process has built; a library must not be written anew while it is in use. */
    private static final Set<String> BUILT = new HashSet<>();

    private static final Map<String, String> NEWER = Map.of(
            "libascendcl.so", "-DPART_RUNTIME",
            "libhccl.so", "-DPART_HCCL",
            "libhcomm.so", "-DPART_HCOMM",
            "libopapi.so", "-DPART_OPERATORS",
            "libnnopbase.so", "-DPART_OPERATORS");

    private static final Map<String, String> OLDER = Map.of(
            "libascendcl.so", "-DPART_RUNTIME",
            "libhccl.so", "-DPART_HCCL -DPART_HCOMM",
            "libopapi.so", "-DPART_OPERATORS");

    private final Path folder;
    private final StandInSwitches switches;

    private AclStandIn(Path folder, String core) {
        this.folder = folder;
        switches = new StandInSwitches(folder.resolveSibling("lib" + core + ".so"));
    }

    /** Newer versions. */
    static synchronized AclStandIn newer() {
        return new AclStandIn(build("newer", CORE, NEWER), CORE);
    }

    /** Older versions, without libhcomm and libnnopbase. */
    static synchronized AclStandIn older() {
        return new AclStandIn(build("older", CORE, OLDER), CORE);
    }

    /** Newer versions again, with state of their own, for what would disturb others or be disturbed. */
    static synchronized AclStandIn apart(String name) {
        return new AclStandIn(build(name, "standin_" + name, NEWER), "standin_" + name);
    }

    private static synchronized Path build(String edition, String coreName, Map<String, String> parts) {
        Path module = Path.of("").toAbsolutePath();
        Path core = module.resolveSibling("native-stand-in");
        try {
            Path folder =
                    Files.createDirectories(module.resolve("target/stand-in").resolve(edition));
            // One core for all editions: the loader knows a library by its name, and would not load another of the same
            // name.
            Path shared = module.resolve("target/stand-in");
            if (BUILT.add(coreName)) {
                compile(
                        shared.resolve("lib" + coreName + ".so"),
                        core.resolve("standin_core.c"),
                        core,
                        List.of("-lpthread", "-lm"));
            }
            if (!BUILT.add("edition " + edition)) {
                return folder;
            }
            for (Map.Entry<String, String> part : parts.entrySet()) {
                List<String> more = new ArrayList<>(List.of(part.getValue().split(" ")));
                more.addAll(List.of("-L" + shared, "-l" + coreName, "-Wl,-rpath," + shared));
                compile(folder.resolve(part.getKey()), module.resolve("src/test/native/acl_shim.c"), core, more);
            }
            return folder;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static void compile(Path library, Path source, Path include, List<String> more) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(compiler(), "-O1", "-Wall", "-Wextra", "-Wno-unused-function", "-shared", "-fPIC"));
        command.addAll(List.of("-I" + include, "-o", library.toString(), source.toString()));
        command.addAll(more);
        CCompiler.run(command);
    }

    private static String compiler() {
        return CCompiler.find()
                .orElseGet(() -> abort(
                        "the stand-in is not built: no C compiler on the PATH (gcc, cc or clang) makes libraries"));
    }

    /** The URI of a platform on it. */
    PlatformUri uri(String... options) {
        return PlatformUri.parse(
                "ascend:native?libraries=" + folder + (options.length == 0 ? "" : "&" + String.join("&", options)));
    }

    /** The binding to it. */
    AclLibraries libraries() {
        return new AclLibraries(List.of(folder));
    }

    /** Sets a fault or a figure, by the names in standin_core.h. */
    void set(String name, long value) {
        switches.set(name, value);
    }

    /** A fault or a figure. */
    long get(String name) {
        return switches.get(name);
    }
}
