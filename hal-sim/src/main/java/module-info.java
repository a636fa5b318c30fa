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
 * </ul>
 */
module io.weft.sim {
    requires transitive io.weft.api;
    requires static jdk.incubator.vector;
    requires tools.jackson.databind;
    requires tools.jackson.dataformat.yaml;

    exports io.weft.sim.engine;
    exports io.weft.sim.machine;
    exports io.weft.sim.model;
}
