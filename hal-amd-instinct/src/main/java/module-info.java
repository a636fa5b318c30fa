// SPDX-License-Identifier: Apache-2.0
/**
 * The AMD Instinct plugin: the provider {@code amd}.
 *
 * <p>No module of Weft depends on it: it is found by {@link java.util.ServiceLoader} alone.
 *
 * <ul>
 *   <li>Requires {@code io.weft.api}, whose SPI it implements.
 *   <li>Requires {@code io.weft.sim}: its machines are models that run on the simulator's engine.
 *   <li>Requires {@code io.weft.nativehal}: what platforms on vendors' libraries share.
 *   <li>Requires {@code java.xml} for RCCL's topology files, and Jackson for the JSON of AMD's tools.
 *   <li>Provides the provider {@code amd}.
 * </ul>
 */
module io.weft.amd {
    requires transitive io.weft.api;
    requires io.weft.sim;
    requires io.weft.nativehal;
    requires java.xml;
    requires tools.jackson.databind;

    // HIP's own rules for streams and pools, for an application that requires this module beside the API.
    exports io.weft.amd.stream;

    provides io.weft.spi.AcceleratorProvider with
            io.weft.amd.AmdProvider;
}
