// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.AcceleratorException;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * Something that a tool, a kernel or a library wrote, and that a {@link TopologyReader} reads. Commands make an option of it.
 *
 * @param option the option's name, such as {@code --tool-table}
 * @param form whether a file or a folder is read
 * @param description one sentence: what is accepted, and how it is made
 */
public record ToolInput(String option, Form form, String description) {
    private static final Pattern NAME = Pattern.compile("--[a-z][a-z0-9]*(-[a-z0-9]+)*");

    /** What a path given for it must be. */
    public enum Form {
        /** A file. */
        FILE,
        /** A folder. */
        FOLDER
    }

    public ToolInput {
        Objects.requireNonNull(form);
        Objects.requireNonNull(description);
        if (!NAME.matcher(option).matches()) {
            throw AcceleratorException.invalid("tool input", "'" + option + "' is no option name such as --tool-table");
        }
    }
}
