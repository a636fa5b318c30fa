// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where files lie: ours in {@code docs/examples/ascend}, and real ones beside the checkout when they are there. */
public final class Examples {
    private Examples() {}

    private static Path root() {
        Path at = Path.of("").toAbsolutePath();
        while (at != null && !Files.isDirectory(at.resolve("docs/examples/ascend"))) {
            at = at.getParent();
        }
        if (at == null) {
            throw new IllegalStateException(
                    "no folder above " + Path.of("").toAbsolutePath() + " holds docs/examples/ascend");
        }
        return at;
    }

    /** One of ours. */
    public static Path ours(String name) {
        return root().resolve("docs/examples/ascend").resolve(name);
    }

    /** A real one; the test is skipped where it is absent. */
    public static Path real(String name) {
        Path beside = root().resolve("../shared/data/ascend").resolve(name).normalize();
        assumeTrue(Files.exists(beside), "../shared/data/ascend/" + name + " is not beside this checkout");
        return beside;
    }
}
