// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Tables that ship with the plugin. */
final class Resource {
    private Resource() {}

    /** The lines of a table that are neither blank nor comments. */
    static List<String> lines(String name) {
        try (InputStream in = Resource.class.getResourceAsStream("/io/weft/ascend/doctor/" + name)) {
            if (in == null) {
                throw new IllegalStateException(name + " is not in the module");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .toList();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
