// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A file as people name it; one that the process's locale has no letters for is refused in words. */
final class FileName implements ITypeConverter<Path> {
    @Override
    public Path convert(String text) {
        try {
            return Path.of(text);
        } catch (InvalidPathException wrong) {
            throw new TypeConversionException(
                    "'" + text.replace('\0', '?') + "' cannot name a file here: " + wrong.getReason()
                            + "; names are " + System.getProperty("sun.jnu.encoding")
                            + ", and the locale LC_ALL=C.UTF-8 takes any");
        }
    }
}
