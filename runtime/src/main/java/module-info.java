// SPDX-License-Identifier: Apache-2.0
/**
 * The composition root: layered configuration, wiring by Guice, and plugins in module layers of their own.
 *
 * <p>The only place where dependency injection lives. Plugins are found by {@link java.util.ServiceLoader} alone,
 * never by name.
 *
 * <ul>
 *   <li>Requires the API, pools and scheduler transitively: an embedding program gets the whole library by one line.
 *   <li>Requires {@code com.google.common} although no source names it: Guice is an automatic module, declares nothing, and
 *       fails without it.
 *   <li>Requires Micrometer and the JDK's HTTP server for {@code /metrics}.
 *   <li>Requires {@code pickle} for PyTorch's memory snapshots; it reads data and no classes.
 *   <li>Exports {@code io.weft.runtime} (start), {@code settings} (values and their origins), {@code model} (model files),
 *       {@code plan}, {@code run}, {@code bench}, {@code overlap}, {@code calibrate}, {@code sweep}, {@code memory}, {@code replay}, {@code metrics} and {@code report} (pages, traces, drawings).
 * </ul>
 */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"
}) // Guice 7, Micrometer and pickle have no module descriptor.
module io.weft.runtime {
    requires transitive io.weft.api;
    requires transitive io.weft.memory;
    requires transitive io.weft.scheduler;
    requires com.google.common;
    requires com.google.guice;
    requires jakarta.inject;
    requires jdk.httpserver;
    requires transitive micrometer.core;
    requires micrometer.registry.prometheus;
    requires org.apache.commons.configuration2;
    requires org.slf4j;
    requires pickle;
    requires tools.jackson.core;

    // Start.
    exports io.weft.runtime;
    // Collectives by size.
    exports io.weft.runtime.bench;
    // From a model file to what its layers multiply.
    exports io.weft.runtime.model;
    // From a model and a platform to figures.
    exports io.weft.runtime.plan;
    // Schedules timed side by side, and predictions held against them.
    exports io.weft.runtime.overlap;
    // From micro-benchmarks to a machine document.
    exports io.weft.runtime.calibrate;
    // From one problem to checked results.
    exports io.weft.runtime.run;
    // What reports tell of memory.
    exports io.weft.runtime.memory;
    // Recorded allocations through pools.
    exports io.weft.runtime.replay;
    // Pages, traces and drawings.
    exports io.weft.runtime.report;
    // What a job counts, for monitoring.
    exports io.weft.runtime.metrics;
    // Plans over a whole space.
    exports io.weft.runtime.sweep;
    // Selectors by name, and where they keep what they found.
    exports io.weft.runtime.tuning;
    // Values and their origins.
    exports io.weft.runtime.settings;

    // Guice calls the package-private parts of the wiring.
    opens io.weft.runtime to
            com.google.guice;
}
