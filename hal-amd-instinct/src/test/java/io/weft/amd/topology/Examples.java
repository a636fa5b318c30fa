// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where files lie: ours in {@code docs/examples/amd}, and real ones beside the checkout when they are there. */
public final class Examples {
    private Examples() {}

    private static Path root() {
        Path at = Path.of("").toAbsolutePath();
        while (at != null && !Files.isDirectory(at.resolve("docs/examples/amd"))) {
            at = at.getParent();
        }
        if (at == null) {
            throw new IllegalStateException(
                    "no folder above " + Path.of("").toAbsolutePath() + " holds docs/examples/amd");
        }
        return at;
    }

    /** One of ours: all describe the same node of two MI250X modules. */
    public static Path ours(String name) {
        return root().resolve("docs/examples/amd/mi250x-4").resolve(name);
    }

    /** A real one; the test is skipped where it is absent. */
    public static Path real(String name) {
        Path beside = root().resolve("../shared/data/amd").resolve(name).normalize();
        assumeTrue(Files.exists(beside), "../shared/data/amd/" + name + " is not beside this checkout");
        return beside;
    }
}
