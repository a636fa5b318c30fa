// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.spi.DriverDecorator;
import io.weft.spi.PlatformDriver;
import java.util.function.Consumer;

/** {@code leaks}: names everything that is still open when a platform is closed, with the place that opened it. */
public final class LeakDecorator implements DriverDecorator {
    private final Consumer<String> report;

    /** Reports to the system logger {@code io.weft.leaks}. */
    public LeakDecorator() {
        this(line -> System.getLogger("io.weft.leaks").log(System.Logger.Level.WARNING, line));
    }

    /** Reports each leak as one line. */
    public LeakDecorator(Consumer<String> report) {
        this.report = report;
    }

    @Override
    public String name() {
        return "leaks";
    }

    @Override
    public String description() {
        return "names what is still open when a platform is closed, and where it was opened";
    }

    @Override
    public PlatformDriver decorate(PlatformDriver platform) {
        return new ObservedPlatform(platform, new LeakObserver(report));
    }
}
