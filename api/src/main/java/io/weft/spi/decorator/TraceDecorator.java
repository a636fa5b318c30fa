// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.spi.DriverDecorator;
import io.weft.spi.PlatformDriver;
import java.util.function.Consumer;

/** {@code tracing}: writes one line for every call to a driver, with the platform's own clock. */
public final class TraceDecorator implements DriverDecorator {
    private final Consumer<String> sink;

    /** Writes to standard error. */
    @SuppressWarnings("SystemOut") // a trace that was asked for by name belongs where the user looks
    public TraceDecorator() {
        this(System.err::println);
    }

    /** Writes each line to a sink, which may be called by several threads. */
    public TraceDecorator(Consumer<String> sink) {
        this.sink = sink;
    }

    @Override
    public String name() {
        return "tracing";
    }

    @Override
    public String description() {
        return "writes one line for every call to a driver";
    }

    @Override
    public PlatformDriver decorate(PlatformDriver platform) {
        return new ObservedPlatform(platform, new TraceObserver(platform, sink));
    }
}
