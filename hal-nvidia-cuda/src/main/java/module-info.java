// SPDX-License-Identifier: Apache-2.0
/**
 * The provider {@code cuda}: NVIDIA GPUs through the vendor's own libraries, and models of machines that have them.
 *
 * <p>Vendor libraries are opened by {@code java.lang.foreign} when a platform is opened, never before, and each function on its own: what a
 * library lacks is a capability less, not a failure.
 *
 * <ul>
 *   <li>Requires {@code io.weft.api}: the SPI that it implements.
 *   <li>Requires {@code io.weft.sim}: machine models are simulated by its engine.
 *   <li>Requires {@code io.weft.nativehal}: what platforms on vendors' libraries share.
 *   <li>Exports nothing: it is used through the SPI.
 *   <li>Provides the provider {@code cuda}.
 * </ul>
 */
module io.weft.cuda {
    requires io.weft.api;
    requires io.weft.sim;
    requires io.weft.nativehal;

    provides io.weft.spi.AcceleratorProvider with
            io.weft.cuda.CudaProvider;
}
