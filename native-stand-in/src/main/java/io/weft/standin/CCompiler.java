// SPDX-License-Identifier: Apache-2.0
package io.weft.standin;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The C compiler of this machine. */
public final class CCompiler {
    private CCompiler() {}

    /** Its name on the PATH, where it makes libraries; tests without one are skipped, saying so. */
    public static Optional<String> find() {
        return Found.NAME;
    }

    /** Looked for once. */
    private static final class Found {
        static final Optional<String> NAME = List.of("gcc", "cc", "clang").stream()
                .filter(CCompiler::isOnPath)
                .filter(CCompiler::makesLibraries)
                .findFirst();
    }

    private static boolean isOnPath(String name) {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            if (Files.isExecutable(Path.of(folder, name))) {
                return true;
            }
        }
        return false;
    }

    /** Small installations have a compiler and neither the C library's headers nor a linker. */
    private static boolean makesLibraries(String name) {
        try {
            Path folder = Files.createTempDirectory("weft-compiler");
            Path source = folder.resolve("probe.c");
            Path library = folder.resolve("probe.so");
            try {
                Files.writeString(
                        source,
                        "#include <math.h>\n#include <pthread.h>\n#include <stdio.h>\ndouble probe(double x) { return sqrt(x); }\n");
                run(List.of(name, "-shared", "-fPIC", "-o", library.toString(), source.toString(), "-lpthread", "-lm"));
                return true;
            } catch (IllegalStateException refused) {
                return false;
            } finally {
                Files.deleteIfExists(library);
                Files.deleteIfExists(source);
                Files.delete(folder);
            }
        } catch (IOException failed) {
            return false;
        }
    }

    /**
     * Runs a whole command line.
     *
     * @throws IllegalStateException with the compiler's words when it fails
     */
    public static void run(List<String> command) throws IOException {
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
}
