// SPDX-License-Identifier: Apache-2.0
/**
 * The application API and the plugin SPI, on the JDK alone.
 *
 * <p>Applications use {@code io.weft.api}: final classes that validate every argument once (bounds, lifetime, device,
 * alignment, element type, state) and then delegate. Plugin authors implement {@code io.weft.spi}: small interfaces
 * that may assume valid arguments. Nothing here names a vendor, injects dependencies or logs.
 */
module io.weft.api {
    // The application's view: validated once, the same words from every backend.
    exports io.weft.api;
    // The narrow waist: what passes between scheduler and hardware, and what comes back.
    exports io.weft.api.graph;
    exports io.weft.api.topology;
    // What every check of data needs and no backend may supply: element access, random data, an independent reference.
    exports io.weft.api.numeric;
    // What a plugin implements.
    exports io.weft.spi;
    // What every plugin that reads tools' output would otherwise write again.
    exports io.weft.spi.input;
    // Wrappers over any backend: validation, leak tracking, tracing, and the base for fault injection.
    exports io.weft.spi.decorator;

    // Backends and decorators are found, never named.
    uses io.weft.spi.AcceleratorProvider;
    uses io.weft.spi.DriverDecorator;

    // The built-in decorators, enabled by name.
    provides io.weft.spi.DriverDecorator with
            io.weft.spi.decorator.ValidationDecorator,
            io.weft.spi.decorator.LeakDecorator,
            io.weft.spi.decorator.TraceDecorator;
}
