// SPDX-License-Identifier: Apache-2.0
/**
 * What plugins for real hardware share: a platform on a vendor's own libraries, of which the vendor supplies the calls.
 *
 * <ul>
 *   <li>Requires {@code io.weft.api}, whose SPI it implements.
 *   <li>Exports everything to our own plugins alone; it is no interface for others yet.
 * </ul>
 */
@SuppressWarnings("module") // The plugins are modules that are not here when this one is compiled.
module io.weft.nativehal {
    requires transitive io.weft.api;

    exports io.weft.nativehal to
            io.weft.cuda,
            io.weft.amd,
            io.weft.ascend;
    exports io.weft.nativehal.driver to
            io.weft.cuda,
            io.weft.amd,
            io.weft.ascend;
    exports io.weft.nativehal.ffi to
            io.weft.cuda,
            io.weft.amd,
            io.weft.ascend;
    exports io.weft.nativehal.kernels to
            io.weft.cuda,
            io.weft.amd,
            io.weft.ascend;
    exports io.weft.nativehal.lt to
            io.weft.cuda,
            io.weft.amd,
            io.weft.ascend;
    exports io.weft.nativehal.nccl to
            io.weft.cuda,
            io.weft.amd,
            io.weft.ascend;
}
