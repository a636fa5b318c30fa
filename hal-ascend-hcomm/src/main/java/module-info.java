// SPDX-License-Identifier: Apache-2.0
/**
 * The Ascend plugin: the provider {@code ascend}.
 *
 * <p>No module of Weft depends on it: it is found by {@link java.util.ServiceLoader} alone.
 *
 * <ul>
 *   <li>Requires {@code io.weft.api}, whose SPI it implements.
 *   <li>Requires {@code io.weft.sim}: its machines are models that run on the simulator's engine.
 *   <li>Requires {@code io.weft.memory}: its symmetric heap stands on the shared one.
 *   <li>Requires {@code io.weft.nativehal}: what platforms on vendors' own libraries share.
 *   <li>Requires Jackson for rank tables.
 *   <li>Provides the provider {@code ascend}.
 * </ul>
 */
module io.weft.ascend {
    requires transitive io.weft.api;
    requires transitive io.weft.memory;
    requires io.weft.nativehal;
    requires transitive io.weft.sim;
    requires tools.jackson.databind;

    // What has no neutral form: an application that wants it requires this module beside the API.
    exports io.weft.ascend.group;
    exports io.weft.ascend.hccl;
    exports io.weft.ascend.heap;
    exports io.weft.ascend.transport;

    provides io.weft.spi.AcceleratorProvider with
            io.weft.ascend.AscendProvider;
}
