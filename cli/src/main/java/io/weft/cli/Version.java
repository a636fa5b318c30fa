// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.spi.SpiVersion;
import java.util.Optional;
import picocli.CommandLine.IVersionProvider;

/** What {@code weft --version} says. */
final class Version implements IVersionProvider {
    /** The version of this build: from the module's descriptor, or from the jar's manifest on a class path. */
    static String current() {
        return Optional.ofNullable(Version.class.getModule().getDescriptor())
                .flatMap(descriptor -> descriptor.rawVersion())
                .or(() -> Optional.ofNullable(Version.class.getPackage().getImplementationVersion()))
                .orElse("unknown");
    }

    @Override
    public String[] getVersion() {
        return new String[] {
            "weft " + current() + " (SPI " + SpiVersion.CURRENT + ", Java "
                    + Runtime.version().feature() + ")"
        };
    }
}
