// SPDX-License-Identifier: Apache-2.0
package io.weft.amd;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Tables that others have measured and published: copies in this repository, and the files they are from where a checkout has those beside it. */
final class Published {
    private Published() {}

    /** Rows of a copy, split at commas; the first is the heading. Its first line says where it is from. */
    static List<String[]> rows(String name) {
        try (InputStream in = Published.class.getResourceAsStream(name + ".csv")) {
            return rows(new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList());
        } catch (IOException failed) {
            throw new java.io.UncheckedIOException(failed);
        }
    }

    /** Rows of the original; the test is skipped where it is not there. */
    static List<String[]> original(String path) throws IOException {
        Path file = Path.of("..", "..", "shared", "data", "amd").resolve(path);
        assumeTrue(Files.exists(file), () -> "there is no " + file + " here; its copy is tested");
        return rows(Files.readAllLines(file));
    }

    private static List<String[]> rows(List<String> lines) {
        return lines.stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(line -> line.split(",", -1))
                .toList();
    }
}
