// SPDX-License-Identifier: Apache-2.0
/**
 * The reference provider {@code sim}: a discrete-event engine, machine models, and real data on the host's cores.
 *
 * <p>Needs the API and a reader for machine documents, nothing of the scheduler or the runtime: what it proves about
 * the SPI must hold for any vendor's plugin.
 *
 * <ul>
 *   <li>Requires {@code io.weft.api} transitively: the engine's interface speaks its types.
 *   <li>Requires Jackson with its YAML format to read machine documents.
 *   <li>Requires {@code jdk.incubator.vector} statically: used when the JVM was started with it, and plain loops
 *       otherwise, so the plugin loads anywhere.
 *   <li>Exports {@code io.weft.sim.engine}, {@code .machine} and {@code .model}: other model drivers build on them.
 *   <li>Requires {@code jdk.management} to learn how much memory the host has, which simulated buffers must not exhaust.
 *   <li>Exports {@code io.weft.sim.provider}: drivers of other vendors open their machine models through it, and tests
 *       ask it for faults.
 *   <li>Provides the provider {@code sim}.
 * </ul>
 */
module io.weft.sim {
    requires transitive io.weft.api;
    requires static jdk.incubator.vector;
    requires jdk.management;
    requires tools.jackson.databind;
    requires tools.jackson.dataformat.yaml;

    exports io.weft.sim.engine;
    exports io.weft.sim.machine;
    exports io.weft.sim.model;
    exports io.weft.sim.provider;

    provides io.weft.spi.AcceleratorProvider with
            io.weft.sim.provider.SimProvider;
}
