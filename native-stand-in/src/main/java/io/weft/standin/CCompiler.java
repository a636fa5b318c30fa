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

    /** Its name on the PATH; tests without one are skipped, saying so. */
    public static Optional<String> find() {
        for (String name : List.of("gcc", "cc", "clang")) {
            for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
                if (Files.isExecutable(Path.of(folder, name))) {
                    return Optional.of(name);
                }
            }
        }
        return Optional.empty();
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
